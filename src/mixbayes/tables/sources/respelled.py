"""A source whose cells are written otherwise: more spellings of a missing cell, decimal commas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mixbayes.protocol.attributes.cells import Numbers, Texts
from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import Cells, Column
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Part, Source

_WITH_COMMA = re.compile(r"\s*[-+]?\d*,\d*(?:[eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:\.\d{3})+(?:,\d*)?\s*")


class Respelled(Source):
    """The same table with its cells as the rest of the program writes them."""

    def __init__(self, source: Source, how: How) -> None:
        self.title, self.names, self.remarks = source.title, source.names, source.remarks
        self._source = source
        self._how = how

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        for part in self._source.parts(names):
            columns = part.columns
            cells = tuple(RespelledColumn(columns.raw(name), name, self._how) for name in names)
            yield Part(Columns(columns.names, cells, columns.rows), part.done, part.total)


class RespelledColumn(Column):
    """One column of it."""

    def __init__(self, column: Column, name: str, how: How) -> None:
        self._column = column
        self._name = name
        self._how = replace(how, decimal=".") if column.typed else how

    def __len__(self) -> int:
        return len(self._column)

    def coded(self) -> Cells:
        cells = self._column.coded()
        texts = respelled(cells.values, self._name, self._how)
        values, places = np.unique(texts, return_inverse=True)
        return Cells(values, places[cells.codes])

    def all_numbers(self) -> Numbers | None:
        if self._how.decimal == ",":
            return self.coded().all_numbers()
        values = self._column.all_numbers()
        if values is None:
            return self.coded().all_numbers()
        said = [float(text) for text in self._how.missing_in(self._name) if is_number(text)]
        return np.where(np.isin(values, said), np.nan, values) if said else values


def respelled(texts: Texts, name: str, how: How) -> Texts:
    """These cells as the rest of the program writes them."""
    decimal = [with_point(text, name) for text in texts.tolist()] if how.decimal == "," else texts.tolist()
    missing = how.missing_in(name)
    return np.array(["" if text.strip() in missing else text for text in decimal], np.str_)


def with_point(text: str, name: str) -> str:
    """A number with a decimal comma in this column, with a point; every other text unchanged."""
    if _THOUSANDS.fullmatch(text):
        raise BadData(f"Column {name!r} has points between thousands. Export numbers without them.")
    return text.replace(",", ".") if _WITH_COMMA.fullmatch(text) and any(map(str.isdigit, text)) else text


def is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
