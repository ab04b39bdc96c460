"""Figures and tables as the document writes them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from mixbayes.research.study.intervals import Interval

NONE = "–"
WIDTH = 124
"""Of lines of prose."""


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


def wrapped(text: str) -> str:
    """The same Markdown, its prose in lines of one width; tables and headings stay as they are."""
    return "\n".join(_lines(block) for block in _blocks(text)) + "\n"


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs and items whole, everything else line by line."""
    prose = ""
    for line in text.splitlines():
        if prose and (not line.strip() or line.startswith(("- ", "|", "#"))):
            yield prose
            prose = ""
        if not line.strip() or line.startswith(("|", "#")):
            yield line
        else:
            prose = f"{prose} {line.strip()}".lstrip()
    if prose:
        yield prose


def _lines(block: str) -> str:
    if not block.strip() or block.startswith(("|", "#")):
        return block
    indent = "  " if block.startswith("- ") else ""
    return textwrap.fill(block, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def listed(names: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
