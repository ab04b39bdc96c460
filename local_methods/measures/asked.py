"""Measures that are computed one by one, and the reason if one of them has no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

Value = TypeVar("Value")

NO_CELL = "no cell is there that it could be computed from"


class Undefined(Exception):
    """These tables do not have the measure; the text says why."""


class Asked:
    """Asks for measures, and remembers why there is none."""

    def __init__(self) -> None:
        self.why_not: dict[str, str] = {}

    def __call__(self, name: str, measure: Callable[[], Value | None]) -> Value | None:
        """The value, or None."""
        try:
            value = measure()
        except Undefined as reason:
            self.why_not[name] = str(reason)
            return None
        if value is None or (isinstance(value, float) and not np.isfinite(value)):
            self.why_not[name] = NO_CELL
            return None
        return value
