"""Figures and tables as the document writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mixbayes.study.intervals import Interval

NONE = "–"


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def share(interval: Interval) -> str:
    """In percent, with its interval."""
    return f"{percent(interval.value)} ({percent(interval.low)} to {percent(interval.high)})"


def signed(value: float) -> str:
    """A difference in points."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def points(interval: Interval) -> str:
    """A difference in points, with its interval."""
    return f"{signed(interval.value)} ({signed(interval.low)} to {signed(interval.high)})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """In Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def listed(names: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
