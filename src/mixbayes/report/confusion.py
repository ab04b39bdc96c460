"""Which classes are taken for which: a square of counts, or a bar for each class where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.report.bars import Bar, bars
from mixbayes.report.drawing import LETTERS, SMALL, Drawing, Picture, box, extra, length, lines, moved, text
from mixbayes.report.figures import share
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLUE, GREY, PALE, VERMILLION, ink_on, shade

MOST_SQUARES = 8
UNSURE = "unsure"
_TALLEST, _SHORTEST = 60.0, 26.0
_NAMES = 0.42
"""At most this share of the width is for the names of the rows."""
_MOST_LINES = 4
"""Above a column; names that need more are replaced by numbers, which stand before the names of the rows."""
_GAP = 24.0
_BESIDE = 500.0
"""Where there is so much room, squares of few classes stand in twos."""
_FEW = 3
_SMALLEST = 9.5
"""Letters of a count."""

Counts = Sequence[Sequence[int]]


def confusion(classes: Sequence[str], counts: Counts, alt: str) -> Picture:
    """`counts[i][j]` rows of class i were labelled j; in one column more there are those who got no label."""
    if len(classes) > MOST_SQUARES:
        return bars(
            [_recall(name, row, at) for at, (name, row) in enumerate(zip(classes, counts, strict=True))],
            alt,
            most=1.0,
            tick="{:.0%}".format,
        )
    return confusions(classes, [("", counts)], alt)


def confusions(classes: Sequence[str], named: Sequence[tuple[str, Counts]], alt: str) -> Picture:
    """One square for each name, of at most so many classes as squares are drawn of."""

    def draw(width: float) -> Drawing:
        beside = 2 if width > _BESIDE and len(classes) <= _FEW and len(named) > 1 else 1
        each = (width - _GAP * (beside - 1)) / beside
        drawn = [_Square(classes, counts, name, each).drawing() for name, counts in named]
        pieces, top = [], 0.0
        for first in range(0, len(drawn), beside):
            row = drawn[first : first + beside]
            pieces += [moved((each + _GAP) * at, top, *one.pieces) for at, one in enumerate(row)]
            top += max(one.height for one in row) + _GAP
        return Drawing(top - _GAP, pieces)

    return Picture(alt, draw)


def answers(classes: Sequence[str], counts: Counts) -> list[str]:
    """What can be answered: the classes, and unsure if there is a column for it."""
    return [*classes, *([UNSURE] if any(len(row) > len(classes) for row in counts) else [])]


def _recall(name: str, row: Sequence[int], at: int) -> Bar:
    total = sum(row)
    right = row[at] / total if total else None
    return Bar(name, right, f"{share(right)} ({row[at]:,} of {total:,})" if total else "no row")


@dataclass(frozen=True)
class _Square:
    """Counts by true class and label given, with the names of both."""

    classes: Sequence[str]
    counts: Counts
    name: str
    width: float

    def drawing(self) -> Drawing:
        heights = [self._tall(at) for at in range(len(self.classes))]
        tops = [self._head + sum(heights[:at]) for at in range(len(heights))]
        bottom = self._head + sum(heights)
        rows = (self._row_name(at, tops[at], heights[at]) for at in range(len(self.classes)))
        squares = (
            self._cell(count, sum(row), i == j, self._left(j), tops[i], heights[i])
            for i, row in enumerate(self.counts)
            for j, count in enumerate(row)
        )
        # The frames of the right ones lie over their neighbours'.
        frames = (box(self._left(i), tops[i], self._side, heights[i], "none") for i in range(len(self.classes)))
        return Drawing(bottom + 4, [*self._titles(), *rows, *self._heads(), *squares, *map(_thick, frames)])

    @property
    def _answers(self) -> list[str]:
        return answers(self.classes, self.counts)

    @property
    def _margin(self) -> float:
        """Room for the names of the rows."""
        return min(max(80.0, *(length(name) + 34 for name in self.classes)), _NAMES * self.width)

    @property
    def _side(self) -> float:
        return (self.width - self._margin - 2) / len(self._answers)

    @property
    def _numbered(self) -> bool:
        """Whether the columns have no room for their names."""
        room = self._side - 6
        return any(
            len(lines(name, room)) > _MOST_LINES or any(length(word) > room for word in name.split())
            for name in self._answers
        )

    @property
    def _written(self) -> list[str]:
        """Above the columns."""
        return [str(at) for at in range(1, len(self._answers) + 1)] if self._numbered else self._answers

    @property
    def _top(self) -> float:
        return 18 + extra(self.name, self.width, weight="bold") if self.name else 0.0

    @property
    def _head(self) -> float:
        return self._top + 40 + max(extra(name, self._side - 4) for name in self._written)

    def _left(self, column: int) -> float:
        return self._margin + column * self._side

    def _tall(self, at: int) -> float:
        usual = max(min(self._side, _TALLEST), _SHORTEST)
        return max(usual, extra(self._row_words(at), self._margin - 8) + LETTERS + 10)

    def _row_words(self, at: int) -> str:
        return f"{at + 1}: {self.classes[at]}" if self._numbered else self.classes[at]

    def _titles(self) -> list[Markup]:
        middle = self._margin + (self.width - self._margin) / 2
        named = [text(self.name, 1, 13, weight="bold", room=self.width)] if self.name else []
        return [
            *named,
            text(self._label_given, middle, self._top + 13, anchor="middle", size=SMALL, colour=GREY),
            text("true class", 1, self._head - 7, size=SMALL, colour=GREY),
        ]

    @property
    def _label_given(self) -> str:
        unsure = self._numbered and len(self._answers) > len(self.classes)
        return f"label given ({len(self._answers)}: {UNSURE})" if unsure else "label given"

    def _heads(self) -> list[Markup]:
        """With the last lines just above the squares."""
        found = []
        for at, name in enumerate(self._written):
            room = self._side - 4
            x, y = self._left(at) + self._side / 2, self._head - 7 - extra(name, room)
            found.append(text(name, x, y, anchor="middle", room=room))
        return found

    def _row_name(self, at: int, top: float, height: float) -> Markup:
        words, room = self._row_words(at), self._margin - 8
        return text(words, 1, top + height / 2 + 4 - extra(words, room) / 2, room=room)

    def _cell(self, count: int, total: int, right: bool, x: float, y: float, height: float) -> Markup:
        amount = count / total if total else 0.0
        written = f"{count:,}"
        colour = shade(BLUE if right else VERMILLION, amount)
        size = max(min(LETTERS, LETTERS * (self._side - 2) / length(written)), _SMALLEST)
        return joined(
            box(x, y, self._side, height, colour, PALE),
            text(
                written,
                x + self._side / 2,
                y + height / 2 + 4.5,
                anchor="middle",
                size=size,
                colour=ink_on(colour),
                halo=False,
                weight="bold" if right else None,
            ),
        )


def _thick(frame: Markup) -> Markup:
    return Markup(f'<g stroke-width="2.5">{frame}</g>')
