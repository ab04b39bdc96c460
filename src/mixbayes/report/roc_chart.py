"""ROC curves: what share of either class is given the second one, for every threshold of the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import SMALL, Drawing, Picture, disc, extra, line, moved, path_through, stacked, text
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREEN, GREY, PALE, PURPLE, VERMILLION
from mixbayes.report.scale import Scale

LINES = ((VERMILLION, "7 3"), (BLUE, ""), (GREEN, "2 3"), (PURPLE, "9 3 2 3"), (BLACK, "4 2"), (GREY, "12 3"))
"""Colours with dashes of their own; those of the own classifier first."""
_LEFT, _TOP, _FOOT, _MARGIN = 52.0, 8.0, 24.0, 24.0
_LARGEST = 380.0
_BESIDE = 500.0
"""Where there is so much room, the legend stands beside the curves."""
_SAMPLE = 34.0


@dataclass(frozen=True)
class Curve:
    """Points from nobody to everybody, and what is written of them."""

    name: str
    points: Sequence[tuple[float, float]]
    written: str


def line_of(at: int) -> tuple[str, str]:
    """Its colour and dashes; when all colours have been used, they come again with other dashes."""
    return LINES[at % len(LINES)][0], LINES[(at + at // len(LINES)) % len(LINES)][1]


def roc_chart(curves: Sequence[Curve], across: str, up: str, alt: str) -> Picture:
    """In one square, with the diagonal of a classifier that guesses."""

    def draw(width: float) -> Drawing:
        beside = width > _BESIDE
        side = min((width * 0.62 if beside else width) - _LEFT - _MARGIN, _LARGEST)
        square = _square(curves, across, up, side)
        left = _LEFT + side + 2 * _MARGIN if beside else 0.0
        legend = _legend(curves, width - left)
        if beside:
            return Drawing(
                max(square.height, legend.height), [*square.pieces, moved(left, _up(up, side), *legend.pieces)]
            )
        return Drawing(
            square.height + legend.height + 8, [*square.pieces, moved(left, square.height + 8, *legend.pieces)]
        )

    return Picture(alt, draw)


def _up(up: str, side: float) -> float:
    """The height of what stands above the square."""
    return _TOP + 24 + extra(up, side + _LEFT)


def _square(curves: Sequence[Curve], across: str, up: str, side: float) -> Drawing:
    top = _up(up, side)
    right, above = Scale(0.0, 1.0, _LEFT, _LEFT + side), Scale(0.0, 1.0, top + side, top)
    drawn = (_curve(curve, at, right, above) for at, curve in enumerate(curves))
    name = text(across, _LEFT + side / 2, top + side + _FOOT + 12, anchor="middle", room=side + _LEFT - 4)
    guess = line(right.start, above.start, right.end, above.end, GREY, 1, "1 3")
    height = top + side + _FOOT + 20 + extra(across, side + _LEFT - 4)
    return Drawing(height, [text(up, 1, _TOP + 9, room=side + _LEFT), squared(right, above), guess, *drawn, name])


def squared(right: Scale, above: Scale) -> Markup:
    """Axes of shares, both ways."""
    return joined(
        *(
            joined(
                line(right.at(value), above.start, right.at(value), above.end, PALE),
                line(right.start, above.at(value), right.end, above.at(value), PALE),
                text(f"{value:.0%}", right.at(value), above.start + 15, anchor="middle", size=SMALL, colour=GREY),
                text(f"{value:.0%}", right.start - 5, above.at(value) + 4, anchor="end", size=SMALL, colour=GREY),
            )
            for value in right.ticks()
        ),
        line(right.start, above.start, right.end, above.start),
        line(right.start, above.start, right.start, above.end),
    )


def _curve(curve: Curve, at: int, right: Scale, above: Scale) -> Markup:
    colour, dashes = line_of(at)
    places = [(right.at(x), above.at(y)) for x, y in curve.points]
    if not places:
        return joined()
    dots = (disc(x, y, colour, 2) for x, y in places)
    return joined(path_through(places, colour, dashes, 2), *dots)


def _legend(curves: Sequence[Curve], width: float) -> Drawing:
    room = width - _SAMPLE - 4
    *tops, bottom = stacked((42 + extra(curve.name, room) + extra(curve.written, room) for curve in curves), 0)
    return Drawing(
        bottom, [_named(curve, at, top, room) for at, (curve, top) in enumerate(zip(curves, tops, strict=True))]
    )


def _named(curve: Curve, at: int, top: float, room: float) -> Markup:
    colour, dashes = line_of(at)
    below = top + 29 + extra(curve.name, room)
    return joined(
        line(1, top + 9, _SAMPLE - 8, top + 9, colour, 3, dashes),
        text(curve.name, _SAMPLE, top + 13, room=room),
        text(curve.written, _SAMPLE, below, colour=GREY, room=room),
    )
