"""Bars, each with its name and its value above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import BOLD, LETTERS, SMALL, Drawing, Picture, box, extra, length, line, stacked, text
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, GREY, PALE, PLAIN, Fill
from mixbayes.report.scale import Scale, up_to

ROW, THICK, AXIS = 38.0, 14.0, 20.0
_LEFT, _MARGIN, _TOP = 1.0, 18.0, 4.0
_VALUES = 0.5
"""At most this share of the width is for values; names have the rest."""


@dataclass(frozen=True)
class Bar:
    """A name, how long the bar is (None: there is no value), and what is written beside it."""

    name: str
    value: float | None
    written: str
    fill: Fill = PLAIN


def bars(
    rows: Sequence[Bar],
    alt: str,
    *,
    most: float | None = None,
    tick: Callable[[float], str] | None = None,
    mark: float | None = None,
    whole: bool = False,
) -> Picture:
    """From nothing up to `most`; `tick` writes the values of the axis, and a broken line stands at `mark`."""
    longest = most or max((row.value or 0.0 for row in rows), default=0.0)

    def draw(width: float) -> Drawing:
        scale = up_to(longest, _LEFT, width - _MARGIN)
        *tops, bottom = stacked((ROW + _deeper(row, width) for row in rows), _TOP)
        axis = [_axis(scale, bottom, tick, whole)] if tick else []
        drawn = [_row(row, top, scale, width, mark) for row, top in zip(rows, tops, strict=True)]
        return Drawing(bottom + (AXIS if tick else 0), [*axis, *drawn])

    return Picture(alt, draw)


def _deeper(row: Bar, width: float) -> float:
    """What the second and further lines of a name or a value need."""
    name = extra(row.name, width - _beside(row, width))
    return max(name, extra(row.written, _VALUES * width, weight="bold"))


def _beside(row: Bar, width: float) -> float:
    """What the value and the space before it take."""
    return min(length(row.written, LETTERS * BOLD), _VALUES * width) + 10


def _row(row: Bar, y: float, scale: Scale, width: float, mark: float | None) -> Markup:
    bar = y + 18 + _deeper(row, width)
    return joined(
        text(row.name, 1, y + 13, room=width - _beside(row, width)),
        text(row.written, width - 1, y + 13, anchor="end", weight="bold", room=_VALUES * width),
        box(_LEFT, bar, scale.at(row.value) - _LEFT, THICK, row.fill.paint) if row.value is not None else "",
        _mark(scale.at(mark), bar) if mark is not None else "",
    )


def _mark(x: float, bar: float) -> Markup:
    """Beside the bar, and not through what is written above it."""
    return line(x, bar - 2, x, bar + 2 + THICK, BLACK, 2, "3 2")


def _axis(scale: Scale, bottom: float, tick: Callable[[float], str], whole: bool) -> Markup:
    values = scale.ticks(whole=whole)
    grid = (line(scale.at(value), _TOP, scale.at(value), bottom, PALE) for value in values)
    names = (
        text(tick(value), scale.at(value), bottom + 13, anchor="middle" if value else "start", size=SMALL, colour=GREY)
        for value in values
    )
    return joined(*grid, *names)
