"""The tables that are printed, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mixbayes.research.noise.crossing import Mean
from mixbayes.research.noise.reported import EPSILONS, Figures
from mixbayes.research.study.words import table

At = Callable[[Figures, float], Mean]
Column = Callable[[Figures, float], str]
LETTERS = {"normal": "n", "geometric": "g"}


def figure(mean: Mean) -> str:
    return f"{mean.value:.1f} ± {mean.error:.1f}"


def difference(mean: Mean) -> str:
    """In points; its standard error with two digits, because many are small."""
    return f"{_signed(mean.value)} ± {mean.error:.2f}"


def _signed(value: float) -> str:
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def accuracies(all_: Sequence[Figures]) -> str:
    head = ("", "patients", "attributes", "commonest class", "no noise", *_epsilons())
    rows = [
        (
            one.form.name,
            f"{one.rows:,}",
            f"{one.attributes}",
            f"{one.commonest:.1f}",
            figure(one.exact),
            *(figure(one.ours(e)) for e in EPSILONS),
        )
        for one in all_
    ]
    lost = [
        (name, "", "", "", "", *(_signed(_mean(some, lambda one, e: one.ours(e) - one.exact, e)) for e in EPSILONS))
        for name, some in _kinds(all_)
    ]
    return table(head, [*rows, *lost])


def _kinds(all_: Sequence[Figures]) -> list[tuple[str, list[Figures]]]:
    """Those that there are."""
    kinds = [
        ("mean change, binned", [one for one in all_ if not one.form.gaussian]),
        ("mean change, Gaussian", [one for one in all_ if one.form.gaussian]),
    ]
    return [(name, some) for name, some in kinds if some]


def beside_curator(all_: Sequence[Figures]) -> str:
    """With the letter of the curator's better mechanism."""

    def cell(one: Figures, epsilon: float) -> str:
        return f"{difference(one.ours(epsilon) - one.curator(epsilon))} {LETTERS[one.better_curator(epsilon)]}"

    return _compared(all_, cell, lambda one, e: one.ours(e) - one.curator(e))


def beside_alone(all_: Sequence[Figures]) -> str:
    def at(one: Figures, epsilon: float) -> Mean:
        return one.ours(epsilon) - one.alone(epsilon)

    return _compared(all_, lambda one, e: difference(at(one, e)), at)


def _compared(all_: Sequence[Figures], cell: Column, at: At) -> str:
    rows = [(one.form.name, *(cell(one, e) for e in EPSILONS)) for one in all_]
    means = ("mean", *(_signed(_mean(all_, at, e)) for e in EPSILONS))
    return table(("ours less theirs, points", *_epsilons()), [*rows, means])


def _mean(some: Sequence[Figures], at: At, epsilon: float) -> float:
    return float(np.mean([at(one, epsilon).value for one in some]))


def with_their_smoothing(all_: Sequence[Figures]) -> str:
    def at(one: Figures, epsilon: float) -> Mean:
        return one.smoothed(epsilon) - one.alone(epsilon)

    return _compared(all_, lambda one, e: difference(at(one, e)), at)


def over_all(all_: Sequence[Figures]) -> str:
    """One line on the curator and on hospitals alone."""
    both = [
        float(np.mean([_mean(all_, at, e) for e in EPSILONS]))
        for at in (lambda one, e: one.ours(e) - one.curator(e), lambda one, e: one.ours(e) - one.alone(e))
    ]
    curator, alone = map(_signed, both)
    return f"Mean of all tables and all ε: {curator} points against the curator, {alone} against hospitals alone."


def others(found: Mapping[str, Sequence[Mean]]) -> str:
    """Of diffprivlib."""
    rows = [(name, *map(figure, means)) for name, means in found.items()]
    return table(("diffprivlib's GaussianNB", *_epsilons()), rows)


def deviations(all_: Sequence[Figures]) -> str:
    """Of the noise on a count."""
    rows = [(one.form.name, f"{one.touched}", *(f"{one.deviations[e]:.1f}" for e in EPSILONS)) for one in all_]
    return table(("standard deviation of a count's noise", "counts a patient changes", *_epsilons()), rows)


def _epsilons() -> list[str]:
    return [f"ε = {epsilon:g}" for epsilon in EPSILONS]
