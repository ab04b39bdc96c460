"""Which classes are taken for which: a square of counts, or a bar for each class where there are many."""

from __future__ import annotations

from collections.abc import Sequence

from mixbayes.report.bars import Bar, bars
from mixbayes.report.drawing import SMALL, WIDTH, box, picture, text
from mixbayes.report.figures import share
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREY, PALE, VERMILLION, WHITE, shade

MOST_SQUARES = 8
_NAMED = 3
"""So many columns have room for the names of their classes."""
_MARGIN, _HEAD, _TALLEST = 104.0, 40.0, 60.0


def confusion(classes: Sequence[str], counts: Sequence[Sequence[int]], alt: str) -> Markup:
    """`counts[i][j]` rows of class i were labelled j."""
    if len(classes) > MOST_SQUARES:
        return bars(
            [_recall(name, row, at) for at, (name, row) in enumerate(zip(classes, counts, strict=True))],
            alt,
            most=1.0,
            tick="{:.0%}".format,
        )
    side = (WIDTH - _MARGIN - 2) / len(classes)
    tall = min(side, _TALLEST)
    squares = [
        _square(count, sum(row), i == j, _MARGIN + j * side, _HEAD + i * tall, side, tall)
        for i, row in enumerate(counts)
        for j, count in enumerate(row)
    ]
    rows = (_row_name(name, at, _HEAD + (at + 0.5) * tall, len(classes)) for at, name in enumerate(classes))
    heads = (_head(name, at, _MARGIN + (at + 0.5) * side, side, len(classes)) for at, name in enumerate(classes))
    titles = (
        text("label given", _MARGIN + (WIDTH - _MARGIN) / 2, 13, anchor="middle", size=SMALL, colour=GREY),
        text("true class", 1, _HEAD - 7, size=SMALL, colour=GREY),
    )
    # The frames of the right ones lie over their neighbours'.
    frames = (box(_MARGIN + i * side, _HEAD + i * tall, side, tall, "none") for i in range(len(classes)))
    return picture(_HEAD + tall * len(classes) + 4, alt, *titles, *rows, *heads, *squares, *map(_thick, frames))


def _recall(name: str, row: Sequence[int], at: int) -> Bar:
    total = sum(row)
    right = row[at] / total if total else None
    return Bar(name, right, f"{share(right)} ({row[at]:,} of {total:,})" if total else "no row")


def _square(count: int, total: int, right: bool, x: float, y: float, width: float, height: float) -> Markup:
    amount = count / total if total else 0.0
    colour = shade(BLUE if right else VERMILLION, amount)
    ink = WHITE if amount > 0.6 else BLACK
    return joined(
        box(x, y, width, height, colour, PALE),
        text(
            f"{count:,}",
            x + width / 2,
            y + height / 2 + 4.5,
            anchor="middle",
            colour=ink,
            room=width,
            halo=False,
            weight="bold" if right else None,
        ),
    )


def _row_name(name: str, at: int, y: float, classes: int) -> Markup:
    numbered = name if classes <= _NAMED else f"{at + 1}  {name}"
    return text(numbered, 1, y + 4, room=_MARGIN - 6)


def _head(name: str, at: int, x: float, side: float, classes: int) -> Markup:
    return text(name if classes <= _NAMED else str(at + 1), x, _HEAD - 7, anchor="middle", room=side - 4)


def _thick(frame: Markup) -> Markup:
    return Markup(f'<g stroke-width="2.5">{frame}</g>')
