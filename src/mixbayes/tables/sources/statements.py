"""What is asked of a database: the three kinds of statements that counting a table takes.

They are built once with SQLAlchemy's expression language and rendered for each engine. Data frames for databases do not
fit: ibis brings some seventeen packages and excludes newer versions of others, narwhals reaches databases through ibis.
The statements are few, but each operation on a number must be the one that `protocol/attributes` asks for, and each
database must keep apart what differs as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Double, case, column, func, literal_column, null, or_, select, table, text, tuple_
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import ColumnClause, Label
from sqlalchemy.sql.selectable import FromClause

from mixbayes.tables.sources.engine import Engine, Expression, Field, Statement

_LARGEST = 1.7976931348623157e308
"""Numbers beyond it are infinite."""


def of_table(name: str, schema: str | None = None) -> FromClause:
    """A table or a view."""
    return table(name, schema=schema)


def of_query(query: str) -> FromClause:
    """The answer of a query, which is one statement that selects, without a semicolon."""
    return text(query.replace(":", "\\:") + "\n").columns().subquery("answer")


def nothing(relation: FromClause) -> Statement:
    """All columns and no row."""
    return select(literal_column("*")).select_from(relation).where(literal_column("0") == literal_column("1"))


def how_many(engine: Engine, relation: FromClause) -> Statement:
    """The number of rows."""
    return select(engine.many()).select_from(relation)


def rows(engine: Engine, relation: FromClause, fields: Sequence[Field]) -> Statement:
    """Every row, as it is."""
    found = [engine.alike(field).label(f"v{at}") for at, field in enumerate(fields)]
    return select(*(found or [literal_column("1").label("one")])).select_from(relation)


def values(engine: Engine, relation: FromClause, field: Field, with_parts: Iterable[str] = ()) -> Statement:
    """Each value and how often it occurs; of texts with one of these parts only, and of gaps, if any part is given."""
    inner = select(*_keys(engine, field, "v0")).select_from(relation)
    cell = engine.column(field)
    parts = [cell.contains(part, autoescape=True) for part in with_parts]
    cells = (inner.where(or_(cell.is_(null()), cell == "", *parts)) if parts else inner).subquery("cells")
    return select(cells.c.v0, engine.many()).group_by(*cells.c)


def groups(engine: Engine, relation: FromClause, label: Field, fields: Sequence[Field | None]) -> Statement:
    """Each pair of a value and a class that occurs: (which field, class, how often, the value of each field).

    Which field is its place among the fields; the values of the others are null. No field means classes alone.
    """
    of_class = _keys(engine, label, "k")
    of_fields = [_keys(engine, field, f"v{at}") if field else [] for at, field in enumerate(fields)]
    cells = select(*of_class, *chain.from_iterable(of_fields)).select_from(relation).subquery("cells")
    sets = [[cells.c[key.name] for key in (*of_class, *keys)] for keys in of_fields]
    values = [cells.c[keys[0].name] if keys else null() for keys in of_fields]
    if len(sets) == 1:
        return select(literal_column("0"), cells.c.k, engine.many(), *values).group_by(*sets[0])
    places: list[Expression] = [literal_column(str(at)) for at in range(len(fields))]
    of_values = [
        (func.grouping(value) == 0, at) for value, at, keys in zip(values, places, of_fields, strict=True) if keys
    ]
    which = case(*of_values, else_=places[of_fields.index([])] if [] in of_fields else null())
    together = func.grouping_sets(*(tuple_(*keys) for keys in sets))
    return select(which, cells.c.k, engine.many(), *values).group_by(together)


def _keys(engine: Engine, field: Field, name: str) -> list[Label[Any]]:
    """What makes cells of a column alike, the value first."""
    apart = engine.apart(field)
    return [engine.alike(field).label(name), *([] if apart is None else [apart.label(f"{name}_apart")])]


class Sums:
    """Sums of numbers computed of a relation's cells, by class or over all rows.

    It is the arithmetic for a kind's `summands`. What an expression uses `once` stands in a select of its own, below.
    """

    def __init__(self, engine: Engine, relation: FromClause, label: Field | None = None) -> None:
        self._engine = engine
        self._relation = relation
        self._class = [] if label is None else _keys(engine, label, "k")
        self._levels: list[list[Label[Any]]] = [[*self._class]]
        self._level_of: dict[str, int] = {}
        self._raw: dict[str, Expression] = {}
        self._sums: list[Expression] = []
        self.number, self.choose, self.floor = engine.number, engine.choose, engine.floor

    @property
    def size(self) -> int:
        """How many numbers are asked for of each class, besides its rows."""
        return len(self._sums)

    def cell(self, field: Field, said: Sequence[float] = ()) -> Expression:
        """The cells of a column of numbers, null where they are missing or one of the numbers that say so."""
        value = self._cells_of(field)
        gaps = [value == self.number(one) for one in said]
        nan = self._engine.no_number(value)
        gaps += [] if nan is None else [nan]
        return self.once(case((or_(*gaps), null()), else_=value)) if gaps else value

    def says(self, field: Field, said: Sequence[float]) -> Expression:
        """1 where a cell of a column of numbers is one of these, else 0."""
        found = [self._cells_of(field) == self.number(one) for one in said]
        return self.choose(or_(*found), self.number(1.0), self.number(0.0))

    def absent(self, value: Expression) -> Expression:
        return value.is_(null())

    def infinite(self, value: Expression) -> Expression:
        """1 where a number is infinite, else 0."""
        most, one = self.number(_LARGEST), self.number(1.0)
        return self.choose(value > most, one, self.choose(value < -most, one, self.number(0.0)))

    def nearest(self, value: Expression) -> Expression:
        return self._engine.nearest(value, self)

    def once(self, value: Expression) -> Expression:
        used = (self._level_of.get(one.name, -1) for one in visitors.iterate(value) if isinstance(one, ColumnClause))
        return self._named(value, max(used, default=-1) + 1)

    def add(self, *values: Expression) -> None:
        """Sum these integers up, too."""
        self._sums += [func.sum(self._engine.whole(value)) for value in values]

    def extremes(self, value: Expression) -> None:
        """Find the smallest and the largest of these numbers, too."""
        self._sums += [func.min(value), func.max(value)]

    def statement(self) -> Statement:
        """One row for each class: the class, how many rows, and what was asked for, in its order."""
        source, names = self._relation, list[str]()
        for level in self._levels:
            inner: Statement = select(*(column(name, Double()) for name in names), *level).select_from(source)
            source = self._engine.fenced(inner).subquery(f"level{len(names)}")
            names += [label.name for label in level]
        keys: list[Expression] = [column(label.name) for label in self._class]
        return select(*keys[:1], self._engine.many(), *self._sums).select_from(source).group_by(*keys)

    def _cells_of(self, field: Field) -> Expression:
        if field.name not in self._raw:
            self._raw[field.name] = self._named(self._engine.double(field), 0)
        return self._raw[field.name]

    def _named(self, value: Expression, level: int) -> Expression:
        name = f"x{len(self._level_of)}"
        self._level_of[name] = level
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(value.label(name))
        return column(name, Double())
