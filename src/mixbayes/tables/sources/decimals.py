"""Numbers in texts that may be written with a decimal comma."""

from __future__ import annotations

import math
import re

from mixbayes.protocol.errors import BadData

_WITH_COMMA = re.compile(r"\s*[-+]?\d*,\d*(?:[eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:\.\d{3})+(?:,\d*)?\s*")


def with_point(text: str, name: str) -> str:
    """A number with a decimal comma in this column, with a point; every other text unchanged."""
    if _THOUSANDS.fullmatch(text):
        raise BadData(f"Column {name!r} has points between thousands. Export numbers without them.")
    return comma_as_point(text)


def comma_as_point(text: str) -> str:
    """A number with a decimal comma with a point; every other text unchanged."""
    return text.replace(",", ".") if _WITH_COMMA.fullmatch(text) and any(map(str.isdigit, text)) else text


def number_in(text: str, decimal: str) -> float | None:
    """The number that a text is, written with a point or with this decimal sign."""
    try:
        value = float(comma_as_point(text) if decimal == "," else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
