"""Who sends whom how much: a lane for each, as thick as what goes along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from mixbayes.report.drawing import SMALL, WIDTH, box, line, picture, text
from mixbayes.report.figures import size
from mixbayes.report.markup import Markup, element, joined
from mixbayes.report.palette import BLACK, BLUE, WHITE

_LANE, _BOX, _TALL = 46.0, 100.0, 26.0
_HEAD = 9.0


@dataclass(frozen=True)
class Lane:
    """From whom to whom, what it is, and its bytes; both ways where it is a conversation."""

    sender: str
    receiver: str
    what: str
    bytes: int
    both_ways: bool


def lanes(flows: Sequence[Lane], alt: str) -> Markup:
    """One below the other. Ten times as many bytes make the arrow one step thicker."""
    return picture(_LANE * len(flows) + 2, alt, *(_lane(flow, 2 + _LANE * number) for number, flow in enumerate(flows)))


def _lane(flow: Lane, y: float) -> Markup:
    middle = y + 15 + _TALL / 2
    return joined(
        text(f"{flow.what}: {size(flow.bytes)}", WIDTH / 2, y + 10, anchor="middle", size=SMALL + 0.5),
        _end(flow.sender, 1, middle),
        _arrow(flow, middle),
        _end(flow.receiver, WIDTH - _BOX - 1, middle),
    )


def _end(name: str, x: float, middle: float) -> Markup:
    return joined(
        box(x, middle - _TALL / 2, _BOX, _TALL, WHITE),
        text(name, x + _BOX / 2, middle + 4, anchor="middle", room=_BOX - 6),
    )


def _arrow(flow: Lane, y: float) -> Markup:
    left, right = _BOX + 5, WIDTH - _BOX - 5
    begin = left + _HEAD if flow.both_ways else left
    shaft = line(begin, y, right - _HEAD, y, BLUE, _thickness(flow.bytes), "" if flow.bytes else "2 3")
    heads = [_head(right, y, -_HEAD), *([_head(left, y, _HEAD)] if flow.both_ways else [])]
    return joined(shaft, *heads)


def _thickness(count: int) -> float:
    return 1 + log10(max(count, 1))


def _head(x: float, y: float, back: float) -> Markup:
    return element("path", d=f"M{x:.1f},{y:.1f} l{back},-8 v16 z", fill=BLACK)
