"""Who sends whom how much: a lane for each, as thick as what goes along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from mixbayes.report.drawing import LETTERS, SMALL, Drawing, Picture, box, extra, line, stacked, text
from mixbayes.report.figures import size
from mixbayes.report.markup import Markup, element, joined
from mixbayes.report.palette import BLACK, BLUE, WHITE

_LANE, _TALL = 46.0, 26.0
_BOX = 0.28
"""The share of the width that is for each end."""
_HEAD = 9.0


@dataclass(frozen=True)
class Lane:
    """From whom to whom, what it is, and its bytes; both ways where it is a conversation."""

    sender: str
    receiver: str
    what: str
    bytes: int
    both_ways: bool


def lanes(flows: Sequence[Lane], alt: str) -> Picture:
    """One below the other. Ten times as many bytes make the arrow one step thicker."""

    def draw(width: float) -> Drawing:
        *tops, bottom = stacked((_LANE - _TALL + _tall(flow, width) for flow in flows), 2)
        return Drawing(bottom, [_lane(flow, top, width) for flow, top in zip(flows, tops, strict=True)])

    return Picture(alt, draw)


def _tall(flow: Lane, width: float) -> float:
    """Of the boxes at its ends, with their names whole."""
    return _TALL + max(extra(name, _BOX * width - 8) for name in (flow.sender, flow.receiver))


def _lane(flow: Lane, y: float, width: float) -> Markup:
    tall = _tall(flow, width)
    return joined(
        text(f"{flow.what}: {size(flow.bytes)}", width / 2, y + 10, anchor="middle", size=SMALL + 0.5),
        _end(flow.sender, 1, y + 15, tall, width),
        _arrow(flow, y + 15 + tall / 2, width),
        _end(flow.receiver, width - _BOX * width - 1, y + 15, tall, width),
    )


def _end(name: str, x: float, top: float, tall: float, width: float) -> Markup:
    wide = _BOX * width
    baseline = top + (tall - extra(name, wide - 8)) / 2 + LETTERS / 3
    return joined(
        box(x, top, wide, tall, WHITE),
        text(name, x + wide / 2, baseline, anchor="middle", room=wide - 8),
    )


def _arrow(flow: Lane, y: float, width: float) -> Markup:
    left, right = _BOX * width + 5, width - _BOX * width - 5
    begin = left + _HEAD if flow.both_ways else left
    shaft = line(begin, y, right - _HEAD, y, BLUE, _thickness(flow.bytes), "" if flow.bytes else "2 3")
    heads = [_head(right, y, -_HEAD), *([_head(left, y, _HEAD)] if flow.both_ways else [])]
    return joined(shaft, *heads)


def _thickness(count: int) -> float:
    return 1 + log10(max(count, 1))


def _head(x: float, y: float, back: float) -> Markup:
    return element("path", d=f"M{x:.1f},{y:.1f} l{back},-8 v16 z", fill=BLACK)
