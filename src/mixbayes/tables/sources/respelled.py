"""A source whose cells are written otherwise: more spellings of a missing cell, decimal commas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mixbayes.protocol.attributes.cells import Numbers, Texts
from mixbayes.tables.cells import Cells, Column, Rows
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.decimals import with_point
from mixbayes.tables.sources.gaps import Gaps
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Part, Source


class Respelled(Source):
    """The same table with its cells as the rest of the program writes them."""

    def __init__(self, source: Source, how: How) -> None:
        self.title, self.names, self.remarks = source.title, source.names, source.remarks
        self._source = source
        self._decimal = how.decimal
        self._gaps = Gaps(how)

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        for part in self._source.parts(names):
            columns = part.columns
            cells = tuple(RespelledColumn(columns.raw(name), name, self._decimal, self._gaps) for name in names)
            yield Part(Columns(columns.names, cells, columns.rows), part.done, part.total)

    def unmet(self) -> tuple[str, ...]:
        return tuple(self._gaps.unmet())


class RespelledColumn(Column):
    """One column of it."""

    def __init__(self, column: Column, name: str, decimal: str, gaps: Gaps) -> None:
        self._column = column
        self._name = name
        self._decimal = decimal
        self._commas = decimal == "," and not column.typed
        self._gaps = gaps

    def __len__(self) -> int:
        return len(self._column)

    def take(self, rows: Rows) -> RespelledColumn:
        return RespelledColumn(self._column.take(rows), self._name, self._decimal, self._gaps)

    def coded(self) -> Cells:
        cells = self._column.coded()
        texts = self._gaps.emptied(self._name, self._with_points(cells.values), cells.counts)
        values, places = np.unique(texts, return_inverse=True)
        return Cells(values, places[cells.codes])

    def all_numbers(self) -> Numbers | None:
        values = None if self._commas else self._column.all_numbers()
        return self.coded().all_numbers() if values is None else self._gaps.without(self._name, values)

    def _with_points(self, texts: Texts) -> Texts:
        return np.array([with_point(text, self._name) for text in texts.tolist()], np.str_) if self._commas else texts
