"""Values against a setting, one panel for each kind of value below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mixbayes.report.drawing import (
    LETTERS,
    SMALL,
    Drawing,
    Picture,
    diamond,
    disc,
    extra,
    fitting,
    line,
    path_through,
    ring,
    stacked,
    text,
)
from mixbayes.report.markup import Markup, joined
from mixbayes.report.palette import BLACK, BLUE, GREY, PALE, PURPLE, VERMILLION
from mixbayes.report.scale import Scale, around

_LEFT, _MARGIN = 52.0, 14.0
_TITLE, _PLOT, _FOOT, _AXIS_NAME = 30.0, 130.0, 24.0, 18.0
_TALLER = 1.3 * _PLOT
_BESIDE = 0.42
"""The share of the width that the name of a spot may take."""


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
    whole: bool = False
    """Whether there is nothing between two whole numbers."""


def against_setting(panels: Sequence[Panel], setting: str, alt: str, whole: bool = False) -> Picture:
    """Discs in the first panel, rings in the second, joined by lines; `whole` is of the settings."""

    def draw(width: float) -> Drawing:
        across = around((spot.x for panel in panels for spot in panel.spots), _LEFT, width - _MARGIN)
        *tops, bottom = stacked(_title(panel, width) + _PLOT + _FOOT for panel in panels)
        drawn = [
            _panel(panel, across, top, number, whole, width)
            for number, (panel, top) in enumerate(zip(panels, tops, strict=True))
        ]
        return Drawing(bottom + _named(setting, width), [*drawn, _axis_name(setting, bottom, width)])

    return Picture(alt, draw)


def against_each_other(panel: Panel, across: str, alt: str, whole: bool = False) -> Picture:
    """One value against another, each spot a disc, with names for the chosen one and the two ends."""

    def draw(width: float) -> Drawing:
        scale = around((spot.x for spot in panel.spots), _LEFT, width - _MARGIN)
        top = _title(panel, width)
        up = around((spot.y for spot in panel.spots), top + _TALLER, top)
        bottom = top + _TALLER + _FOOT
        spots = sorted(panel.spots, key=lambda spot: spot.chosen)
        return Drawing(
            bottom + _named(across, width),
            [
                _frame(panel, scale, up, 0, whole, width),
                *(_spot(spot, scale, up, 0) for spot in spots),
                *_names(panel.spots, scale, up, width),
                _axis_name(across, bottom, width),
            ],
        )

    return Picture(alt, draw)


def _title(panel: Panel, width: float) -> float:
    return _TITLE + extra(panel.name, width - 2, weight="bold")


def _panel(panel: Panel, across: Scale, top: float, number: int, whole: bool, width: float) -> Markup:
    begin = top + _title(panel, width)
    up = around((spot.y for spot in panel.spots), begin + _PLOT, begin)
    places = [(across.at(spot.x), up.at(spot.y)) for spot in panel.spots]
    colour, dashes = ((BLUE, ""), (PURPLE, "5 3"))[number % 2]
    return joined(
        _frame(panel, across, up, top, whole, width),
        path_through(places, colour, dashes),
        *(_spot(spot, across, up, number) for spot in panel.spots),
    )


def _frame(panel: Panel, across: Scale, up: Scale, top: float, whole: bool, width: float) -> Markup:
    """Axes with round values, and the name of what is measured above them."""
    columns = [
        joined(
            line(across.at(value), up.start, across.at(value), up.end, PALE),
            text(f"{value:.4g}", across.at(value), up.start + 15, anchor="middle", size=SMALL, colour=GREY),
        )
        for value in across.ticks(whole=whole)
    ]
    rows = [
        joined(
            line(across.start, up.at(value), across.end, up.at(value), PALE),
            text(panel.tick(value), across.start - 5, up.at(value) + 4, anchor="end", size=SMALL, colour=GREY),
        )
        for value in up.ticks(whole=panel.whole)
    ]
    axes = joined(
        line(across.start, up.start, across.end, up.start), line(across.start, up.start, across.start, up.end)
    )
    title = text(panel.name, 1, top + 13, size=LETTERS, weight="bold", room=width - 2)
    return joined(*columns, *rows, axes, title)


def _spot(spot: Spot, across: Scale, up: Scale, number: int) -> Markup:
    x, y = across.at(spot.x), up.at(spot.y)
    if spot.chosen:
        return diamond(x, y, VERMILLION)
    return ring(x, y, PURPLE) if number % 2 else disc(x, y, BLUE)


def _names(spots: Sequence[Spot], across: Scale, up: Scale, width: float) -> list[Markup]:
    """Of the chosen one, and of the ends where they are not under it."""
    ends = (min(spots, key=lambda spot: spot.x), max(spots, key=lambda spot: spot.x))
    told: list[Spot] = []
    for spot in (*(spot for spot in spots if spot.chosen), *ends):
        if spot.name and all(_apart(spot, other, across, up, width) for other in told):
            told.append(spot)
    return [_name(spot, across, up, width) for spot in told]


def _apart(one: Spot, other: Spot, across: Scale, up: Scale, width: float) -> bool:
    return abs(up.at(one.y) - up.at(other.y)) > 16 or abs(across.at(one.x) - across.at(other.x)) > _BESIDE * width


def _name(spot: Spot, across: Scale, up: Scale, width: float) -> Markup:
    """One line; the table has what does not fit."""
    x, y = across.at(spot.x), up.at(spot.y)
    on_the_left = x > (across.start + across.end) / 2
    return text(
        fitting(spot.name, _BESIDE * width, SMALL * 1.1),
        x + 6 if on_the_left else x - 6,
        y - 11,
        anchor="end" if on_the_left else "start",
        size=SMALL,
        colour=BLACK,
        weight="bold" if spot.chosen else None,
    )


def _axis_name(name: str, top: float, width: float) -> Markup:
    middle = (_LEFT + width - _MARGIN) / 2
    return text(name, middle, top + 10, anchor="middle", size=SMALL + 0.5, room=width - _LEFT - _MARGIN)


def _named(name: str, width: float) -> float:
    """The height of the name of the axis across."""
    return _AXIS_NAME + extra(name, width - _LEFT - _MARGIN, SMALL + 0.5)
