"""What a hospital gains by joining and what each protection costs, in one picture.

Colours are those that a colour-blind reader can tell apart; shapes say the same on a grey print.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixbayes.report.palette import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILLION
from mixbayes.study.intervals import Interval
from mixbayes.study.results import Protecting, Results

SALT = "mixbayes"
"""Names in the file are then the same whenever it is drawn."""
STYLE: Any = {
    "svg.hashsalt": SALT,
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE)
MARKS = ("o", "s", "^", "D")
APART = 0.14
"""Between two marks of one line."""


def figure(results: Results) -> bytes:
    """An SVG file."""
    import matplotlib as mpl  # slow to import
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=(11, 4.2 + 0.19 * len(results.protecting)), layout="constrained")
        grid = drawn.add_gridspec(2, 2, width_ratios=(1, 1.25))
        _joining(drawn.add_subplot(grid[0, 0]), results)
        _starting(drawn.add_subplot(grid[1, 0]), results)
        _protecting(drawn.add_subplot(grid[:, 1]), results.protecting)
        file = io.BytesIO()
        drawn.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _joining(axes: Any, results: Results) -> None:
    """Own and joint accuracy of each hospital, with the share of its commonest class."""
    names = [one.hospital for one in results.joining]
    places = np.arange(len(names))
    sides = (("own classifier", [one.alone.accuracy for one in results.joining], "o", GREY, "white"),
             ("joint", [one.joint.accuracy for one in results.joining], "s", BLUE, BLUE))  # fmt: skip
    for shift, (label, intervals, mark, colour, fill) in zip((-APART, APART), sides, strict=True):
        _bars(axes, intervals, places + shift, mark, colour, fill, label)
    axes.plot(
        [one.commonest for one in results.joining],
        places,
        "|",
        color=BLACK,
        ms=16,
        mew=1.5,
        label="always the commonest class",
    )
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("accuracy, with 95 % intervals")
    axes.set_title("Alone and joined", loc="left", fontweight="bold")
    axes.legend(loc="upper left", bbox_to_anchor=(-0.2, -0.16), ncols=3, frameon=False, fontsize=8)


def _starting(axes: Any, results: Results) -> None:
    """What joining gains, by the number of the hospital's own patients."""
    hospitals = list(dict.fromkeys(one.hospital for one in results.starting))
    for at, name in enumerate(hospitals):
        own = [one for one in results.starting if one.hospital == name]
        whole = next(one for one in results.joining if one.hospital == name)
        places = np.arange(len(own) + 1) + APART * (at - (len(hospitals) - 1) / 2)
        intervals = [*(one.gain for one in own), whole.gain]
        low, high = _reach(intervals)
        axes.errorbar(
            places, [100 * one.value for one in intervals], yerr=(low, high), fmt=f"{MARKS[at]}-", ms=5,
            color=COLOURS[at], lw=0.8, elinewidth=0.8, label=name,
        )  # fmt: skip
    sizes = sorted({one.own for one in results.starting})
    axes.set_xticks(range(len(sizes) + 1), [*map(str, sizes), "all it has"])
    axes.axhline(0, color=BLACK, lw=0.8)
    axes.set_xlabel("patients of its own to learn from")
    axes.set_ylabel("points of accuracy")
    axes.set_title("What joining gains", loc="left", fontweight="bold")
    axes.legend(frameon=False, fontsize=8, ncols=2)


def _protecting(axes: Any, protecting: Sequence[Protecting]) -> None:
    """The cost of each setting in all hospitals, and in each of them alone."""
    places = np.arange(len(protecting))
    low, high = _reach([one.cost for one in protecting])
    for at, name in enumerate(dict.fromkeys(name for one in protecting for name in one.cost_at)):
        able = [number for number, one in enumerate(protecting) if name in one.in_one]
        axes.plot(
            [100 * protecting[number].in_one[name].value for number in able], places[able], MARKS[at], ms=4.5,
            mfc="none", color=COLOURS[at], label=f"only {name}",
        )  # fmt: skip
    axes.errorbar(
        [100 * one.cost.value for one in protecting], places, xerr=(low, high), fmt="X", ms=6, color=BLACK,
        elinewidth=0.9, label="all four, with 95 % interval",
    )  # fmt: skip
    axes.axvline(0, color=BLACK, lw=0.8)
    axes.set_yticks(places, [_short(one.setting) for one in protecting])
    axes.invert_yaxis()
    axes.set_xlabel("points of accuracy over all patients")
    axes.set_title("What protecting tables costs", loc="left", fontweight="bold")
    axes.legend(loc="upper left", frameon=False, fontsize=8)


def _short(setting: str) -> str:
    """What fits beside a line; the tables have the whole of it."""
    return setting.replace(":population=20:generations=20", "").replace("classifiers=", "")


def _bars(axes: Any, intervals: Sequence[Interval], places: Any, mark: str, colour: str, fill: str, label: str) -> None:
    low, high = (one / 100 for one in _reach(intervals))
    axes.errorbar(
        [one.value for one in intervals], places, xerr=(low, high), fmt=mark, color=colour, mfc=fill, ms=6,
        elinewidth=1.2, label=label,
    )  # fmt: skip


def _reach(intervals: Sequence[Interval]) -> tuple[Any, Any]:
    """How far the intervals reach to either side, in points."""
    low = np.array([max(0.0, one.value - one.low) for one in intervals])
    high = np.array([max(0.0, one.high - one.value) for one in intervals])
    return 100 * low, 100 * high
