"""What all kinds of condensation share: groups are drawn anew, and the release is checked against them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.arithmetic.scaling import largest_exponents
from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, Progress, Records, Released, Work
from mixbayes.local_methods.condensation.resynthesis import Grouped, resynthesised
from mixbayes.local_methods.condensation.synthesis import DISTRIBUTIONS
from mixbayes.local_methods.coordinates import nominals, numerics
from mixbayes.local_methods.domain import DOMAIN_CONSTRAINTS, Domain, Range, not_agreed, range_of
from mixbayes.local_methods.grouping import Advance, Groups, groups_by_kmeans, groups_by_seeds
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.missing import filled
from mixbayes.local_methods.tables import MISSING, Codes, Floats, Nominal, Numeric, Table

LEAST_ROWS = 3
"""The smallest group: the rows drawn from two rows lie between and beside these two."""

KEPT = "keep"

GROUPINGS = {"random": groups_by_seeds, "kmeans": groups_by_kmeans}

NOT_HIDDEN = (
    "that nobody can be found to be in the table, or guessed: released rows lie near those of their group, nearer the "
    "smaller it is, and what all of a group have in common is released; a second release of the same table tells more"
)

CONDENSING_CONSTRAINTS: Mapping[str, Any] = {
    **KEEPING_CONSTRAINTS,
    **DOMAIN_CONSTRAINTS,
    "distribution": [StrOptions(set(DISTRIBUTIONS))],
}


class Condensing(LocalMethod):
    """Groups of at least `group_size_` rows, each drawn anew with its own statistics, and then shuffled.

    A subclass says how the rows are grouped. `places_` says in whose place a released row stands, which is known to
    the owner alone.
    """

    KEEPS_ORDER = False
    LEARNED: ClassVar[tuple[str, ...]] = ("group_size", "groups_formed", "suppressed_cells")
    NOT_PROMISED: ClassVar[str] = ""

    distribution: str
    domain: Domain | None

    @abstractmethod
    def _grouped(self, work: Work) -> tuple[Groups, int]:
        """The group of every row, and the size that every group has at least."""

    def _pools(self, work: Work) -> Codes:
        """Which groups may be taken together where too few of their rows have a number: here, all."""
        return np.zeros(work.table.rows, np.int64)

    def _release(self, work: Work) -> Released:
        # One thread: several add up in an order of their own, and the last digit of a mean could move a row. Besides,
        # the matrices of a group are so small that threads would spend their time on waiting for each other.
        with threadpool_limits(1):
            groups, size = self._grouped(replace(work, table=_near_one(work.table)))
            shown = self._without_rare_names(work)
            drawn, suppressed = self._drawn(shown, Grouped(groups, size, self._pools(work)))
        self.places_ = work.random.permutation(work.table.rows)
        rare = shown.table.missing_cells() - work.table.missing_cells() if self.missing == KEPT else 0
        self.suppressed_cells_ = suppressed + rare
        self.groups_, self.group_size_, self.groups_formed_ = groups, size, int(groups.max()) + 1
        return Released(*_unlabelled(drawn.take(self.places_), work))

    def _drawn(self, work: Work, grouped: Grouped) -> tuple[Table, int]:
        """Row by row in the places of the old ones, and how many cells were suppressed."""
        ranges = self._ranges(work.table, grouped.k)
        whole, draw = _labelled(work), DISTRIBUTIONS[self.distribution]
        drawn, suppressed = resynthesised(_fractions(whole, ranges), grouped, work.random, draw, work.progress)
        numbers = zip(numerics(drawn), ranges, strict=True)
        return drawn.with_columns({at: Numeric(one.number(new.numbers)) for (at, new), one in numbers}), suppressed

    def _without_rare_names(self, work: Work) -> Work:
        """The work without names that hardly anybody has: a drawn one would bring the numbers of its patient along."""
        columns = {at: _without_rare(column) for at, column in nominals(work.table)}
        table = work.table.with_columns(dict(columns))
        return replace(work, table=table if self.missing == KEPT else filled(table, work.labels))

    def _ranges(self, table: Table, least: int) -> list[Range]:
        """What is public of the numeric columns."""
        return [range_of(table.names[at], column, self.domain, least) for at, column in numerics(table)]

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        sizes = np.bincount(self.groups_[self.places_])
        numbers = work.table.select(work.table.numeric)
        promise = Guarantee(
            claim=f"every released row is drawn from the statistics of a group of at least {self.group_size_} rows",
            measured=int(sizes.min()),
            holds=bool(sizes.min() >= self.group_size_) and self._is_drawn(work, released),
            not_promised=NOT_HIDDEN,
        )
        return promise.also_not_promised(self.NOT_PROMISED).also_not_promised(not_agreed(numbers, self.domain))

    def _is_drawn(self, work: Work, released: Released) -> bool:
        """Whether every number is one that can be drawn, and every value is one of its group."""
        before, after = _labelled(self._without_rare_names(work)), _labelled(released)
        numbers = zip(numerics(after), self._ranges(work.table, self.group_size_), strict=True)
        values = zip(nominals(before), nominals(after), strict=True)
        return all(_can_be_drawn(column, one) for (_, column), one in numbers) and all(
            _of_group(old, self.groups_, new, self.groups_[self.places_]) for (_, old), (_, new) in values
        )


def _without_rare(column: Nominal) -> Nominal:
    """A name that fewer than `LEAST_ROWS` rows have is a missing cell."""
    rare = np.append(column.counts() < LEAST_ROWS, False)
    return column.with_codes(np.where(rare[column.codes], MISSING, column.codes)) if rare.any() else column


def _can_be_drawn(column: Numeric, public: Range) -> bool:
    """Whether every number lies between the bounds, and is a multiple of the unit."""
    present = column.numbers[~column.missing]
    room = ROUNDING * max(abs(public.low), abs(public.high))
    return bool((np.abs(public.nearest(present) - present) <= room).all())


def _of_group(old: Nominal, groups: Groups, new: Nominal, of_new: Groups) -> bool:
    """Whether every value, and every gap, is one that a row of its group had."""
    width = len(old.values) + 1
    return bool(np.isin(of_new * width + new.codes, groups * width + old.codes).all())


ROUNDING = 1e-6
"""Of a bound: how far a release in the caller's own type, such as float32, may lie beyond it."""


def _fractions(table: Table, ranges: list[Range]) -> Table:
    """Each number as the fraction of the way between its bounds."""
    numbers = zip(numerics(table), ranges, strict=True)
    return table.with_columns({at: Numeric(one.fraction(column.numbers)) for (at, column), one in numbers})


def _near_one(table: Table) -> Table:
    """Each numeric column times the power of two that brings it between -1 and 1, so that no square overflows."""
    columns = {at: Numeric(_divided(column.numbers)) for at, column in numerics(table)}
    return table.with_columns(dict(columns))


def _divided(numbers: Floats) -> Floats:
    return np.ldexp(numbers, -largest_exponents(numbers[:, None])[0])


def _labelled(records: Records) -> Table:
    """The table with the classes as its last column, so that they are drawn like any nominal column."""
    table = records.table
    return table if records.labels is None else Table((*table.names, ""), (*table.columns, records.labels), table.rows)


def _unlabelled(drawn: Table, work: Work) -> tuple[Table, Nominal | None]:
    if work.labels is None:
        return drawn, None
    labels = drawn.columns[-1]
    table = Table(work.table.names, drawn.columns[:-1], drawn.rows)
    return table, labels if isinstance(labels, Nominal) else None


def advance(progress: Progress, total: int) -> Advance:
    """Counts grouped rows towards the total."""
    done = 0

    def step(rows: int) -> None:
        nonlocal done
        done += rows
        progress("grouping rows", done, total)

    return step
