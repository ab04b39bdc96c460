"""Who was in the table, who was not, and the release, brought to the same columns and laid out as points."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist

from mixbayes.local_methods.attacks.claims import CONFIDENCE
from mixbayes.local_methods.coordinates import Coordinates
from mixbayes.local_methods.measures.alignment import aligned
from mixbayes.local_methods.tables import Codes, Column, Floats, Indices, Nominal, Numeric, Table

FEWEST = 10
"""Of members and of others: with fewer an interval is the whole range."""

MOST = 2_000
"""Members, others and released rows that are looked at; of more, so many are taken at random."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class People:
    """Members of the table, people of the same kind who were not in it, and the released rows."""

    members: Table = field(repr=False)
    others: Table = field(repr=False)
    released: Table = field(repr=False)

    @staticmethod
    def of(members: Table, others: Table, released: Table, seed: int) -> People:
        """By the columns of which all three have cells, the class among them."""
        random = np.random.default_rng(seed)
        tables = (members, others, released)
        names = [name for name in members.names if all(_has_cells(table, name) for table in tables)]
        return People(*(each.take(_some(each.rows, random)) for each in aligned(tables, names)))

    @property
    def enough(self) -> bool:
        return min(self.members.rows, self.others.rows) >= FEWEST and len(self.members.names) > 0

    def points(self) -> tuple[Floats, Floats, Floats, Codes]:
        """Members, others and released rows, and the column of each coordinate."""
        place = Coordinates.of(_both(self.members, self.others))
        members, others, released = (place.points(table) for table in (self.members, self.others, self.released))
        return members, others, released, place.columns(self.members)


def _has_cells(table: Table, name: str) -> bool:
    return name in table.names and not bool(table.column(name).missing.all())


def _some(rows: int, random: np.random.Generator) -> Indices:
    return np.arange(rows) if rows <= MOST else np.sort(random.permutation(rows)[:MOST])


def _both(one: Table, other: Table) -> Table:
    """The rows of both, one below the other."""
    columns = tuple(_joined(*pair) for pair in zip(one.columns, other.columns, strict=True))
    return Table(one.names, columns, one.rows + other.rows)


def _joined(one: Column, other: Column) -> Column:
    if isinstance(one, Nominal) and isinstance(other, Nominal):
        return one.with_codes(np.concatenate([one.codes, other.codes]))
    return Numeric(np.concatenate([one.cells(), other.cells()]))


def nearest(of: Floats, among: Floats, but_itself: bool = False) -> Floats:
    """The distance of each point to the nearest of others."""
    distances = cdist(of, among)
    if but_itself:
        np.fill_diagonal(distances, np.inf)
    return distances.min(axis=1)


def advantage(members: Floats, others: Floats) -> Estimate:
    """How much more often a member has the higher score than somebody else, than it has the lower one.

    It is 0 for a coin and 1 for all: twice the area under the ROC curve less one (Somers' D). The interval is
    DeLong's, from the placements of each person among those of the other kind.
    """
    of_members, of_others = placements(members, others)
    variance = of_members.var(ddof=1) / len(members) + of_others.var(ddof=1) / len(others)
    return within(float(_above(members, others).mean()), float(np.sqrt(variance)))


def placements(members: Floats, others: Floats) -> tuple[Floats, Floats]:
    """How many more of the others each member is above than below, and how many more members are above than below each
    of the others, as shares."""
    above = _above(members, others)
    return above.mean(axis=1), above.mean(axis=0)


def _above(members: Floats, others: Floats) -> Floats:
    """Of each member and each of the others, 1 where the member has the higher score, and -1 where the lower."""
    return np.sign(members[:, None] - others[None, :])


def difference(members: Floats, others: Floats) -> Estimate:
    """Of two means of independent people."""
    variance = members.var(ddof=1) / len(members) + others.var(ddof=1) / len(others)
    return within(float(members.mean() - others.mean()), float(np.sqrt(variance)))


def within(value: float, deviation: float) -> Estimate:
    """With its interval, between -1 and 1."""
    half = CONFIDENCE * deviation
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half))


def pooled(found: list[Estimate]) -> Estimate:
    """The mean of several rehearsals. They share people, so that the interval is the mean of theirs."""
    return Estimate(*(float(np.mean([getattr(each, name) for each in found])) for name in ("value", "low", "high")))
