"""Counting inside a database: what a database needs to know about a numeric attribute.

A kind of attribute defines its sums with the operations of an arithmetic that is passed to it. One arithmetic builds
expressions, for example in SQL; another computes on numpy arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

Expression = Any
"""A number of every patient: it knows + - * /, and comparisons, of IEEE's numbers of 64 bits."""


class Arithmetic(Protocol):
    """How expressions are made of others."""

    def number(self, value: float) -> Expression:
        """The same number for everybody."""
        ...

    def absent(self, value: Expression) -> Expression:
        """Whether there is none."""
        ...

    def choose(self, condition: Expression, then: Expression, otherwise: Expression) -> Expression:
        """One of two numbers; otherwise also where the condition compares with no number."""
        ...

    def floor(self, value: Expression) -> Expression:
        """The largest integer that is not larger."""
        ...

    def nearest(self, value: Expression) -> Expression:
        """A number from 0 to 2^52 as an integer, ties to even: `numpy.rint`, or `nearest` below."""
        ...

    def once(self, value: Expression) -> Expression:
        """The same, for an expression that others use several times."""
        ...


class Summands(NamedTuple):
    """What one cell adds to its attribute's block: integers below 2^53, in float64."""

    rows: Sequence[Expression]
    """To each row, in the column of the patient's class."""
    beyond: Expression
    """1 if the number lies beyond the bounds, else 0."""


def nearest(value: Expression, by: Arithmetic) -> Expression:
    """A number from 0 to 2^52 as an integer, ties to even: from 2^52 to 2^53 there are no others in float64."""
    integers = by.number(2.0**52)
    return by.once(value + integers) - integers


def flag(condition: Expression, by: Arithmetic) -> Expression:
    """1 where the condition holds, else 0."""
    return by.choose(condition, by.number(1.0), by.number(0.0))


def outside(value: Expression, low: float, high: float, by: Arithmetic) -> Expression:
    """1 where a number lies beyond the bounds, else 0."""
    return by.choose(value < by.number(low), by.number(1.0), flag(value > by.number(high), by))
