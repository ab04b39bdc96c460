"""The page of a search for settings: what each one is worth, and what it protects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mixbayes.report.figures import exact, many, measured, share
from mixbayes.report.markup import Markup
from mixbayes.report.page import Page, Section, Table
from mixbayes.report.panels import Panel, Spot, against_each_other, against_setting

_WRITTEN = "{:.3g}".format


def _percent(value: float) -> str:
    return f"{100 * value:.4g}%"


@dataclass(frozen=True)
class Point:
    """One setting that was tried."""

    name: str
    """Short: the value of the setting, or what tells it from the others."""
    accuracy: float
    privacy: float | None
    setting: float | None = None
    """Its place on the axis of settings, if there is one."""
    chosen: bool = False


@dataclass(frozen=True)
class Tuning:
    """A search, whatever it searched for."""

    method: str
    found: str
    """The result in a sentence."""
    how: str
    """How the search went, in a sentence or two."""
    privacy: str
    """What measures it, such as `smallest group`; more of it is better."""
    points: Sequence[Point]
    setting: str = ""
    """What was varied, such as `group size`; empty if no one number says it."""


def tuned(tuning: Tuning) -> Page:
    """Accuracy and privacy by setting, and against each other."""
    sections = [
        *([_by_setting(tuning)] if tuning.setting else []),
        *([_trade(tuning)] if _private(tuning) else []),
    ]
    return Page(
        title=f"Privacy against accuracy: {tuning.method}",
        lead=[tuning.found, tuning.how],
        keys=_keys(tuning),
        sections=sections or [Section("What was tried", [], tables=[_table(tuning)])],
        gives_away=[
            "The page holds settings, shares and averages, and no row and no cell of the table. Every figure was "
            "measured on the real table: it tells, roughly, how alike its rows are and how well they can be "
            "classified.",
            "It says how a release with these settings turned out here. Whoever releases a table measures that release "
            "itself before it goes out: mixbayes measure.",
        ],
    )


def _keys(tuning: Tuning) -> list[tuple[str, str]]:
    keys = [(f"{len(tuning.points)}", "settings compared" if len(tuning.points) != 1 else "setting compared")]
    for point in [point for point in tuning.points if point.chosen][:1]:
        keys += [(point.name, f"{tuning.setting or 'setting'} found"), (share(point.accuracy), "accuracy with it")]
        keys += [] if point.privacy is None else [(measured(point.privacy), f"privacy with it: {tuning.privacy}")]
    return keys if len(keys) > 1 else [*keys, *_ends(tuning)]


def _ends(tuning: Tuning) -> list[tuple[str, str]]:
    """Where no setting is the one found, how far they go."""
    most = max((point.privacy for point in tuning.points if point.privacy is not None), default=None)
    accuracy = [(share(max(point.accuracy for point in tuning.points)), "highest accuracy")]
    return accuracy if most is None else [*accuracy, (measured(most), f"most privacy: {tuning.privacy}")]


def _private(tuning: Tuning) -> list[Point]:
    return [point for point in tuning.points if point.privacy is not None]


def _by_setting(tuning: Tuning) -> Section:
    setting = tuning.setting
    panels = [_panel("accuracy", tuning.points, lambda point: point.accuracy, _percent)]
    if _private(tuning):
        panels.append(_panel(f"privacy: {tuning.privacy}", _private(tuning), lambda point: point.privacy, _WRITTEN))
    return Section(
        f"Accuracy and privacy by {setting}",
        [
            f"Each {setting} that was tried, with the accuracy of a classifier that learned from the release"
            + (f", and its privacy ({tuning.privacy}; more is better)." if _private(tuning) else ".")
        ],
        against_setting(
            panels,
            setting,
            f"Accuracy and privacy by {setting}. {_told(tuning)}",
            whole=_whole(point.setting or 0.0 for point in tuning.points),
        ),
        "The diamond is the one that was found.",
        [_table(tuning)],
    )


def _panel(
    name: str, points: Sequence[Point], value: Callable[[Point], float | None], tick: Callable[[float], str]
) -> Panel:
    spots = [Spot(point.setting or 0.0, value(point) or 0.0, point.name, point.chosen) for point in points]
    return Panel(name, spots, tick, whole=tick is _WRITTEN and _whole(spot.y for spot in spots))


def _whole(values: Iterable[float]) -> bool:
    """Whether these are counts: then there is no half of one on an axis."""
    return all(float(value).is_integer() for value in values)


def _trade(tuning: Tuning) -> Section:
    spots = [
        Spot(point.privacy or 0.0, point.accuracy, f"{tuning.setting} {point.name}".strip(), point.chosen)
        for point in _private(tuning)
    ]
    return Section(
        "What privacy costs",
        [
            "Each setting with its privacy across and its accuracy upwards: the best would be in the upper right "
            "corner. Where nothing lies further up and to the right, more of the one can only be had for less of the "
            "other."
        ],
        against_each_other(
            Panel("accuracy", spots, _percent),
            tuning.privacy,
            f"Accuracy against privacy. {_told(tuning)}",
            whole=_whole(spot.x for spot in spots),
        ),
        "The diamond is the one that was found." if any(point.chosen for point in tuning.points) else "",
        [_table(tuning, by_privacy=True)],
    )


def _told(tuning: Tuning) -> str:
    chosen = [point for point in tuning.points if point.chosen]
    ends = [min(tuning.points, key=lambda point: point.accuracy), max(tuning.points, key=lambda point: point.accuracy)]
    said = [f"lowest accuracy {share(ends[0].accuracy)} at {ends[0].name}"]
    said.append(f"highest {share(ends[1].accuracy)} at {ends[1].name}")
    said += [f"found: {point.name} with {share(point.accuracy)}" for point in chosen]
    return f"{many(len(tuning.points), 'setting')}; {', '.join(said)}."


def _table(tuning: Tuning, by_privacy: bool = False) -> Table:
    points = sorted(tuning.points, key=lambda point: -(point.privacy or 0.0)) if by_privacy else list(tuning.points)
    rows = [(point.name, exact(point.accuracy, share(point.accuracy)), _privacy(point)) for point in points]
    chosen = next((at for at, point in enumerate(points) if point.chosen), None)
    order = "Most privacy first" if by_privacy else "Every setting"
    return Table(order, [tuning.setting or "setting", "accuracy", tuning.privacy], rows, chosen=chosen)


def _privacy(point: Point) -> Markup:
    return exact(point.privacy, measured(point.privacy))
