"""What a hospital gains by joining, what each protection costs, and what it leaves to an attacker, in one picture.

Colours are those that a colour-blind reader can tell apart; shapes say the same on a grey print.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mixbayes.report.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, PURPLE, SKY, VERMILLION
from mixbayes.research.study.intervals import Interval
from mixbayes.research.study.results import Attacked, Protecting, Results
from mixbayes.research.study.settings import SHORT_SEARCH

LEAST_HEIGHT = 8.0
"""In inches: below it, what is written on the left lies on one another."""
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
SHADES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d", "H")
SYNTHESIS: Any = (BLACK, "$\\epsilon$")
"""The one method with a promise to everybody stands out."""
BELOW = 5.2
"""In inches: the height of what attackers get."""
APART = 0.14
"""Between two marks of one line."""
LANE = 0.13
"""Between two hospitals on the line of a setting, which is one high."""
TITLE: Any = {"fontsize": "large", "fontweight": "bold"}
LEGEND: Any = {"frameon": False, "fontsize": 8, "columnspacing": 1, "handletextpad": 0.2}
NOTE = "* promises nothing about people; no mark: the hospital cannot always use it"
WEAKEST = 4.5
"""The mark of a method's weakest setting; each stronger one is larger."""


def figure(results: Results) -> bytes:
    """An SVG file."""
    import matplotlib as mpl  # slow to import
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        height = max(LEAST_HEIGHT, 3 + 0.27 * len(results.protecting))
        drawn: Any = Figure(figsize=(11, height + BELOW), layout="constrained")
        above, below = drawn.subfigures(2, 1, height_ratios=(height, BELOW))
        left, right = above.subfigures(1, 2, width_ratios=(1, 1.35))
        _joining(left.add_subplot(2, 1, 1), results)
        _starting(left.add_subplot(2, 1, 2), results)
        _protecting(right.add_subplot(), results.protecting)
        right.suptitle("What protecting tables costs: left of zero it costs", x=0.3, **TITLE)
        right.legend(loc="outside lower center", ncols=5, title=NOTE, title_fontsize=8, **LEGEND)
        _attacked(below, results)
        file = io.BytesIO()
        drawn.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _joining(axes: Any, results: Results) -> None:
    """Own and joint accuracy of each hospital, with the share of its commonest class."""
    names = [f"{one.hospital}\n{one.joint.patients} patients" for one in results.joining]
    places = np.arange(len(names))
    sides = (
        ("own classifier", [one.alone.accuracy for one in results.joining], "o", GREY, "white"),
        ("joint", [one.joint.accuracy for one in results.joining], "s", BLUE, BLUE),
    )
    for shift, (label, intervals, mark, colour, fill) in zip((-APART, APART), sides, strict=True):
        axes.errorbar(
            [100 * one.value for one in intervals],
            places + shift,
            xerr=_reach(intervals),
            fmt=mark,
            color=colour,
            mfc=fill,
            ms=6,
            elinewidth=1.2,
            label=label,
        )
    commonest = [100 * one.commonest for one in results.joining]
    axes.plot(commonest, places, "|", color=BLACK, ms=16, mew=1.5, label="always the commonest class")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("patients labelled rightly, in percent, with 95 % intervals")
    axes.set_title("Alone and joined", loc="left", **TITLE)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=3, **LEGEND)


def _starting(axes: Any, results: Results) -> None:
    """What joining gains, by the number of the hospital's own patients."""
    hospitals = list(dict.fromkeys(one.hospital for one in results.starting))
    for at, name in enumerate(hospitals):
        own = [one for one in results.starting if one.hospital == name]
        whole = next(one for one in results.joining if one.hospital == name)
        places = np.arange(len(own) + 1) + APART * (at - (len(hospitals) - 1) / 2)
        intervals = [*(one.gain for one in own), whole.gain]
        axes.errorbar(
            places,
            [100 * one.value for one in intervals],
            yerr=_reach(intervals),
            fmt=f"{MARKS[at]}-",
            ms=5,
            color=COLOURS[at],
            lw=0.8,
            elinewidth=0.8,
            label=name,
        )
    sizes = sorted({one.own for one in results.starting})
    axes.set_xticks(range(len(sizes) + 1), [*map(str, sizes), "all it has"])
    axes.axhline(0, color=BLACK, lw=0.8)
    axes.set_xlabel("patients that the hospital itself has to learn from")
    axes.set_ylabel("joint less own, in points")
    axes.set_title("What joining gains: above zero it helps", loc="left", **TITLE)
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.14), ncols=4, **LEGEND)


def _protecting(axes: Any, protecting: Sequence[Protecting]) -> None:
    """The cost of each setting in all hospitals, and in each of them alone, every hospital in a lane of its own."""
    places = np.arange(len(protecting))
    for place in places[1::2]:
        axes.axhspan(place - 0.5, place + 0.5, color=PALE, alpha=0.4, lw=0)
    for at, name in enumerate(dict.fromkeys(name for one in protecting for name in one.in_one)):
        able = [number for number, one in enumerate(protecting) if name in one.in_one]
        values = [100 * protecting[number].in_one[name].value for number in able]
        lane = places[able] + LANE * (at - 0.5)
        axes.plot(values, lane, MARKS[at], ms=3.6, mfc="none", color=COLOURS[at], label=f"only {name}")
    costs = [one.cost for one in protecting]
    axes.errorbar(
        [100 * one.value for one in costs],
        places - 2.5 * LANE,
        xerr=_reach(costs),
        fmt="X",
        ms=5,
        color=BLACK,
        elinewidth=1,
        label="all four, with 95 % interval",
    )
    axes.axvline(0, color=BLACK, lw=0.8)
    axes.set_yticks(places, [_short(one) for one in protecting])
    axes.set_ylim(len(protecting) - 0.5, -0.5)
    axes.set_xlabel("change of accuracy, in points")


def _attacked(drawn: Any, results: Results) -> None:
    """Accuracy against what two attacks get: whoever stands higher and further left is better off."""
    drawn.suptitle("At equal accuracy, which method gives an attacker least: left and above is better", **TITLE)
    panels = drawn.subplots(1, 2, sharey=True)
    for axes, of, label in zip(
        panels,
        (_membership, _attributes),
        ("membership: advantage over a coin, in points", "attributes told of members less of others, in points"),
        strict=True,
    ):
        _against(axes, results.protecting, of)
        axes.axhline(100 * results.joining[-1].joint.accuracy.value, color=BLACK, lw=0.8, ls=":")
        axes.plot(100 * of(results.original), 100 * results.joining[-1].joint.accuracy.value, "*", color=BLACK, ms=11)
        axes.axvline(0, color=BLACK, lw=0.8)
        axes.set_xlabel(label)
    panels[0].set_ylabel("joint accuracy, all four protected, in percent")
    handles, labels = panels[0].get_legend_handles_labels()
    title = "larger marks are stronger settings; the star is the unchanged table; white: not for every hospital"
    drawn.legend(handles, labels, loc="outside lower center", ncols=5, title=title, title_fontsize=8, **LEGEND)


def _against(axes: Any, protecting: Sequence[Protecting], of: Callable[[Attacked], float]) -> None:
    """Every method in a colour and shape of its own; strengths of the same settings are joined by a line."""
    methods = list(dict.fromkeys(one.method for one in protecting))
    series = list(dict.fromkeys(_but_strength(one) for one in protecting))
    for name in series:
        own = [one for one in protecting if _but_strength(one) == name]
        at = methods.index(own[0].method)
        places = [(100 * of(one.attacked), 100 * one.joint.accuracy.value) for one in own]
        promises = all(one.epsilon for one in own)
        colour, mark = SYNTHESIS if promises else (SHADES[at % len(SHADES)], SHAPES[at % len(SHAPES)])
        axes.plot(*zip(*places, strict=True), "-", color=colour, lw=0.7, alpha=0.6)
        for size, (one, place) in enumerate(zip(own, places, strict=True)):
            label = {} if size or name != _but_strength(_first(protecting, one.method)) else {"label": one.method}
            fill, large = "white" if one.refused else colour, WEAKEST + 1.4 * size + 3 * promises
            axes.plot(*place, marker=mark, color=colour, mfc=fill, ls="", ms=large, **label)


def _first(protecting: Sequence[Protecting], method: str) -> Protecting:
    return next(one for one in protecting if one.method == method)


def _but_strength(one: Protecting) -> str:
    """The setting without its numbers."""
    return re.sub(r":\w+=[\d.]+", "", one.setting)


def _membership(found: Attacked) -> float:
    return found.membership.value


def _attributes(found: Attacked) -> float:
    return found.attribute_inference.value


def _short(one: Protecting) -> str:
    """What fits beside a line; the tables have the whole of it."""
    setting = one.setting.replace(SHORT_SEARCH, "").replace("classifiers=", "").replace("suppress=", "")
    return setting if one.people else f"{setting} *"


def _reach(intervals: Sequence[Interval]) -> Any:
    """How far the intervals reach to either side, in points."""
    low = [max(0.0, one.value - one.low) for one in intervals]
    high = [max(0.0, one.high - one.value) for one in intervals]
    return 100 * np.array([low, high])
