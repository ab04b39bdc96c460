"""A table of new rows, drawn from noisy counts: (ε, δ)-differential privacy for everybody in the table."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mixbayes.local_methods.base import (
    COMMON_CONSTRAINTS,
    LocalMethod,
    Progress,
    RandomState,
    Records,
    Released,
    Work,
    columns_with_cells,
    generator,
    silent,
)
from mixbayes.local_methods.containers import ManyColumns
from mixbayes.local_methods.domain import DOMAIN_CONSTRAINTS, Domain, not_agreed
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.missing import MissingCells
from mixbayes.local_methods.private_synthesis.counting import PairCounts, PairSums, PlacedRows
from mixbayes.local_methods.private_synthesis.grids import ListedValues, PublicGrid, grid_of
from mixbayes.local_methods.private_synthesis.learning import Curator, LearnedTree, learned
from mixbayes.local_methods.private_synthesis.plan import plans
from mixbayes.local_methods.tables import Codes, Nominal, Table
from mixbayes.privacy.loss import delta_of

AT_ONCE = 1 << 17
"""How many rows are drawn at a time, where they are given in parts."""


@dataclass(frozen=True, eq=False)
class Public:
    """What is public of a table: its columns with their grids, and its classes."""

    names: tuple[str, ...]
    grids: tuple[PublicGrid, ...]
    classes: NDArray[Any] | None

    @staticmethod
    def of(records: Records, domain: Domain | None) -> Public:
        columns = zip(records.table.names, records.table.columns, strict=True)
        grids = tuple(grid_of(name, column, domain) for name, column in columns)
        return Public(records.table.names, grids, None if records.labels is None else records.labels.values)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many places each column has, and how many classes there are; without classes, one."""
        return (*(grid.size for grid in self.grids), 1 if self.classes is None else len(self.classes))

    def rows(self, records: Records) -> tuple[PlacedRows, list[int]]:
        """The places of all cells, and how many of each column lie outside what is public."""
        found = [grid.places(records.table.column(grid.name)) for grid in self.grids]
        return PlacedRows([*(places for places, _ in found), self._codes(records)], self.sizes), [
            many for _, many in found
        ]

    def _codes(self, records: Records) -> Codes:
        if (self.classes is None) != (records.labels is None):
            raise UnfitTable("Some parts of the table have classes, others have none.")
        if self.classes is None or records.labels is None:
            return np.zeros(records.table.rows, np.int64)
        at = {value: place for place, value in enumerate(self.classes.tolist())}
        unknown = [value for value in records.labels.values.tolist() if value not in at]
        if unknown:
            raise UnfitTable(f"The class {unknown[0]!r} is not among those of the first part of the table.")
        own = np.array([at[value] for value in records.labels.values.tolist()], np.int64)
        return own[records.labels.codes]

    def released(self, places: list[Codes], random: np.random.Generator) -> Released:
        """Cells drawn at the places."""
        rows = len(places[-1])
        columns = tuple(grid.column(at, random) for grid, at in zip(self.grids, places[:-1], strict=True))
        labels = None if self.classes is None else Nominal(places[-1], self.classes)
        return Released(Table(self.names, columns, rows), labels)


class PrivateSynthesis(LocalMethod):
    """Rows drawn anew from noisy counts: a promise to everybody in the table, whatever else is known of them.

    Every column is counted together with the class, with noise that is known exactly. Rare values are merged. On enough
    rows a tree of pairs of columns is chosen by lot, for what the class leaves unexplained, and counted with noise too.
    Rows are drawn from tables that agree with all noisy counts. Nothing else of the table is looked at: with ε and δ,
    one row more or less changes the probability of any release by at most the factor exp(ε), but for δ. Without classes
    this is the method MST.

    Bounds of numbers and lists of values are taken to be public. Those that `domain` does not name are taken from the
    table, and then the promise holds only if they are no secret. Numbers outside their bounds become the bounds; values
    that are not listed, missing cells. A missing cell is a value of its own.

    Parameters
    ----------
    epsilon : float
        The ε of the promise.
    delta : float, default=1e-6
        The δ of the promise.
    bins : int, default=32
        The most bins of a number.
    missing : {"keep", "drop"}, default="keep"
        Whether missing cells are a value of their own, or rows with one are left out. They are never filled: what
        fills one cell hangs on all rows.
    domain : dict or None, default=None
        By the name of a column its lowest and its highest number, or its values. Numbers are whole if their bounds
        are given as whole numbers.
    random_state : int, RandomState, Generator or None, default=None
        None draws from the operating system. Whoever knows a seed can take the noise off.

    Attributes
    ----------
    epsilon_, delta_ : float
        What was promised.
    pairs_ : list of tuple of str
        The pairs of columns that were chosen.
    deviation_ : float
        The standard deviation of the noise on every count.
    merged_ : dict
        By the names of columns the values that were merged as rare.
    outside_ : dict
        How many cells of each column lay outside the domain: exact, for the owner alone.
    guarantee_ : Guarantee
        The promise, checked by adding up what was given away.

    References
    ----------
    McKenna, Miklau and Sheldon, "Winning the NIST contest: a scalable and general approach to differentially private
    synthetic data", 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods.private_synthesis.synthesis import PrivateSynthesis
    >>> X, y = load_iris(return_X_y=True)
    >>> method = PrivateSynthesis(epsilon=4, random_state=0)
    >>> released, labels = method.fit_resample(X, y)
    >>> released.shape[1], method.guarantee_.holds
    (4, True)
    """

    KEEPS_ORDER: ClassVar[bool] = False
    LEARNED: ClassVar[tuple[str, ...]] = ("epsilon", "delta", "pairs", "deviation", "merged")
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **COMMON_CONSTRAINTS,
        **DOMAIN_CONSTRAINTS,
        "missing": [StrOptions({"keep", "drop"})],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "bins": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float = 1e-6,
        bins: int = 32,
        missing: str = "keep",
        domain: Domain | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bins = bins
        self.missing = missing
        self.domain = domain
        self.random_state = random_state

    def row_privacy(self) -> tuple[float, float]:
        return float(self.epsilon), float(self.delta)

    def fit_resample_parts(
        self, parts: Iterable[tuple[Table, Nominal | None]], *, progress: Progress | None = None
    ) -> Iterator[tuple[Table, Nominal | None]]:
        """The same for a table that comes in parts, each read once, and leaves in parts; nothing holds all rows.

        Every column must be in `domain`. The classes are those of the list of the first part.
        """
        self._refuse_parameters()
        public, sums, outside = None, None, np.zeros(0, np.int64)
        for table, labels in parts:
            records = Records(*self._complete(table, labels)[:2])
            if public is None or sums is None:
                public = self._agreed(records)
                sums, outside = PairSums.none(public.sizes), np.zeros(len(public.grids), np.int64)
            rows, beyond = public.rows(records)
            sums.add(rows)
            outside += beyond
        if public is None or sums is None:
            raise UnfitTable("There is no part of a table.")
        random = generator(self.random_state)
        found = self._learn(public, sums, outside.tolist(), random, progress or silent)
        self.guarantee_ = self._promise("")
        return self._parts(public, found, random)

    def _parts(
        self, public: Public, found: LearnedTree, random: np.random.Generator
    ) -> Iterator[tuple[Table, Nominal | None]]:
        for start in range(0, found.tree.rows, AT_ONCE):
            released = public.released(found.tree.draw(min(AT_ONCE, found.tree.rows - start), random), random)
            yield released.table, released.labels

    def _agreed(self, records: Records) -> Public:
        lacking = [name for name in records.table.names if self.domain is None or name not in self.domain]
        if lacking:
            raise UnfitTable(f"The domain says nothing of {', '.join(map(repr, lacking))}, and no part can.")
        return Public.of(records, self.domain)

    def _release(self, work: Work) -> Released:
        public = Public.of(work, self.domain)
        rows, outside = public.rows(work)
        found = self._learn(public, rows, outside, work.random, work.progress)
        return public.released(found.tree.draw(found.tree.rows, work.random), work.random)

    def _learn(
        self, public: Public, counts: PairCounts, outside: list[int], chance: np.random.Generator, progress: Progress
    ) -> LearnedTree:
        seeded = self.random_state is not None
        source = random.Random(int(chance.integers(2**63))) if seeded else random.SystemRandom()
        chosen = plans(float(self.epsilon), float(self.delta), len(public.grids), public.sizes[-1] > 1)
        curator = Curator(counts, source)
        found = learned(curator, [grid.ordered for grid in public.grids], self.bins, chosen, progress)
        more = delta_of(curator.spent, self.epsilon) - delta_of(found.plan.steps, self.epsilon)
        self._measured = chosen.delta_at(self.epsilon) + max(0.0, more)
        self._claim = _claim(found)
        self.epsilon_, self.delta_ = float(self.epsilon), float(self.delta)
        self.pairs_ = [(public.names[one], public.names[other]) for one, other in found.pairs]
        self.deviation_ = found.plan.coins.deviation
        self.outside_ = dict(zip(public.names, outside, strict=True))
        self.merged_ = _merged(public, found)
        return found

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        return self._promise(not_agreed(work.table, self.domain))

    def _promise(self, taken: str) -> Guarantee:
        seeded = self.random_state is not None
        secret = " while nobody knows the seed" if seeded else ""
        secret += ", if the bounds and values on which nobody agreed are public" if taken else ""
        not_promised = [
            "that two releases of the same rows keep it: what they give away adds up",
            "that the names of the columns and of the classes are secret",
            taken,
            "anything to whoever knows the seed" if seeded else "",
        ]
        return Guarantee(
            claim=self._claim,
            measured=self._measured,
            holds=self._measured <= self.delta,
            people=f"({self.epsilon:g}, {self.delta:g})-differential privacy for one row added or removed{secret}",
            not_promised="; ".join(filter(None, not_promised)),
        )

    def _prepare(
        self, table: Table, labels: Nominal | None, progress: Progress
    ) -> tuple[Work, list[int], NDArray[np.intp]]:
        """Row by row: an empty column is worked on as any other, since a single cell could change what is empty."""
        columns_with_cells(table)
        table, labels, kept = self._complete(table, labels)
        if not table.rows:
            raise UnfitTable("Every row has a missing cell, so none is left. Keep missing cells instead.")
        return Work(table, labels, generator(self.random_state), progress), [], kept

    def _complete(self, table: Table, labels: Nominal | None) -> tuple[Table, Nominal | None, NDArray[np.intp]]:
        incomplete = table.incomplete()
        self.missing_ = MissingCells(table.missing_cells(), int(incomplete.sum()), self.missing)
        kept = np.flatnonzero(~incomplete) if self.missing == "drop" else np.arange(table.rows)
        return table.only(kept), labels.take(kept) if labels else None, kept

    def _remember(self, X: ManyColumns, table: Table, work: Work, kept: NDArray[np.intp]) -> None:
        super()._remember(X, table, work, kept)
        del self._claim, self._measured


def _merged(public: Public, found: LearnedTree) -> dict[str, list[Any]]:
    columns = zip(public.grids, found.columns, strict=True)
    rare = {grid.name: grid.values[one.merged[:-1]].tolist() for grid, one in columns if isinstance(grid, ListedValues)}
    return {name: values for name, values in rare.items() if values}


def _claim(found: LearnedTree) -> str:
    pairs = f", and of {len(found.pairs)} pairs of columns" if found.pairs else ""
    return (
        f"Rows are drawn from noisy counts of {len(found.columns)} columns{pairs}, and from nothing else; "
        f"the noise on a count has a standard deviation of {found.plan.coins.deviation:.1f}"
    )
