"""SAP, the suppression algorithm for privacy of Peters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, RandomState, Released, Work, generator
from mixbayes.local_methods.containers import Kept, ManyColumns, OneColumn, read_columns
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.sap.bore import Rules
from mixbayes.local_methods.sap.by_lot import Quotas, binary_quotas, drawn, quotas, suppressed, verdict, without
from mixbayes.local_methods.tables import Mask, Nominal, Table

ATTRIBUTES, CLASS = "attributes", "class"
TEXT, APPENDIX = "text", "appendix"
CLAIMED = {
    (ATTRIBUTES, TEXT): ("the critical value of every attribute", "the rows that hold it"),
    (ATTRIBUTES, APPENDIX): ("the copy of the class that stands in the place of every attribute", "its rows"),
    (CLASS, TEXT): ("the class", "its rows"),
    (CLASS, APPENDIX): ("the class", "its rows"),
}
"""By target and by what is followed, what is suppressed and of which rows the share is."""


class SAP(TransformerMixin, LocalMethod):  # type: ignore[misc]  # scikit-learn publishes no types
    """Suppresses what tells most: the critical values of each class (S1), or classes themselves (S2).

    A value of an attribute is critical for a class if it has the highest BORE rank there. In every class each critical
    value is suppressed in a share `p` of the rows that hold it, drawn at random, and nothing else is changed. Or the
    class is suppressed in a share `p` of the rows of every class. Both shares are rounded up to whole rows.

    This is what the thesis says. The code in its appendix does something else (`follows="appendix"`). For S1, Figure
    A.3, it replaces each attribute by a copy of the class, which is suppressed in a share of the rows of every class,
    and never uses the critical values. For S2, Figure A.4, it rounds the share up in binary arithmetic. It also orders
    the rows by class; here they keep their order.

    No privacy is promised. What is suppressed in the rows of a class is always the same value, and with `p` below one
    it mostly stays the one with the highest rank: who knows the method puts it back. Rare values, and columns in which
    all values differ, keep nearly all their cells.

    Parameters
    ----------
    p : float, default=0.2
        The share, above 0 and up to 1. The thesis tries 0.1, 0.2 and 0.3.
    target : {"attributes", "class"}, default="attributes"
        S1 or S2. With "class" the released classes have gaps: None, or what the caller's container has for it.
    follows : {"text", "appendix"}, default="text"
        The text of the thesis, or the code of its appendix. By the code an S1 release holds no cell of an attribute.
    missing : {"keep", "fill", "drop"}, default="keep"
        Missing cells stay missing, and have no value that could be critical. Or they are filled with the mean or the
        most frequent value of the class first, or their rows dropped.
    random_state : int, Generator, RandomState or None, default=None
        Draws the rows. Two releases of one table with other draws show more than either.

    Attributes
    ----------
    critical_values_ : dict
        For each attribute the critical value by class, the bounds (low, high) of a bin for numbers, None where a class
        has no value; empty for S2 and for the code of the appendix. They are no part of the release: they say what its
        gaps held.
    suppressed_cells_ : int
        How many cells are suppressed, of attributes or of the class.
    suppressed_share_ : float
        Their share of the cells that were present.
    guarantee_ : Guarantee
        The promise, checked on the release.
    missing_ : MissingCells
        What was missing before, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    References
    ----------
    F. Peters, Avoiding the destruction of data-mining utility in privacy preserving data publishing, 2011.

    Examples
    --------
    >>> from mixbayes.local_methods.sap.sap import SAP
    >>> jobs = [["Lawyer"], ["Teacher"], ["Teacher"], ["Teacher"], ["Nurse"], ["Nurse"]]
    >>> sap = SAP(p=0.5, random_state=0)
    >>> released, diseases = sap.fit_resample(jobs, ["Flu", "HIV", "HIV", "HIV", "Flu", "Flu"])
    >>> sap.critical_values_
    {'x0': {'Flu': 'Nurse', 'HIV': 'Teacher'}}
    >>> [sum(job != [None] for job in rows) for rows in (released[1:4], released[4:])], sap.suppressed_cells_
    ([1, 1], 3)
    """

    NEEDS_CLASS = True
    ONLY_SUPPRESSES = True
    LEARNED: ClassVar[tuple[str, ...]] = ("suppressed_cells", "suppressed_share")
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **KEEPING_CONSTRAINTS,
        "p": [Interval(Real, 0, 1, closed="right")],
        "target": [StrOptions({ATTRIBUTES, CLASS})],
        "follows": [StrOptions({TEXT, APPENDIX})],
    }

    def __init__(
        self,
        *,
        p: float = 0.2,
        target: str = ATTRIBUTES,
        follows: str = TEXT,
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.p = p
        self.target = target
        self.follows = follows
        self.missing = missing
        self.random_state = random_state

    def transform(self, X: ManyColumns) -> ManyColumns:
        """New rows, which have no class: each cell with the critical value of any class is suppressed with chance `p`.

        Missing cells stay missing. For S2 the rows stay as they are. The code of the appendix has nothing to put in
        the place of their attributes.
        """
        check_is_fitted(self)
        if self._copies_classes:
            raise UnfitTable(
                "The code of the appendix releases copies of the class, and new rows have none. Follow the text."
            )
        table, give = read_columns(X)
        self._refuse_other_columns(X, table)
        kept = Kept(frozenset(range(len(table.names))), np.arange(table.rows))
        if self._rules is None:
            return give(table, kept)
        critical = self._rules.held_by_any(table.select(self._positions))
        hidden = np.zeros((len(table.names), table.rows), bool)
        hidden[self._positions] = critical & (generator(self.random_state).random(critical.shape) < self.p)
        return give(suppressed(table, hidden), kept)

    def _release(self, work: Work) -> Released:
        labels, table = work.classes, self._before(work)
        ranked = self.target == ATTRIBUTES and not self._copies_classes
        rules = Rules.of(table, labels, work.progress) if ranked else None
        candidates = self._candidates(rules, table, labels)
        hidden = np.array([drawn(labels, rows, self.p, work.random, self._quotas) for rows in candidates])
        present = len(labels) if self.target == CLASS else int(np.count_nonzero(~table.missing()))
        self._rules, self.critical_values_ = rules, {} if rules is None else rules.shown(labels)
        self.suppressed_cells_ = int(hidden.sum())
        self.suppressed_share_ = self.suppressed_cells_ / present
        return Released(suppressed(table, hidden[:-1]), without(labels, hidden[-1]))

    @property
    def _copies_classes(self) -> bool:
        """Whether attributes give way to copies of the class."""
        return self.follows == APPENDIX and self.target == ATTRIBUTES

    @property
    def _quotas(self) -> Quotas:
        return binary_quotas if self.follows == APPENDIX else quotas

    def _before(self, work: Work) -> Table:
        """What cells are suppressed of: the table, or for Figure A.3 a copy of the class for each attribute."""
        if not self._copies_classes:
            return work.table
        return work.table.with_columns(dict.fromkeys(range(len(work.table.names)), work.classes))

    def _candidates(self, rules: Rules | None, table: Table, labels: Nominal) -> Mask:
        """Columns × rows, the class last: the cells of which a share is suppressed."""
        if rules is not None:
            return np.vstack([rules.held(table, labels), np.zeros(len(labels), bool)])
        columns = np.full(table.shape[::-1], self._copies_classes)
        return np.vstack([columns, np.full(len(labels), not self._copies_classes)])

    def _unchanged(self, work: Work, released: Released) -> list[str]:
        return [] if self._copies_classes else super()._unchanged(work, released)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        labels, table = work.classes, self._before(work)
        before, after = (*table.columns, labels), (*released.table.columns, released.classes)
        found = [
            verdict(original, now, labels, rows, self.p, self._quotas)
            for original, now, rows in zip(before, after, self._candidates(self._rules, table, labels), strict=True)
        ]
        shares = np.concatenate([column.shares for column in found])
        what, whom = CLAIMED[self.target, self.follows]
        return Guarantee(
            claim=f"In every class, {what} is suppressed in a share of {self.p} of {whom}, rounded up to whole rows, "
            "and no other cell is changed",
            measured=float(shares.min()) if len(shares) else None,
            holds=all(column.kept for column in found),
            not_promised="that a class is unknown: it stands in the place of every attribute"
            if self._copies_classes
            else "that a suppressed cell is unknown: it mostly held the commonest value of its class",
        )

    def _read_labels(self, y: OneColumn, table: Table) -> tuple[Nominal | None, Callable[[Nominal], OneColumn]]:
        labels, give = super()._read_labels(y, table)
        return labels, _giver_of_gaps(y) if self.target == CLASS and hasattr(y, "iloc") else give

    def _remember(self, X: ManyColumns, table: Table, work: Work, kept: NDArray[np.intp]) -> None:
        super()._remember(X, table, work, kept)
        self._positions = table.positions(work.table.names)

    def _refuse_other_columns(self, X: ManyColumns, table: Table) -> None:
        if len(table.names) != self.n_features_in_:
            raise UnfitTable(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        if isinstance(X, Table):
            if hasattr(self, "feature_names_in_") and table.names != tuple(self.feature_names_in_):
                raise UnfitTable(f"The columns must be those of the table learned from: {self.feature_names_in_}.")
            return
        try:
            _check_feature_names(self, X, reset=False)
        except ValueError as error:
            raise UnfitTable(str(error)) from None


def _giver_of_gaps(like: OneColumn) -> Callable[[Nominal], OneColumn]:
    """Classes as a series or frame like this one, but of objects: not every type of pandas has missing cells."""
    if hasattr(like, "columns"):
        return lambda labels: type(like)({like.columns[0]: labels.cells()}, dtype=object)
    return lambda labels: type(like)(labels.cells(), name=like.name, dtype=object)
