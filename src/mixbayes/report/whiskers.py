"""Shares with their intervals: a mark on a line from the lower to the upper end, in groups that are seen together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil, floor

from mixbayes.report.drawing import (
    SMALL,
    Drawing,
    Picture,
    diamond,
    disc,
    extra,
    length,
    line,
    ring,
    stacked,
    text,
)
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREY, PALE, VERMILLION, WHITE
from mixbayes.report.scale import Scale

_ROW, _NAME, _BELOW, _AXIS, _LINE = 40.0, 24.0, 6.0, 20.0, 20.0
_LEFT, _MARGIN = 12.0, 18.0
_NAMES = 0.44
"""The share of the width that is for names; the rest is for values."""
_END = 4.0
_STEPS = 10
"""Of the whole scale: it begins and ends at one of these."""


class Kind(Enum):
    """Whose share it is, which says how it is drawn."""

    OWN = "own classifier"
    RECIPE = "recipe"
    CHOSEN = "recommended"
    TAKEN = "what the node takes"


@dataclass(frozen=True)
class Whisker:
    """A share and its interval; None where there is none."""

    name: str
    value: float | None
    interval: tuple[float, float] | None
    written: str
    kind: Kind = Kind.RECIPE


@dataclass(frozen=True)
class Group:
    """What is compared with each other; a broken line stands at `mark`."""

    name: str
    rows: Sequence[Whisker]
    mark: float | None = None


def whiskers(groups: Sequence[Group], alt: str, mark: str = "") -> Picture:
    """On one scale of shares; `mark` is what the broken lines are."""

    def draw(width: float) -> Drawing:
        legend = _legend(groups, mark, width)
        scale = _scale(groups, width)
        *tops, bottom = stacked((_tall(group, width) for group in groups), legend.height)
        drawn = (_group(group, top, scale, width) for group, top in zip(groups, tops, strict=True))
        return Drawing(bottom + _AXIS, [*legend.pieces, _axis(scale, legend.height, bottom), *drawn])

    return Picture(alt, draw)


def _scale(groups: Sequence[Group], width: float) -> Scale:
    """Round shares around all that is drawn; not from nothing, because marks have no length that could mislead."""
    rows = [row for group in groups for row in group.rows if row.value is not None]
    shares = [end for row in rows for end in (row.value or 0.0, *(row.interval or ()))]
    shares += [group.mark for group in groups if group.mark is not None]
    low, high = floor(min(shares, default=0.0) * _STEPS), ceil(max(shares, default=1.0) * _STEPS)
    low = min(low, high - 1)
    return Scale(low / _STEPS, high / _STEPS, _LEFT, width - _MARGIN)


def _legend(groups: Sequence[Group], mark: str, width: float) -> Drawing:
    """Only what is in the picture, on as many lines as the width asks for."""
    there = {row.kind for group in groups for row in group.rows}
    entries: list[tuple[str, Kind | None]] = [(kind.value, kind) for kind in Kind if kind in there]
    if mark and any(group.mark is not None for group in groups):
        entries.append((mark, None))
    x, y, pieces = 1.0, 0.0, []
    for name, kind in entries:
        wide = 30 + length(name) * 0.95
        if x > 1 and x + wide > width:
            x, y = 1.0, y + _LINE
        pieces.append(_entry(name, kind, x, y, width))
        x += wide
    return Drawing(y + _LINE + 8, pieces)


def _entry(name: str, kind: Kind | None, x: float, y: float, width: float) -> Markup:
    drawn = _marked(kind, x + 9, y + 10) if kind else line(x + 9, y + 2, x + 9, y + 18, BLACK, 2, "3 2")
    return joined(drawn, text(name, x + 20, y + 15, room=width - x - 22))


def _tall(group: Group, width: float) -> float:
    return _heading(group, width) + sum(_deep(row, width) for row in group.rows) + _BELOW


def _heading(group: Group, width: float) -> float:
    return _NAME + extra(group.name, width - 2, weight="bold") if group.name else 0.0


def _deep(row: Whisker, width: float) -> float:
    return _ROW + max(extra(row.name, _NAMES * width), extra(row.written, (1 - _NAMES) * width - 8))


def _group(group: Group, top: float, scale: Scale, width: float) -> Markup:
    begin = top + _heading(group, width)
    *tops, end = stacked((_deep(row, width) for row in group.rows), begin)
    name = text(group.name, 1, top + 17, weight="bold", room=width - 2) if group.name else ""
    rows = (
        _row(row, y, bottom, group.mark, scale, width)
        for row, y, bottom in zip(group.rows, tops, [*tops[1:], end], strict=True)
    )
    return joined(name, *rows)


def _row(row: Whisker, top: float, bottom: float, mark: float | None, scale: Scale, width: float) -> Markup:
    y = bottom - 12
    return joined(
        text(row.name, 1, top + 14, room=_NAMES * width),
        text(row.written, width - 1, top + 14, anchor="end", room=(1 - _NAMES) * width - 8),
        line(scale.start, y, scale.end, y, PALE),
        line(scale.at(mark), y - 9, scale.at(mark), y + 9, BLACK, 2, "3 2") if mark is not None else "",
        _between(row, y, scale),
        _marked(row.kind, scale.at(row.value), y) if row.value is not None else "",
    )


def _between(row: Whisker, y: float, scale: Scale) -> Markup:
    if row.interval is None or row.value is None:
        return joined()
    low, high = (scale.at(end) for end in row.interval)
    colour = VERMILLION if row.kind is Kind.OWN else BLUE
    ends = (line(x, y - _END, x, y + _END, colour, 2) for x in (low, high))
    return joined(line(low, y, high, y, colour, 3), *ends)


def _marked(kind: Kind, x: float, y: float) -> Markup:
    if kind is Kind.OWN:
        return ring(x, y, VERMILLION, 5)
    return disc(x, y, BLUE, 5) if kind is Kind.RECIPE else diamond(x, y, BLUE if kind is Kind.CHOSEN else WHITE)


def _axis(scale: Scale, top: float, bottom: float) -> Markup:
    return joined(
        *(
            joined(
                line(scale.at(value), top, scale.at(value), bottom, PALE),
                text(f"{100 * value:.3g}%", scale.at(value), bottom + 13, anchor="middle", size=SMALL, colour=GREY),
            )
            for value in scale.ticks()
        ),
    )
