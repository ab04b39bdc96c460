"""Quartiles before and after: a stroke from the lower to the upper one for either, and its median on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import Drawing, Picture, disc, extra, line, ring, stacked, text
from mixbayes.report.markup import Markup, joined
from mixbayes.report.pairs import AXIS, HEAD, LEFT, MARGIN, grid, legend
from mixbayes.report.palette import BLUE, GREY, PALE, VERMILLION
from mixbayes.report.scale import Scale

_ROW, _UPPER, _LOWER = 58.0, 29.0, 45.0
_TICK = 4.0
_NAMES, _SAID = 0.4, 0.56
"""Shares of the width."""


@dataclass(frozen=True)
class Stroke:
    """The lower quartile, the median and the upper quartile of a share."""

    lower: float
    median: float
    upper: float


@dataclass(frozen=True)
class Strokes:
    """A measure of the original and of the release, None where there is none, and what is said of the two."""

    name: str
    before: Stroke | None
    after: Stroke | None
    said: str


def quartile_chart(rows: Sequence[Strokes], alt: str) -> Picture:
    """On a scale of shares, with a line at half of it."""

    def draw(width: float) -> Drawing:
        scale = Scale(0.0, 1.0, LEFT, width - MARGIN)
        *tops, bottom = stacked((_ROW + _deeper(row, width) for row in rows), HEAD)
        half = line(scale.at(0.5), HEAD, scale.at(0.5), bottom, GREY)
        drawn = (_row(row, top, scale, width) for row, top in zip(rows, tops, strict=True))
        return Drawing(bottom + AXIS, [legend(), grid(scale, bottom), half, *drawn])

    return Picture(alt, draw)


def _deeper(row: Strokes, width: float) -> float:
    return max(extra(row.name, _NAMES * width), extra(row.said, _SAID * width, weight="bold"))


def _row(row: Strokes, y: float, scale: Scale, width: float) -> Markup:
    strokes = y + _deeper(row, width)
    return joined(
        text(row.name, 1, y + 15, room=_NAMES * width),
        text(row.said, width - 1, y + 15, anchor="end", weight="bold", room=_SAID * width),
        _stroke(row.before, strokes + _UPPER, scale, VERMILLION, ringed=True),
        _stroke(row.after, strokes + _LOWER, scale, BLUE, ringed=False),
    )


def _stroke(stroke: Stroke | None, y: float, scale: Scale, colour: str, *, ringed: bool) -> Markup:
    """From quartile to quartile with an end at each."""
    base = line(scale.start, y, scale.end, y, PALE)
    if stroke is None:
        return base
    low, middle, high = (scale.at(value) for value in (stroke.lower, stroke.median, stroke.upper))
    ends = (line(x, y - _TICK, x, y + _TICK, colour, 2) for x in (low, high))
    return joined(
        base, line(low, y, high, y, colour, 3), *ends, ring(middle, y, colour) if ringed else disc(middle, y, colour)
    )
