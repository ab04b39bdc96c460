"""An original and its release compared by every measure that has a meaning for the two tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mixbayes.local_methods.base import Progress, silent
from mixbayes.local_methods.classifiers import Points
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.measures.alignment import aligned, same_values
from mixbayes.local_methods.measures.clustering import k_means
from mixbayes.local_methods.measures.disclosure import Unknown, codes_of, cuts_of, draw_queries
from mixbayes.local_methods.measures.utility import Accuracy, Labelled
from mixbayes.local_methods.tables import Codes, Floats, Nominal, Table

CLUSTERS = 4
"""Where no class says how many to look for: the middle of Roy's 2 to 6."""

MOST_CLASSES = 50
"""With more, what is called the class is a measurement: there is a support vector machine for each pair of classes."""

Value = TypeVar("Value")


@dataclass(frozen=True)
class Risk:
    """What a table gives away; None where it has no such measure."""

    k_anonymity: int | None
    reidentification: float | None
    attribute_disclosure: float | None


@dataclass(frozen=True)
class Clustering:
    """How far the clusters of the original's rows are those of the release's."""

    misclassification_error: float
    adjusted_rand: float


@dataclass(frozen=True)
class Comparison:
    """Every measure of a release, None where these two tables do not have it."""

    confidence_interval: float | None
    vd: float | None
    rp: float | None
    rk: float | None
    cp: float | None
    ck: float | None
    risk: Risk
    utility: Mapping[str, Accuracy] | None
    clustering: Clustering | None
    original_risk: Risk
    """The risk of the original, to the same attacker."""
    why_not: Mapping[str, str]
    """For each measure that is None, the reason."""
    quasi_identifiers: Sequence[str]
    """What an attacker may know."""
    unknown: Unknown
    """What a missing cell is to an attacker."""
    queries: int
    """How many an attacker asked."""
    clusters: int
    """How many were looked for."""


class Undefined(Exception):
    """These tables do not have the measure; the text says why."""


class _Asked:
    """Asks for measures, and remembers why there is none."""

    def __init__(self) -> None:
        self.why_not: dict[str, str] = {}

    def __call__(self, name: str, measure: Callable[[], Value | None]) -> Value | None:
        """The value, or None."""
        try:
            value = measure()
        except Undefined as reason:
            self.why_not[name] = str(reason)
            return None
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            self.why_not[name] = "no cell is there that it could be computed from"
            return None
        return value


def compare(
    original: Table,
    released: Table,
    *,
    class_column: str | None = None,
    test: Table | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    clusters: int | None = None,
    unknown: Unknown = Unknown.WILDCARD,
    seed: int = 0,
    progress: Progress = silent,
) -> Comparison:
    """Measure a release against its original, over the attributes that both have.

    The class is no attribute: it counts in attribute disclosure and in utility alone. Quasi-identifiers, which an
    attacker may know, are all attributes unless they are named. As many clusters are looked for as there are classes,
    unless `clusters` says how many.
    """
    pair = Pair.of(original, released, class_column, test)
    attacker = Attacker.of(pair, quasi_identifiers, unknown, seed)
    sought = clusters or (pair.classes if 0 < pair.classes <= MOST_CLASSES else CLUSTERS)
    asked, unasked = _Asked(), _Asked()
    return Comparison(
        confidence_interval=asked("confidence_interval", lambda: measures.confidence_interval(*pair.paired_numbers())),
        vd=asked("vd", lambda: measures.vd(*pair.paired_numbers())),
        rp=asked("rp", lambda: measures.rp(*pair.paired_numbers())),
        rk=asked("rk", lambda: measures.rk(*pair.paired_numbers())),
        cp=asked("cp", lambda: measures.cp(*pair.numbers())),
        ck=asked("ck", lambda: measures.ck(*pair.numbers())),
        risk=attacker.risk(pair.released, 1, asked),
        utility=asked("utility", lambda: _utility(pair, seed, progress)),
        clustering=asked("clustering", lambda: _clustering(pair, sought, seed, progress)),
        original_risk=attacker.risk(pair.original, 0, unasked),
        why_not=asked.why_not,
        quasi_identifiers=[pair.original.names[at] for at in attacker.at],
        unknown=unknown,
        queries=len(attacker.queries),
        clusters=sought,
    )


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables with the same columns, and rows to test classifiers on."""

    original: Table
    released: Table
    labels: tuple[Nominal, Nominal] | None
    test: Labelled | None
    no_labels: str
    """Why there are no labels, if there are none."""

    @staticmethod
    def of(original: Table, released: Table, class_column: str | None, test: Table | None) -> Pair:
        """The attributes that both have, and the class if both have it."""
        if class_column is not None:
            original.position(class_column)
        names = [name for name in original.names if name in released.names and name != class_column]
        if not names:
            raise UnfitTable("The two tables have no attribute in common. Compare a table with its own release.")
        if not original.rows:
            raise UnfitTable("The original has no row.")
        tables = aligned([original, released, *([test] if test else [])], names)
        no_labels = _no_labels(released, class_column)
        if no_labels or class_column is None:
            return Pair(tables[0], tables[1], None, None, no_labels)
        sides = [original, released, *([test] if test else [])]
        labels = same_values([table.column(class_column) for table in sides])
        asked = Labelled(tables[2], labels[2]) if test else None
        return Pair(tables[0], tables[1], (labels[0], labels[1]), asked, "")

    @property
    def classes(self) -> int:
        """How many there are, 0 without a class."""
        return len(self.labels[0].values) if self.labels else 0

    def numbers(self) -> tuple[Floats, Floats]:
        """The numeric columns of both."""
        if not self.original.numeric:
            raise Undefined("the tables share no numeric attribute")
        return self.original.numbers(), self.released.numbers()

    def paired_numbers(self) -> tuple[Floats, Floats]:
        """The numeric columns of both, where row i of the one answers for row i of the other."""
        self.refuse_unpaired()
        return self.numbers()

    def refuse_unpaired(self) -> None:
        """Raise unless each row of the one has a row of the other."""
        before, after = self.original.rows, self.released.rows
        if before != after:
            raise Undefined(f"it pairs rows, and the tables have {before} and {after} of them")


def _no_labels(released: Table, class_column: str | None) -> str:
    if class_column is None:
        return "the original has no column named `class`, and no other was named"
    return "" if class_column in released.names else f"the release has no column {class_column!r}"


@dataclass(frozen=True, eq=False)
class Attacker:
    """Who knows something of somebody in the original, and looks for it in either table."""

    codes: tuple[Codes, Codes]
    classes: tuple[Codes, Codes] | None
    no_classes: str
    at: Sequence[int]
    queries: Codes
    unknown: Unknown

    @staticmethod
    def of(pair: Pair, known: Sequence[str] | None, unknown: Unknown, seed: int) -> Attacker:
        """Who may know these columns, by default all."""
        strange = [name for name in known or () if name not in pair.original.names]
        if strange:
            raise BadParameter(
                f"{strange[0]!r} is no attribute of both tables, so no quasi-identifier. "
                f"They have {', '.join(map(repr, pair.original.names))}."
            )
        at = pair.original.positions(pair.original.names if known is None else known)
        original, released = pair.original.select(at), pair.released.select(at)
        cuts = cuts_of(original)
        codes = codes_of(original, cuts), codes_of(released, cuts)
        classes = (pair.labels[0].codes, pair.labels[1].codes) if pair.labels else None
        return Attacker(
            codes, classes, pair.no_labels, at, draw_queries(codes[0], np.random.default_rng(seed)), unknown
        )

    def risk(self, table: Table, side: int, asked: _Asked) -> Risk:
        """What this table gives away."""
        columns = [table.columns[at] for at in self.at]
        return Risk(
            asked("k_anonymity", lambda: measures.k_anonymity(columns)),
            asked("reidentification", lambda: self._reidentification(side)),
            asked("attribute_disclosure", lambda: self._attribute_disclosure(side)),
        )

    def _reidentification(self, side: int) -> float:
        return measures.reidentification(self.codes[side], self.queries, self.unknown)

    def _attribute_disclosure(self, side: int) -> float:
        if self.classes is None:
            raise Undefined(self.no_classes)
        return measures.attribute_disclosure(self.codes[side], self.classes[side], self.queries, self.unknown)


def _utility(pair: Pair, seed: int, progress: Progress) -> Mapping[str, Accuracy]:
    if pair.labels is None:
        raise Undefined(pair.no_labels)
    if pair.classes > MOST_CLASSES:
        raise Undefined(f"the class has {pair.classes} values, and classifiers are tried on {MOST_CLASSES} at most")
    original, released = Labelled(pair.original, pair.labels[0]), Labelled(pair.released, pair.labels[1])
    return measures.utility(original, released, pair.test, seed=seed, progress=progress)


def _clustering(pair: Pair, clusters: int, seed: int, progress: Progress) -> Clustering:
    pair.refuse_unpaired()
    progress("clusters", 0, 1)
    space = Points.of(pair.original)
    before, after = (k_means(space.place(table), clusters, seed) for table in (pair.original, pair.released))
    progress("clusters", 1, 1)
    return Clustering(measures.misclassification_error(before, after), measures.adjusted_rand(before, after))
