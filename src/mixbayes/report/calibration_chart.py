"""What was predicted against what was found, and of how many patients that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.evaluation.intervals import wilson
from mixbayes.report.drawing import SMALL, Drawing, Picture, box, disc, extra, line, moved, text
from mixbayes.report.evaluation_document import Bin
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLUE, GREY, PALE, SKY
from mixbayes.report.roc_chart import squared
from mixbayes.report.scale import Scale, up_to

_LEFT, _MARGIN, _FOOT, _BARS, _LARGEST = 52.0, 24.0, 24.0, 56.0, 300.0
_TITLE, _NAME = 18.0, 24.0
_GAP = 28.0
_BESIDE = 500.0
"""Where there is so much room, two of them stand side by side."""
_THIN = 2.0


@dataclass(frozen=True)
class Calibrated:
    """One recipe: its bins of probability."""

    name: str
    bins: Sequence[Bin]


def calibration_chart(all_of: Sequence[Calibrated], across: str, up: str, alt: str) -> Picture:
    """For each a square with the diagonal of a classifier that is right at its word, and bars of the patients below."""

    def draw(width: float) -> Drawing:
        beside = 2 if width > _BESIDE and len(all_of) > 1 else 1
        each = (width - _GAP * (beside - 1)) / beside
        drawn = [_one(one, across, up, each) for one in all_of]
        pieces, top = [], 0.0
        for first in range(0, len(drawn), beside):
            row = drawn[first : first + beside]
            pieces += [moved((each + _GAP) * at, top, *one.pieces) for at, one in enumerate(row)]
            top += max(one.height for one in row) + _GAP
        return Drawing(top - _GAP, pieces)

    return Picture(alt, draw)


def _one(one: Calibrated, across: str, up: str, width: float) -> Drawing:
    side = min(width - _LEFT - _MARGIN, _LARGEST)
    named = _TITLE + extra(one.name, width - 2, weight="bold")
    top = named + _NAME + extra(up, width - 2, SMALL)
    right, above = Scale(0.0, 1.0, _LEFT, _LEFT + side), Scale(0.0, 1.0, top + side, top)
    under = top + side + _FOOT + _NAME
    bars = _bars(one.bins, right, under)
    bottom = under + _BARS + 8
    middle = _LEFT + side / 2
    room = 2 * min(middle, width - middle) - 4
    name = text(across, middle, bottom + 12, anchor="middle", size=SMALL, room=room)
    return Drawing(
        bottom + 18 + extra(across, room, SMALL),
        [
            text(one.name, 1, 13, weight="bold", room=width - 2),
            text(up, 1, named + 11, size=SMALL, colour=GREY, room=width - 2),
            squared(right, above),
            line(right.start, above.start, right.end, above.end, GREY, 1, "1 3"),
            *(_spot(each, right, above) for each in one.bins),
            bars,
            name,
        ],
    )


def _spot(one: Bin, right: Scale, above: Scale) -> Markup:
    """As wide as the bin, as high as the interval of what was found."""
    if one.share is None or not one.rows:
        return joined()
    x, y = _middle(one, right), above.at(one.share)
    low, high = wilson(round(one.share * one.rows), one.rows)
    return joined(
        line(right.at(one.low), y, right.at(one.high), y, BLUE, 2),
        line(x, above.at(low), x, above.at(high), BLUE, 1.5),
        disc(x, y, BLUE, 3.5),
    )


def _middle(one: Bin, right: Scale) -> float:
    return (right.at(one.low) + right.at(one.high)) / 2


def _bars(bins: Sequence[Bin], right: Scale, top: float) -> Markup:
    """How many patients there are, with whole numbers at the side."""
    scale = up_to(max((one.rows for one in bins), default=0), top + _BARS, top)
    ticks = scale.ticks(2, whole=True)
    return joined(
        text("patients", 1, top - 6, size=SMALL, colour=GREY),
        *(line(right.start, scale.at(value), right.end, scale.at(value), PALE) for value in ticks),
        *(
            text(f"{value:,.0f}", right.start - 5, scale.at(value) + 4, anchor="end", size=SMALL, colour=GREY)
            for value in ticks
        ),
        *(_bar(one, right, scale) for one in bins),
    )


def _bar(one: Bin, right: Scale, scale: Scale) -> Markup:
    left, end = right.at(one.low), right.at(one.high)
    wide = max(end - left, _THIN)
    middle = (left + end) / 2
    return box(middle - wide / 2, scale.at(one.rows), wide, scale.start - scale.at(one.rows), SKY, BLUE)
