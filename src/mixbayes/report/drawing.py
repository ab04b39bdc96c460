"""The pieces that all pictures are made of.

A picture is 360 units wide, the width of a small phone: there its letters are as large as those of the text, and on
anything wider it grows with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from mixbayes.report.markup import Markup, element
from mixbayes.report.palette import BLACK, GREY, WHITE

WIDTH = 360.0
LETTERS = 13.0
SMALL = 11.5
_NARROW, _BROAD = set("ijltfrI.,:;'!|()[] -"), set("mwMW@%")


def picture(height: float, alt: str, *pieces: str) -> Markup:
    """An image with the words for who cannot see it."""
    return element("svg", *pieces, viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=alt)


def text(
    words: str,
    x: float,
    y: float,
    *,
    anchor: str = "start",
    size: float = LETTERS,
    colour: str = BLACK,
    weight: str | None = None,
    room: float = WIDTH,
    halo: bool = True,
) -> Markup:
    """One line, cut to the room that there is; with a halo it is read across whatever lies behind it."""
    cut = fitting(words, room, size)
    kind = "halo" if halo else None
    return element(
        "text", cut, x=x, y=y, text_anchor=anchor, font_size=size, fill=colour, font_weight=weight, class_=kind
    )


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


def path_through(points: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> Markup:
    """Straight from point to point."""
    d = "M" + " L".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return element("path", d=d, fill="none", stroke=colour, stroke_width=1.5, stroke_dasharray=dashes or None)


def fitting(words: str, room: float, size: float = LETTERS) -> str:
    """As much of the words as fits, and three dots in place of the rest."""
    if _width(words, size) <= room:
        return words
    room -= _width("…", size)
    kept = 0
    while kept < len(words) and (room := room - _width(words[kept], size)) >= 0:
        kept += 1
    return words[:kept].rstrip() + "…"


def _width(words: str, size: float) -> float:
    """At most, in the usual fonts without serifs."""
    return size * sum(map(_em, words))


def _em(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.1
    if letter in _NARROW:
        return 0.42
    return 0.98 if letter in _BROAD else 0.76 if letter.isupper() else 0.64
