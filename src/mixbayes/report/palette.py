"""Colours that a colour-blind reader can tell apart (Okabe and Ito, 2008), each with a pattern of its own."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.report.markup import Markup, element, joined

BLACK, BLUE, SKY, GREEN = "#000000", "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILLION, PURPLE = "#E69F00", "#D55E00", "#CC79A7"
GREY, PALE, WHITE = "#595959", "#D9D9D9", "#FFFFFF"
_TILE = 6


@dataclass(frozen=True)
class Fill:
    """A colour and what is drawn on it, so that it is told apart on a grey print too."""

    name: str
    colour: str
    ink: str = ""
    drawn: str = ""
    """An SVG path on a tile of six by six."""

    @property
    def paint(self) -> str:
        return f"url(#{self.name})" if self.drawn else self.colour


PLAIN = Fill("plain", BLUE)
STRIPED = Fill("striped", SKY, BLACK, "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2")
DOTTED = Fill("dotted", ORANGE, BLACK, "M2,3 h1.6")
CROSSED = Fill("crossed", WHITE, VERMILLION, "M0,0 l6,6 M0,6 l6,-6")
FILLS = PLAIN, STRIPED, DOTTED, CROSSED


def patterns() -> Markup:
    """What `Fill.paint` refers to: once in a page."""
    return element(
        "svg",
        element("defs", *(_pattern(fill) for fill in FILLS if fill.drawn)),
        width=0,
        height=0,
        class_="patterns",
        aria_hidden="true",
    )


def _pattern(fill: Fill) -> Markup:
    tile = joined(
        element("rect", width=_TILE, height=_TILE, fill=fill.colour),
        element("path", d=fill.drawn, stroke=fill.ink, stroke_width=1, fill="none"),
    )
    return element("pattern", tile, id=fill.name, width=_TILE, height=_TILE, patternUnits="userSpaceOnUse")


def ink_on(colour: str) -> str:
    """Black or white, whichever is read more easily on the colour."""
    light = _luminance(colour)
    return WHITE if (1.05 / (light + 0.05)) > (light + 0.05) / 0.05 else BLACK


def _luminance(colour: str) -> float:
    """How bright it is, from 0 to 1, as the guidelines for accessible pages (WCAG) have it."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def shade(colour: str, amount: float) -> str:
    """White at 0, the colour at 1."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * amount):02X}" for part in parts)
