"""What counts for a source that does not read its rows: a database, or Spark.

An engine answers statements. It says what the columns hold, and how its SQL writes what standards leave open.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Double, String, case, cast, column, func, literal_column
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql.elements import ColumnElement, quoted_name
from sqlalchemy.sql.selectable import FromClause, Select

from mixbayes.protocol.attributes import elsewhere

Expression: TypeAlias = ColumnElement[Any]
Statement: TypeAlias = "Select[*tuple[Any, ...]]"
Table: TypeAlias = tuple[str | None, str]
"""Its schema, unless that is the usual one, and its name."""
Rows: TypeAlias = Sequence[Sequence[Any]]
Ask: TypeAlias = Callable[[Statement], Iterator[Rows]]
"""Gives the answer to a statement in chunks."""

CHUNK = 1 << 13
"""Rows of an answer that are in memory at a time."""


class Holds(Enum):
    """What a column's type says of its values, as far as statements differ by it."""

    TEXT = auto()
    WHOLE = auto()
    """Integers of up to 64 bits."""
    DOUBLE = auto()
    SINGLE = auto()
    """Floating-point numbers of 32 bits: 0.1 is 0.1, not the nearest such number."""
    DECIMAL = auto()
    MOMENT = auto()
    """A time with its zone."""
    OTHER = auto()


@dataclass(frozen=True)
class Field:
    """A column of a table, or of a query's answer."""

    name: str
    holds: Holds


class Engine(ABC):
    """Where statements are answered."""

    dialect: Dialect
    """How SQLAlchemy renders them."""
    computes: frozenset[Holds] = frozenset({Holds.WHOLE, Holds.DOUBLE, Holds.SINGLE, Holds.DECIMAL})
    """Of which columns `double` is exact."""
    sets_at_once: int = 1
    """How many groupings one statement may ask for."""
    numbers_at_once: int = 100
    """Of how many attributes of numbers it may ask for sums; some databases give no more than about a thousand."""

    @abstractmethod
    def fields(self, relation: FromClause) -> tuple[Field, ...]:
        """The columns of a table or query."""

    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """What the database has, for whoever named none of it."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Ask]:
        """A connection. All its answers are of the same state of the data, where the engine can do that."""

    def render(self, statement: Statement) -> str:
        """The statement as text."""
        return str(statement.compile(dialect=self.dialect, compile_kwargs={"literal_binds": True}))

    def many(self) -> Expression:
        """How many rows."""
        return func.count()

    def column(self, field: Field) -> Expression:
        """The column of this name, whatever characters that has."""
        return column(quoted_name(field.name, quote=True))

    def alike(self, field: Field) -> Expression:
        """The column as it is grouped by: values are equal to the database only if their texts are equal."""
        return self.column(field)

    def apart(self, field: Field) -> Expression | None:
        """What else must be equal for that."""
        return None

    def value(self, field: Field, value: Any) -> Any:
        """A value of `alike` as Python's type for it, which `spelling.py` knows."""
        return value

    def double(self, field: Field) -> Expression:
        """A column of numbers as IEEE's numbers of 64 bits, the nearest to the values' texts."""
        if field.holds in (Holds.WHOLE, Holds.DOUBLE):
            return cast(self.column(field), Double)
        return cast(cast(self.column(field), String(64)), Double)

    def no_number(self, value: Expression) -> Expression | None:
        """Whether a number is IEEE's not-a-number, where the engine has that."""
        return None

    def fenced(self, inner: Statement) -> Statement:
        """The same select; what it computes is not computed again by those around it."""
        return inner

    # The arithmetic of `protocol/attributes/elsewhere.py`.

    def number(self, value: float) -> Expression:
        """A constant, with an exponent: without one it is a decimal to most."""
        text = repr(float(value))
        return literal_column(text if re.search("[en]", text) else f"{text}e0", Double())

    def choose(self, condition: Expression, then: Expression, otherwise: Expression) -> Expression:
        return case((condition, then), else_=otherwise)

    def floor(self, value: Expression) -> Expression:
        return func.floor(value, type_=Double())

    def nearest(self, value: Expression, by: elsewhere.Arithmetic) -> Expression:
        return elsewhere.nearest(value, by)

    def whole(self, value: Expression) -> Expression:
        """An integer in float64 as one of 64 bits, whose sums are exact."""
        return cast(value, BigInteger)
