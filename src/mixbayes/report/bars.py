"""Bars, each with its name and its value above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import SMALL, WIDTH, box, line, picture, text
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, GREY, PALE, PLAIN, Fill
from mixbayes.report.scale import Scale, up_to

ROW, THICK, AXIS = 38.0, 14.0, 20.0
_LEFT, _RIGHT, _TOP = 1.0, WIDTH - 18, 4.0


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
) -> Markup:
    """From nothing up to `most`; `tick` writes the values of the axis, and a broken line stands at `mark`."""
    scale = up_to(most or max((row.value or 0.0 for row in rows), default=0.0), _LEFT, _RIGHT)
    bottom = _TOP + ROW * len(rows)
    drawn = [_row(row, _TOP + ROW * number, scale) for number, row in enumerate(rows)]
    marked = [] if mark is None else [_mark(scale.at(mark), _TOP + ROW * number) for number in range(len(rows))]
    axis = [_axis(scale, bottom, tick, whole)] if tick else []
    return picture(bottom + (AXIS if tick else 0), alt, *axis, *drawn, *marked)


def _row(row: Bar, y: float, scale: Scale) -> Markup:
    value = text(row.written, WIDTH - 1, y + 13, anchor="end", weight="bold", room=150)
    name = text(row.name, 1, y + 13, room=WIDTH - 110)
    if row.value is None:
        return joined(name, value)
    return joined(name, value, box(_LEFT, y + 18, scale.at(row.value) - _LEFT, THICK, row.fill.paint))


def _mark(x: float, y: float) -> Markup:
    """Beside the bar, and not through what is written above it."""
    return line(x, y + 16, x, y + 20 + THICK, BLACK, 2, "3 2")


def _axis(scale: Scale, bottom: float, tick: Callable[[float], str], whole: bool) -> Markup:
    values = scale.ticks(whole=whole)
    grid = (line(scale.at(value), _TOP, scale.at(value), bottom, PALE) for value in values)
    names = (
        text(tick(value), scale.at(value), bottom + 13, anchor="middle" if value else "start", size=SMALL, colour=GREY)
        for value in values
    )
    return joined(*grid, *names)
