"""Numbers as people read them; in a table of a report, the exact one stands behind each."""

from __future__ import annotations

from math import isfinite

from mixbayes.report.markup import Markup, element

_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
NONE = "none"
UNKNOWN = "unknown"


def share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2%}"


def size(count: int) -> str:
    """Bytes in a unit that leaves three digits."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}" if count < 999.5 * unit else f"{count / unit:,.0f} {name}"
    return f"{count} B"


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def measured(value: float | None) -> str:
    """Four digits of a measure, or none where there is no such measure."""
    return NONE if value is None else str(value) if isinstance(value, int) else f"{value:.4g}"


def many(count: int, what: str, more: str = "") -> str:
    """1 row, 2 rows."""
    return f"{count:,} {what if count == 1 else more or what + 's'}"


def exact(value: float | None, text: str) -> Markup:
    """The text, and the value itself for machines, as `data` in HTML."""
    if value is None or not isfinite(value):
        return element("span", text, class_="absent")
    return element("data", text, value=repr(value))
