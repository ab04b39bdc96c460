"""A table in a database, or on Spark, that is counted there. Rows are fetched only where a method needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.sql.selectable import FromClause

from mixbayes.protocol.attributes.cells import MISSING, Texts, missing, positions
from mixbayes.protocol.attributes.kind import Integers
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import Cells, FreeText
from mixbayes.tables.columns import Columns, refuse_twice
from mixbayes.tables.profile import Growing, Profile
from mixbayes.tables.sources import statements
from mixbayes.tables.sources.decimals import with_point
from mixbayes.tables.sources.engine import Ask, Engine, Field, Holds
from mixbayes.tables.sources.gaps import Gaps
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Part, Progress, Source, no_progress
from mixbayes.tables.spelling import spelled_values
from mixbayes.tables.tallying import Counting


class DatabaseSource(Source):
    """A table or a query. `how` says which cells are missing besides the usual ones."""

    def __init__(self, title: str, engine: Engine, relation: FromClause, how: How) -> None:
        self.title = title
        self._engine = engine
        self._relation = relation
        self._decimal = how.decimal
        self._gaps = Gaps(how)
        fields = engine.fields(relation)
        self.names = tuple(field.name for field in fields)
        refuse_twice(self.names)
        self._fields = {field.name: field for field in fields}

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        fields = [self._fields[name] for name in names]
        with self._engine.reading() as ask:
            total, done = self._rows(ask), 0
            for rows in ask(statements.rows(self._engine, self._relation, fields)):
                done += len(rows)
                cells = tuple(self._cells(field, [row[at] for row in rows]) for at, field in enumerate(fields))
                yield Part(Columns(tuple(names), cells, len(rows)), done, total)

    def profile(self, names: Sequence[str], progress: Progress = no_progress) -> Profile:
        found = {}
        with self._engine.reading() as ask:
            rows = self._rows(ask)
            for at, name in enumerate(names):
                found[name] = self._profiled(ask, self._fields[name]).done()
                progress(f"reading {self.title}", at + 1, len(names))
        return Profile(found, rows, self.title)

    def count(self, counting: Counting, progress: Progress = no_progress) -> None:
        label, *_ = map(self._fields.__getitem__, counting.columns_of(self.names))
        attributes = counting.layout.dictionary.attributes
        computed = [one for one in attributes if one.numeric and self._computable(self._fields[one.name])]
        with self._engine.reading() as ask:
            infinite = self._add_blocks(ask, counting, label, computed)
            grouped = [one.name for one in attributes if one not in computed or one.name in infinite]
            rows = self._add_groups(ask, counting, label, grouped, progress)
        if len(set(rows.values())) > 1:
            raise BadData("its rows changed while they were counted. Count again, when nobody writes to it.")

    def unmet(self) -> tuple[str, ...]:
        return tuple(self._gaps.unmet())

    def _rows(self, ask: Ask) -> int:
        return next(int(rows[0][0]) for rows in ask(statements.how_many(self._engine, self._relation)))

    def _computable(self, field: Field) -> bool:
        return field.holds in self._engine.computes

    def _add_groups(
        self, ask: Ask, counting: Counting, label: Field, names: Sequence[str], progress: Progress
    ) -> Counter[str | None]:
        """Count classes, and these columns by value and class. Returned is how many rows each of them had."""
        wanted: list[str | None] = [None, *names]
        rows, step = Counter(dict.fromkeys(wanted, 0)), self._engine.sets_at_once
        for start in range(0, len(wanted), step):
            for name, values, classes, times in self._groups(ask, label, wanted[start : start + step]):
                rows[name] += int(times.sum())
                if name is None:
                    counting.add_classes(classes, times)
                else:
                    counting.add_groups(name, values, classes, times)
            progress(f"counting {self.title}", min(start + step, len(wanted)), len(wanted))
        return rows

    def _groups(
        self, ask: Ask, label: Field, names: Sequence[str | None]
    ) -> Iterator[tuple[str | None, Texts, Texts, Integers]]:
        fields = [None if name is None else self._fields[name] for name in names]
        for rows in ask(statements.groups(self._engine, self._relation, label, fields)):
            for at, (name, field) in enumerate(zip(names, fields, strict=True)):
                own = [row for row in rows if int(row[0]) == at]
                classes = self._texts(label, [row[1] for row in own])
                texts = self._texts(field, [row[3 + at] for row in own]) if field else classes
                yield name, texts, classes, np.array([row[2] for row in own], np.int64)

    def _add_blocks(self, ask: Ask, counting: Counting, label: Field, attributes: Sequence[Attribute]) -> list[str]:
        """Count these attributes of numbers, but for those with infinite ones, which are returned."""
        infinite, step = [], self._engine.numbers_at_once
        for start in range(0, len(attributes), step):
            infinite += self._add_some(ask, counting, label, attributes[start : start + step])
        return infinite

    def _add_some(self, ask: Ask, counting: Counting, label: Field, attributes: Sequence[Attribute]) -> list[str]:
        sums = statements.Sums(self._engine, self._relation, label)
        for attribute in attributes:
            field = self._fields[attribute.name]
            gaps = self._gaps.numbers(attribute.name)
            value = sums.cell(field, list(chain(*gaps)))
            summands = attribute.summands(value, sums)
            sums.add(*summands.rows, summands.beyond, sums.infinite(value), *(sums.says(field, of) for of in gaps))
        found = iter(self._by_class(ask, counting, label, sums))
        infinite = []
        for attribute in attributes:
            *block, beyond, unbounded = islice(found, attribute.rows + 2)
            met = islice(found, len(self._gaps.numbers(attribute.name)))
            self._gaps.note(attribute.name, [bool(one.any()) for one in met])
            if unbounded.any():
                infinite.append(attribute.name)
            else:
                counting.add_block(attribute.name, np.array(block, np.uint64), int(beyond.sum()))
        return infinite

    def _by_class(self, ask: Ask, counting: Counting, label: Field, sums: statements.Sums) -> NDArray[np.uint64]:
        """What is asked for, shaped (sums, classes); of rows with one of the agreed classes."""
        rows = [row for chunk in ask(sums.statement()) for row in chunk]
        classes = counting.layout.dictionary.classes
        at = positions(self._texts(label, [row[0] for row in rows]), classes)
        numbers = [[int(number) for number in row[2:]] for row in rows]
        found = np.zeros((len(classes) + 1, sums.size), np.uint64)
        np.add.at(found, at, np.array(numbers, np.uint64).reshape(-1, sums.size))
        return found[:-1].T

    def _profiled(self, ask: Ask, field: Field) -> Growing:
        """The profile of a column. If it has too many values, the rest of them is not fetched where that can be."""
        growing = Growing(field.name)
        try:
            for texts, times in self._values(ask, field):
                growing.add_groups(texts, times)
                if not growing.complete and self._summarized(field, growing):
                    break
            else:
                return growing
        except FreeText:
            growing.complete = False
        if self._computable(field):
            self._replace_by_summary(ask, growing, field)
        else:
            self._replace_gaps(ask, growing, field)
        return growing

    def _summarized(self, field: Field, growing: Growing) -> bool:
        """Whether the engine can say of the column what more of its values would."""
        return self._computable(field) or (field.holds is Holds.TEXT and not growing.numeric)

    def _values(self, ask: Ask, field: Field, with_parts: Sequence[str] = ()) -> Iterator[tuple[Texts, Integers]]:
        statement = statements.values(self._engine, self._relation, field, with_parts)
        for rows in ask(statement):
            times = np.array([row[1] for row in rows], np.int64)
            yield self._texts(field, [row[0] for row in rows]), times

    def _replace_by_summary(self, ask: Ask, growing: Growing, field: Field) -> None:
        sums = statements.Sums(self._engine, self._relation)
        said = self._gaps.numbers(field.name)
        value = sums.cell(field, list(chain(*said)))
        sums.extremes(value)
        absent = sums.choose(sums.absent(value), sums.number(1), sums.number(0))
        sums.add(absent, sums.infinite(value), *(sums.says(field, of) for of in said))
        ((rows, low, high, gaps, infinite, *met),) = next(ask(sums.statement()))
        growing.replace(rows, int(gaps), None if infinite or low is None else (float(low), float(high)))
        self._gaps.note(field.name, list(map(bool, met)))

    def _replace_gaps(self, ask: Ask, growing: Growing, field: Field) -> None:
        said = self._gaps.spellings(field.name)
        any_spelling = any(one.number is not None for one in said)  # which a number has, so that no part is sure
        gaps = 0
        for texts, times in self._values(ask, field, [] if any_spelling else [MISSING[1], *(one.text for one in said)]):
            gaps += int(times[missing(texts)].sum())
        growing.replace(self._rows(ask), gaps, None)

    def _cells(self, field: Field, values: Sequence[Any]) -> Cells:
        places: dict[Any, int] = {}
        try:
            codes = np.array([places.setdefault(value, len(places)) for value in values], np.int64)
        except TypeError:
            codes = np.arange(len(values))
            places = dict(enumerate(values))
        distinct = Cells.of(self._texts(field, list(places)))
        return Cells(distinct.values, distinct.codes[codes])

    def _texts(self, field: Field, values: Sequence[Any]) -> Texts:
        """What a CSV export has for them, respelled as the user asks."""
        native = [self._engine.value(field, value) for value in values]
        if self._decimal == ",":
            native = [with_point(value, field.name) if isinstance(value, str) else value for value in native]
        return self._gaps.emptied(field.name, spelled_values(field.name, native))
