"""Before and after: a ring and a disc on one line for each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import SMALL, WIDTH, disc, line, picture, ring, text
from mixbayes.report.figures import share
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREY, PALE, VERMILLION
from mixbayes.report.scale import Scale

_ROW = 44.0
HEAD, AXIS = 26.0, 20.0
"""Room for the legend and for the names of the axis."""
LEFT, RIGHT = 10.0, WIDTH - 18


@dataclass(frozen=True)
class Two:
    """A share of the original and of the release; None where there is none."""

    name: str
    before: float | None
    after: float | None

    @property
    def written(self) -> str:
        return f"{share(self.before)} → {share(self.after)}"


def pairs(rows: Sequence[Two], alt: str) -> Markup:
    """On a scale of shares, with a legend above."""
    scale = Scale(0.0, 1.0, LEFT, RIGHT)
    bottom = HEAD + _ROW * len(rows)
    drawn = (_row(row, HEAD + _ROW * number, scale) for number, row in enumerate(rows))
    return picture(bottom + AXIS, alt, legend(), grid(scale, bottom), *drawn)


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


def _row(row: Two, y: float, scale: Scale) -> Markup:
    middle = y + 30
    names = joined(
        text(row.name, 1, y + 15, room=210), text(row.written, WIDTH - 1, y + 15, anchor="end", weight="bold")
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
        line(LEFT, middle, RIGHT, middle, PALE),
        between,
        ring(scale.at(row.before), middle, VERMILLION, 6.5) if row.before is not None else "",
        disc(scale.at(row.after), middle, BLUE, 4) if row.after is not None else "",
    )
