"""How a person enters a patient's value of one attribute: what a form offers, in the words of the agreement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """A value as cells spell it, and what a person calls it."""

    value: str
    meaning: str


@dataclass(frozen=True)
class OneOption:
    """One of these values."""

    options: tuple[Option, ...]


@dataclass(frozen=True)
class Measurement:
    """A number within these bounds, in this unit if one was agreed."""

    low: float
    high: float
    unit: str


@dataclass(frozen=True)
class SomeOptions:
    """Any number of these values, of which the first `most` count; a cell spells them between separators."""

    options: tuple[Option, ...]
    separator: str
    none: str
    """What the cell of a patient without any of them says."""
    most: int


Entry = OneOption | Measurement | SomeOptions


def options(values: tuple[str, ...], meanings: tuple[str, ...]) -> tuple[Option, ...]:
    """The values with their meanings, or, where none were agreed, with themselves."""
    return tuple(map(Option, values, meanings or values))
