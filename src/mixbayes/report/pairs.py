"""Before and after: a ring and a disc on one line for each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import SMALL, Drawing, Picture, disc, extra, line, ring, stacked, text
from mixbayes.report.figures import share
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREY, PALE, VERMILLION
from mixbayes.report.scale import Scale

_ROW = 44.0
HEAD, AXIS = 26.0, 20.0
"""Room for the legend and for the names of the axis."""
LEFT, MARGIN = 10.0, 18.0
_NAMES = 0.58
"""The share of the width that is for names; the rest is for values."""


@dataclass(frozen=True)
class Two:
    """A share of the original and of the release; None where there is none."""

    name: str
    before: float | None
    after: float | None

    @property
    def written(self) -> str:
        return f"{share(self.before)} → {share(self.after)}"


def pairs(rows: Sequence[Two], alt: str) -> Picture:
    """On a scale of shares, with a legend above."""

    def draw(width: float) -> Drawing:
        scale = Scale(0.0, 1.0, LEFT, width - MARGIN)
        *tops, bottom = stacked((_ROW + extra(row.name, _NAMES * width) for row in rows), HEAD)
        drawn = (_row(row, top, scale, width) for row, top in zip(rows, tops, strict=True))
        return Drawing(bottom + AXIS, [legend(), grid(scale, bottom), *drawn])

    return Picture(alt, draw)


def legend() -> Markup:
    """A ring for the original, a disc for the release."""
    return joined(ring(7, 11, VERMILLION), text("original", 18, 15), disc(97, 11, BLUE, 5), text("released", 108, 15))


def grid(scale: Scale, bottom: float) -> Markup:
    """Round shares, from below the legend down to the axis."""
    return joined(
        *(
            joined(
                line(scale.at(value), HEAD, scale.at(value), bottom, PALE),
                text(f"{value:.0%}", scale.at(value), bottom + 13, anchor="middle", size=SMALL, colour=GREY),
            )
            for value in scale.ticks()
        )
    )


def _row(row: Two, y: float, scale: Scale, width: float) -> Markup:
    middle = y + 30 + extra(row.name, _NAMES * width)
    names = joined(
        text(row.name, 1, y + 15, room=_NAMES * width),
        text(row.written, width - 1, y + 15, anchor="end", weight="bold"),
    )
    if row.before is None and row.after is None:
        return names
    between = (
        line(scale.at(row.before), middle, scale.at(row.after), middle, BLACK, 2)
        if row.before is not None and row.after is not None
        else ""
    )
    # The disc fits into the ring: both are seen where they are equal.
    return joined(
        names,
        line(scale.start, middle, scale.end, middle, PALE),
        between,
        ring(scale.at(row.before), middle, VERMILLION, 6.5) if row.before is not None else "",
        disc(scale.at(row.after), middle, BLUE, 4) if row.after is not None else "",
    )
