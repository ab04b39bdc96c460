"""Columns of Arrow arrays, as pyarrow reads them from CSV and Parquet: converted to texts or numbers when asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from mixbayes.protocol.attributes.cells import MISSING, Numbers
from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import LONGEST_CELL, Cells, Column, Rows, positions_of, refuse_long
from mixbayes.tables.sources.arrow_numpy import as_arrow, as_numpy, texts_as_arrow
from mixbayes.tables.spelling import spelled_values

_compute: Any = pyarrow.compute  # its functions are made when it is imported
_GAPS = texts_as_arrow(MISSING)
_NO_TEXT = pa.nulls(1, pa.string())[0]


class ArrowColumn(Column):
    """One column of a record batch."""

    def __init__(self, name: str, array: pa.Array) -> None:
        self._name = name
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    @property
    def typed(self) -> bool:
        kind = self._array.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return not (pa.types.is_string(kind) or pa.types.is_large_string(kind))

    def take(self, rows: Rows) -> ArrowColumn:
        """Nothing is converted of the other rows, which may be very many numbers."""
        return ArrowColumn(self._name, self._array.take(as_arrow(positions_of(rows), pa.int64())))

    def coded(self) -> Cells:
        coded = _dictionary(self._name, self._array)
        refuse_long(self._name, _longest(coded.dictionary))
        texts = np.append(spelled_values(self._name, _python_values(coded.dictionary)), "")
        codes = as_numpy(coded.indices.cast(pa.int32()), len(texts) - 1)
        values, places = np.unique(texts, return_inverse=True)
        return Cells(texts, codes) if len(values) == len(texts) else Cells(values, places[codes])

    def all_numbers(self) -> Numbers | None:
        kind = self._array.type
        if pa.types.is_float64(kind) or pa.types.is_integer(kind):
            return _only_finite(self._array)
        if pa.types.is_string(kind):
            return _read(self._array)
        return self.coded().all_numbers()


def _longest(values: pa.Array) -> int:
    """Characters of the longest text; bytes, if there are no more of them than characters of a cell may be."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return 0
    longest = _compute.max(_compute.binary_length(values)).as_py() or 0
    return longest if longest <= LONGEST_CELL else _compute.max(_compute.utf8_length(values)).as_py()


def _python_values(values: pa.Array) -> list[object]:
    if pa.types.is_float32(values.type) or pa.types.is_float16(values.type):
        return list(as_numpy(values.cast(pa.float32()), np.nan))
    return values.to_pylist()


def _dictionary(name: str, array: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(array.type):
        return array
    try:
        return array.dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BadData(f"Column {name!r} holds {array.type}, which has no text. Remove it.") from error


def _only_finite(array: pa.Array) -> Numbers | None:
    """Of numbers that all have a text; an infinite one is no number to the dictionary."""
    values: Numbers = as_numpy(array.cast(pa.float64(), safe=False), np.nan)
    return None if np.isinf(values).any() else values


def _read(texts: pa.StringArray) -> Numbers | None:
    """Texts that Arrow reads as numbers; it reads no text otherwise than Python does, and some not at all."""
    gaps = _compute.is_in(texts, _GAPS)
    try:
        read = _compute.if_else(gaps, _NO_TEXT, texts).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values: Numbers = as_numpy(read, np.nan)
    return values if np.isfinite(values).sum() == len(texts) - read.null_count else None
