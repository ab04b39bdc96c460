"""Values against a setting, one panel for each kind of value below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import LETTERS, SMALL, WIDTH, diamond, disc, line, path_through, picture, ring, text
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREY, PALE, PURPLE, VERMILLION
from mixbayes.report.scale import Scale, around

_LEFT, _RIGHT = 52.0, WIDTH - 14
_TITLE, _PLOT, _FOOT, _AXIS_NAME = 30.0, 130.0, 24.0, 18.0
_TALLER = 1.3 * _PLOT


@dataclass(frozen=True)
class Spot:
    """A place in a panel; the one that was chosen is marked."""

    x: float
    y: float
    name: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Panel:
    """What is measured, in the order of the setting, and how its values are written."""

    name: str
    spots: Sequence[Spot]
    tick: Callable[[float], str] = "{:.3g}".format


def against_setting(panels: Sequence[Panel], setting: str, alt: str) -> Markup:
    """Discs in the first panel, rings in the second, joined by lines."""
    across = around((spot.x for panel in panels for spot in panel.spots), _LEFT, _RIGHT)
    height = _TITLE + _PLOT + _FOOT
    drawn = [_panel(panel, across, height * number, number) for number, panel in enumerate(panels)]
    return picture(height * len(panels) + _AXIS_NAME, alt, *drawn, _axis_name(setting, height * len(panels)))


def against_each_other(panel: Panel, across: str, alt: str) -> Markup:
    """One value against another, each spot a disc, with names for the chosen one and the two ends."""
    scale = around((spot.x for spot in panel.spots), _LEFT, _RIGHT)
    up = around((spot.y for spot in panel.spots), _TITLE + _TALLER, _TITLE)
    height = _TITLE + _TALLER + _FOOT
    spots = sorted(panel.spots, key=lambda spot: spot.chosen)
    return picture(
        height + _AXIS_NAME,
        alt,
        _frame(panel, scale, up, 0),
        *(_spot(spot, scale, up, 0) for spot in spots),
        *_names(panel.spots, scale, up),
        _axis_name(across, height),
    )


def _panel(panel: Panel, across: Scale, top: float, number: int) -> Markup:
    up = around((spot.y for spot in panel.spots), top + _TITLE + _PLOT, top + _TITLE)
    places = [(across.at(spot.x), up.at(spot.y)) for spot in panel.spots]
    colour, dashes = ((BLUE, ""), (PURPLE, "5 3"))[number % 2]
    return joined(
        _frame(panel, across, up, top),
        path_through(places, colour, dashes),
        *(_spot(spot, across, up, number) for spot in panel.spots),
    )


def _frame(panel: Panel, across: Scale, up: Scale, top: float) -> Markup:
    """Axes with round values, and the name of what is measured above them."""
    columns = [
        joined(
            line(across.at(value), up.start, across.at(value), up.end, PALE),
            text(f"{value:.4g}", across.at(value), up.start + 15, anchor="middle", size=SMALL, colour=GREY),
        )
        for value in across.ticks()
    ]
    rows = [
        joined(
            line(_LEFT, up.at(value), _RIGHT, up.at(value), PALE),
            text(panel.tick(value), _LEFT - 5, up.at(value) + 4, anchor="end", size=SMALL, colour=GREY),
        )
        for value in up.ticks()
    ]
    axes = joined(line(_LEFT, up.start, _RIGHT, up.start), line(_LEFT, up.start, _LEFT, up.end))
    return joined(*columns, *rows, axes, text(panel.name, 1, top + 13, size=LETTERS, weight="bold"))


def _spot(spot: Spot, across: Scale, up: Scale, number: int) -> Markup:
    x, y = across.at(spot.x), up.at(spot.y)
    if spot.chosen:
        return diamond(x, y, VERMILLION)
    return ring(x, y, PURPLE) if number % 2 else disc(x, y, BLUE)


def _names(spots: Sequence[Spot], across: Scale, up: Scale) -> list[Markup]:
    """Of the chosen one, and of the ends where they are not under it."""
    ends = (min(spots, key=lambda spot: spot.x), max(spots, key=lambda spot: spot.x))
    told: list[Spot] = []
    for spot in (*(spot for spot in spots if spot.chosen), *ends):
        if spot.name and all(_apart(spot, other, across, up) for other in told):
            told.append(spot)
    return [_name(spot, across, up) for spot in told]


def _apart(one: Spot, other: Spot, across: Scale, up: Scale) -> bool:
    return abs(up.at(one.y) - up.at(other.y)) > 16 or abs(across.at(one.x) - across.at(other.x)) > 150


def _name(spot: Spot, across: Scale, up: Scale) -> Markup:
    x, y = across.at(spot.x), up.at(spot.y)
    on_the_left = x > (_LEFT + _RIGHT) / 2
    return text(
        spot.name,
        x + 6 if on_the_left else x - 6,
        y - 11,
        anchor="end" if on_the_left else "start",
        size=SMALL,
        colour=BLACK,
        weight="bold" if spot.chosen else None,
        room=150,
    )


def _axis_name(name: str, top: float) -> Markup:
    return text(name, (_LEFT + _RIGHT) / 2, top + 10, anchor="middle", size=SMALL + 0.5, room=WIDTH - _LEFT)
