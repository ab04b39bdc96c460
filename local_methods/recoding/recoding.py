"""Recoding: columns are suppressed, numbers cut and values generalised by agreed rules, each row by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, Progress, RandomState, Released, Work
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.generalisation.parameters import TAXONOMIES
from mixbayes.local_methods.generalisation.rules import Rule
from mixbayes.local_methods.generalisation.taxonomy import Taxonomy
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.recoding.rules import EDGES, AtLevel, Suppressed, cut_rule
from mixbayes.local_methods.tables import Column, Nominal, Table

NOBODY = (
    "anything about people, by itself: a combination of recoded values may be that of one person alone, and whoever "
    "knows that person finds the row"
)


class Recoding(LocalMethod):
    """Recodes cells by agreed rules. What becomes of a row depends on that row and on the parameters alone.

    Columns are suppressed, numbers become the middle of their interval or the multiple of a step, and nominal values
    become the node of a taxonomy at an agreed level. So a row more or less in the table changes one row of the release.
    That is what noise on counts needs to hide: where hospitals agree on noise, a table may be recoded before it is
    counted.

    Parameters
    ----------
    suppress : list of str or None, default=None
        Columns of which no cell is released.
    cuts : dict or None, default=None
        For columns of numbers, by name, the edges of their intervals, the outer ones included, or a step. A number
        beyond the outer edges counts to the interval next to it; one on an edge counts to the interval above.
    taxonomies : dict or None, default=None
        For nominal columns, by name, a tree of their values: {root: [child, {child: [grandchild, ...]}, ...]}, where
        leaves are the texts of the values. A value that the tree has not becomes missing.
    level : int, default=1
        How many steps below the root of its taxonomy a value is released. A leaf above that level stays.
    missing : {"keep", "drop"}, default="keep"
        A missing cell stays missing, or its row is dropped. Filling would let rows depend on one another.
    random_state : int, Generator, RandomState or None, default=None
        Nothing is drawn. It is here because all methods have it.

    Attributes
    ----------
    guarantee_ : Guarantee
        Which columns were recoded by which rule, checked on the release.
    rules_ : dict
        By column, its rule.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    Examples
    --------
    >>> from mixbayes.local_methods import Recoding
    >>> method = Recoding(cuts={"x0": [0, 50, 100]}, suppress=["x1"])
    >>> released, _ = method.fit_resample([[17.0, 3.0], [50.0, 4.0], [120.0, 5.0]])
    >>> released[:, 0].tolist()
    [25.0, 75.0, 75.0]
    """

    COARSENS = True
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **KEEPING_CONSTRAINTS,
        "missing": [StrOptions({"keep", "drop"})],
        "suppress": [list, tuple, None],
        "cuts": [None, EDGES],
        "taxonomies": [None, TAXONOMIES],
        "level": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        suppress: Sequence[str] | None = None,
        cuts: Mapping[str, Any] | None = None,
        taxonomies: Mapping[str, Any] | None = None,
        level: int = 1,
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.suppress = suppress
        self.cuts = cuts
        self.taxonomies = taxonomies
        self.level = level
        self.missing = missing
        self.random_state = random_state

    def rows_changed(self) -> int:
        return 1

    def _prepare(
        self, table: Table, labels: Nominal | None, progress: Progress
    ) -> tuple[Work, list[int], NDArray[np.intp]]:
        """Before columns without a cell are set aside: a name with a mistake would leave its column as it is."""
        for name, _ in self._named_rules():
            if name not in table.names:
                listed = ", ".join(map(repr, table.names))
                raise BadParameter(f"There is no column {name!r} to recode. The columns are {listed}.")
        return super()._prepare(table, labels, progress)

    def _release(self, work: Work) -> Released:
        rules = self._rules()
        recoded = {
            at: _recoded(rules[name], column)
            for at, (name, column) in enumerate(zip(work.table.names, work.table.columns, strict=True))
            if name in rules
        }
        self.rules_ = rules
        return Released(work.table.with_columns(recoded), work.labels)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        before, after = work.table, released.table
        changed = [
            not _same(_recoded(rule, before.column(name)), after.column(name))
            for name, rule in self.rules_.items()
            if name in after.names
        ]
        return Guarantee(
            claim=self._claim(),
            measured=float(sum(changed)),
            holds=not any(changed),
            not_promised=NOBODY,
        )

    def _claim(self) -> str:
        said = "; ".join(f"{name}: {rule}" for name, rule in self.rules_.items())
        return f"recoded row by row, by agreed rules ({said})"

    def _rules(self) -> dict[str, Rule]:
        """By column; a column has one."""
        found: dict[str, Rule] = {}
        for name, rule in self._named_rules():
            if name in found:
                raise BadParameter(f"Column {name!r} is recoded twice: {found[name]}, and {rule}. Say one.")
            found[name] = rule
        if not found:
            raise BadParameter("Nothing is recoded. Say suppress, cuts or taxonomies.")
        return found

    def _named_rules(self) -> Iterator[tuple[str, Rule]]:
        for name in self.suppress or ():
            yield str(name), Suppressed()
        for name, given in (self.cuts or {}).items():
            yield str(name), cut_rule(str(name), given)
        for name, nested in (self.taxonomies or {}).items():
            yield str(name), AtLevel(Taxonomy.read(str(name), nested), self.level)


def _recoded(rule: Rule, column: Column) -> Column:
    """The column as it is released: the same object if every cell is released unchanged."""
    found = rule(column)
    return column if _same(found, column) else found


def _same(one: Column, other: Column) -> bool:
    if isinstance(one, Nominal) and isinstance(other, Nominal) and len(one.values) == len(other.values):
        return np.array_equal(one.codes, other.codes) and np.array_equal(one.values, other.values)
    mine, theirs = one.cells(), other.cells()
    return mine.dtype.kind == theirs.dtype.kind and np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
