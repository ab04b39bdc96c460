"""Accuracy by ε, a panel for each table.

Colours are those that a colour-blind reader can tell apart; marks and lines say the same on a grey print.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from mixbayes.report.palette import BLACK, BLUE, GREY, ORANGE, PURPLE, VERMILLION
from mixbayes.research.noise.crossing import Mean
from mixbayes.research.noise.reported import EPSILONS, Figures
from mixbayes.research.study.figure import STYLE

COLUMNS = 4


def picture(all_: Sequence[Figures], others: Mapping[str, Sequence[Mean]]) -> bytes:
    """An SVG file."""
    import matplotlib as mpl  # slow to import
    from matplotlib.figure import Figure

    tables = list(dict.fromkeys(one.form.table for one in all_))
    rows = len(tables) // COLUMNS + 1  # the legend has a panel too
    with mpl.rc_context(STYLE):
        drawn: Any = Figure(figsize=(11, 2.9 * rows), layout="constrained")
        panels = list(drawn.subplots(rows, COLUMNS).flat)
        for name, panel in zip(tables, panels, strict=False):
            _table(panel, [one for one in all_ if one.form.table == name], others.get(name))
            panel.set_title(name, loc="left", fontsize=9, fontweight="bold")
        labelled = {line.get_label(): line for panel in drawn.axes for line in panel.get_lines()}
        _legend(panels[len(tables) :], labelled)
        drawn.supxlabel("ε, with δ = 1e-6")
        drawn.supylabel("patients labelled rightly, in percent")
        file = io.BytesIO()
        drawn.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _table(axes: Any, forms: Sequence[Figures], others: Sequence[Mean] | None) -> None:
    for one in forms:
        if not one.form.gaussian:
            axes.axhline(one.exact.value, color=GREY, ls=":", lw=1.2, label="no noise, binned")
            _line(axes, [one.curator(e) for e in EPSILONS], "s", BLACK, "trusted curator, binned", mfc="white", ms=7)
            _line(axes, [one.alone(e) for e in EPSILONS], "^", VERMILLION, "each hospital alone, binned")
            _line(axes, [one.ours(e) for e in EPSILONS], "o", BLUE, "ours, binned", ms=4)
        else:
            _line(axes, [one.ours(e) for e in EPSILONS], "D", ORANGE, "ours, Gaussian", ls="--", ms=4)
    if others:
        _line(axes, others, "x", PURPLE, "diffprivlib's GaussianNB", ls="-.")
    axes.axhline(forms[0].commonest, color=GREY, lw=0.6, label="always the commonest class")
    axes.set_xscale("log", base=2)
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])


def _line(axes: Any, means: Sequence[Mean], mark: str, colour: str, label: str, ls: str = "-", **how: Any) -> None:
    values = [mean.value for mean in means]
    axes.plot(EPSILONS, values, mark, ls=ls, color=colour, lw=1, label=label, **{"ms": 5, **how})


def _legend(panels: Sequence[Any], labelled: Mapping[str, Any]) -> None:
    for panel in panels:
        panel.axis("off")
    panels[0].legend(labelled.values(), labelled.keys(), loc="center", frameon=False, fontsize=8)
