"""The pieces that all pictures are made of.

A picture is drawn for a phone, 360 units wide, and for a desk, 640 units wide; the page shows the one that is nearer to
the width of its column. So letters are about as large as those of the text on either, and names have the room that
there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from math import inf
from unicodedata import east_asian_width

from mixbayes.report.markup import Markup, element
from mixbayes.report.palette import BLACK, GREY, WHITE

NARROW, WIDE = 360.0, 640.0
LETTERS = 13.0
SMALL = 11.5
_LEADING = 1.25
"""From line to line, in sizes of the letters."""
BOLD = 1.12
"""So much wider are bold letters."""
_AT_COLONS = re.compile("[^:]+:*|:+")
_NARROW_LETTERS, _BROAD = set("ijltfrI.,:;'!|()[] -"), set("mwMW@%")


@dataclass(frozen=True)
class Drawing:
    """Pieces, and how high all of them are together."""

    height: float
    pieces: Sequence[str]


@dataclass(frozen=True)
class Picture:
    """What is drawn on a given width, and the words for who cannot see it."""

    alt: str
    draw: Callable[[float], Drawing]

    def at(self, width: float, kind: str | None = None) -> Markup:
        """As an image."""
        drawn = self.draw(width)
        box = f"0 0 {width:g} {drawn.height:g}"
        return element("svg", *drawn.pieces, viewBox=box, role="img", aria_label=self.alt, class_=kind)


def text(
    words: str,
    x: float,
    y: float,
    *,
    anchor: str = "start",
    size: float = LETTERS,
    colour: str = BLACK,
    weight: str | None = None,
    room: float = inf,
    halo: bool = True,
) -> Markup:
    """Whole, on as many lines as the room asks for; with a halo it is read across whatever lies behind it."""
    written = lines(words, room, _size(size, weight))
    shown = (
        written
        if len(written) == 1
        else [element("tspan", each, x=x, y=y + at * size * _LEADING) for at, each in enumerate(written)]
    )
    kind = "halo" if halo else None
    return element(
        "text", *shown, x=x, y=y, text_anchor=anchor, font_size=size, fill=colour, font_weight=weight, class_=kind
    )


def extra(words: str, room: float, size: float = LETTERS, weight: str | None = None) -> float:
    """The height of the lines after the first one."""
    return (len(lines(words, room, _size(size, weight))) - 1) * size * _LEADING


def lines(words: str, room: float, size: float = LETTERS) -> list[str]:
    """The words on lines that fit, broken between words and behind colons; a longer part alone is broken in itself."""
    found = [""]
    for word in words.split():
        for glue, part in zip(chain(" ", repeat("")), _AT_COLONS.findall(word), strict=False):
            longer = (found[-1] + glue + part).lstrip()
            if length(longer, size) <= room:
                found[-1] = longer
            else:
                found += _broken(part, room, size)
    return [line for line in found if line] or [""]


def _broken(word: str, room: float, size: float) -> list[str]:
    """A word in parts that fit, of a letter at least."""
    parts = [""]
    for letter in word:
        if parts[-1] and length(parts[-1] + letter, size) > room:
            parts.append("")
        parts[-1] += letter
    return parts


def moved(x: float, y: float, *pieces: str) -> Markup:
    """Pieces that were drawn at the upper left corner, elsewhere."""
    return element("g", *pieces, transform=f"translate({x:.2f},{y:.2f})")


def stacked(heights: Iterable[float], top: float = 0.0) -> list[float]:
    """Where things of these heights begin, one below the other, and where the last one ends."""
    return list(accumulate(heights, initial=top))


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GREY, width: float = 1, dashes: str = "") -> Markup:
    return element(
        "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, stroke_dasharray=dashes or None
    )


def box(x: float, y: float, width: float, height: float, fill: str, outline: str | None = BLACK) -> Markup:
    return element("rect", x=x, y=y, width=max(width, 0), height=height, fill=fill, stroke=outline)


def disc(x: float, y: float, colour: str, radius: float = 4) -> Markup:
    return element("circle", cx=x, cy=y, r=radius, fill=colour, stroke=BLACK)


def ring(x: float, y: float, colour: str, radius: float = 4.5) -> Markup:
    return element("circle", cx=x, cy=y, r=radius, fill=WHITE, stroke=colour, stroke_width=2)


def diamond(x: float, y: float, colour: str, radius: float = 7) -> Markup:
    return element(
        "path",
        d=f"M{x:.2f},{y - radius:.2f} l{radius},{radius} l-{radius},{radius} l-{radius},-{radius} z",
        fill=colour,
        stroke=BLACK,
    )


def path_through(
    points: Sequence[tuple[float, float]], colour: str, dashes: str = "", thickness: float = 1.5
) -> Markup:
    """Straight from point to point."""
    d = "M" + " L".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return element("path", d=d, fill="none", stroke=colour, stroke_width=thickness, stroke_dasharray=dashes or None)


def fitting(words: str, room: float, size: float = LETTERS) -> str:
    """As much of the words as fits, and three dots in place of the rest: beside a spot, whose table has it whole."""
    if length(words, size) <= room:
        return words
    room -= length("…", size)
    kept = 0
    while kept < len(words) and (room := room - length(words[kept], size)) >= 0:
        kept += 1
    return words[:kept].rstrip() + "…"


def length(words: str, size: float = LETTERS) -> float:
    """At most, in the usual fonts without serifs."""
    return size * sum(map(_em, words))


def _size(size: float, weight: str | None) -> float:
    return size * (BOLD if weight else 1)


def _em(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.1
    if letter in _NARROW_LETTERS:
        return 0.42
    return 0.98 if letter in _BROAD else 0.76 if letter.isupper() else 0.64
