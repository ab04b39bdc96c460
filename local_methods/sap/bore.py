"""BORE, best or rest: which value of an attribute speaks most for a class. Peters, section 3.1 and Figure 3.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.base import Progress, silent
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.measures.disclosure import codes_of, cuts_of
from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Mask, Nominal, Numeric, Table, nominal_from


def bore_ranks(codes: Codes, labels: Nominal) -> Floats:
    """Values × classes: like(best|value)² / (like(best|value) + like(rest|value)), each class the best in its turn.

    freq(value|best) · P(best) is the share of all rows that have both, so the rank is n²(value, best) over n(value)
    times all rows. In this form equal ranks are equal to the last bit. A missing cell has no value, but its row counts.
    """
    present = codes != MISSING
    shape = int(codes.max(initial=0)) + 1, len(labels.values)
    cell = codes[present] * shape[1] + labels.codes[present]
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    return counts**2 / (max(len(codes), 1) * np.maximum(counts.sum(axis=1, keepdims=True), 1))


def critical_codes(codes: Codes, labels: Nominal) -> Codes:
    """For each class the value with the highest rank, the first of equals; MISSING where the class has no value."""
    ranks = bore_ranks(codes, labels)
    return np.where(ranks.max(axis=0) > 0, ranks.argmax(axis=0), MISSING)


@dataclass(frozen=True, eq=False)
class Rules:
    """The critical values of a table, by attribute and class. Those of a number are bins, as an attacker asks for them.

    The thesis ranks discrete values and does not say how numbers become such: here `cuts_of` says it.
    """

    names: tuple[str, ...]
    values: Sequence[NDArray[Any] | None] = field(repr=False)
    """The list of values of each attribute, None for a numeric one."""
    cuts: Sequence[Floats] = field(repr=False)
    critical: Codes = field(repr=False)
    """Attributes × classes."""

    @staticmethod
    def of(table: Table, labels: Nominal, progress: Progress = silent) -> Rules:
        """What a table with its classes tells. No class may be missing."""
        cuts = cuts_of(table)
        critical = np.full((len(table.names), len(labels.values)), MISSING, np.int64)
        for at, codes in enumerate(codes_of(table, cuts)):
            progress("critical values", at, len(table.names))
            critical[at] = critical_codes(codes, labels)
        values = [column.values if isinstance(column, Nominal) else None for column in table.columns]
        return Rules(table.names, values, cuts, critical)

    def held(self, table: Table, labels: Nominal) -> Mask:
        """Attributes × rows: where a row holds the critical value of its class."""
        codes = self._codes(table)
        return (codes == self.critical[:, labels.codes]) & (codes != MISSING)

    def held_by_any(self, table: Table) -> Mask:
        """Attributes × rows: where a row holds the critical value of any class."""
        codes = self._codes(table)
        alike = [np.isin(row, critical) for row, critical in zip(codes, self.critical, strict=True)]
        return np.array(alike, bool).reshape(codes.shape) & (codes != MISSING)

    def shown(self, labels: Nominal) -> dict[str, dict[Any, Any]]:
        """For people: each attribute's critical value by class, of a number the bin low ≤ x < high, None for none."""
        classes = list(enumerate(labels.values.tolist()))
        return {name: {value: self._shown(at, label) for label, value in classes} for at, name in enumerate(self.names)}

    def _shown(self, at: int, label: int) -> Any:
        code, values = int(self.critical[at, label]), self.values[at]
        if code == MISSING:
            return None
        if values is not None:
            return values.tolist()[code]
        return list(pairwise([-np.inf, *self.cuts[at].tolist(), np.inf]))[code]

    def _codes(self, table: Table) -> Codes:
        columns = [
            _as_learned(name, column, values)
            for name, column, values in zip(self.names, table.columns, self.values, strict=True)
        ]
        return codes_of(Table(self.names, tuple(columns), table.rows), self.cuts)


def _as_learned(name: str, column: Column, values: NDArray[Any] | None) -> Column:
    """The column with the codes that its values had when they were learned; a value that is new gets the next code."""
    if values is None:
        if isinstance(column, Numeric):
            return column
        if column.missing.all():
            return Numeric(np.full(len(column), np.nan))
        raise UnfitTable(f"Column {name!r} was all numbers when its critical values were learned, and now holds texts.")
    if isinstance(column, Numeric):
        column = nominal_from(column.numbers, column.missing)
    if column.values is values:
        return column
    code = {value: at for at, value in enumerate(values.tolist())}
    learned = np.array([*(code.get(value, len(values)) for value in column.values.tolist()), MISSING], np.int64)
    return Nominal(learned[column.codes], values)
