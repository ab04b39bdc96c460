"""What is reported: accuracy of each way on each table at each ε, and what stands beside what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mixbayes.research.noise.crossing import Effort, Make, Mean, Way, crossed
from mixbayes.research.noise.mechanisms import geometric, geometric_of_each, normal, normal_of_each, of_coins
from mixbayes.research.noise.patients import Patients
from mixbayes.research.noise.rules import PROTOCOL, Rule
from mixbayes.research.noise.tables import Form

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
OURS = "ours"
OWN_RULES = {
    normal: {False: Rule(cells=0.25, classes=2, evenly=6), True: Rule(cells=0.25, classes=4, evenly=8)},
    geometric: {False: Rule(cells=0.25, classes=1, evenly=6), True: Rule(cells=0.25, classes=4, evenly=8)},
    normal_of_each: {False: Rule(cells=1, classes=2, evenly=6), True: PROTOCOL},
    geometric_of_each: {False: Rule(cells=1, classes=4, evenly=6), True: PROTOCOL},
}
"""By whether numbers are Gaussian attributes, the rules that `choices.print_best` found for each mechanism."""
CURATOR: Mapping[str, Make] = {"normal": normal, "geometric": geometric}
ALONE: Mapping[str, Make] = {"normal, of each": normal_of_each, "geometric, of each": geometric_of_each}
RULES = ("its own rule", "our rule")
SMOOTHED = "ours, with as much smoothing as theirs"
LIKE_ALONE = {False: Rule(cells=2, classes=4, evenly=12), True: Rule(cells=0.5, classes=8, evenly=12)}
"""What four hospitals' normal noise, twice as large as ours, makes of their rule."""
MOST_ROWS = 10_000
"""A table with more rows is repeated less often: its figures vary less."""


@dataclass(frozen=True, eq=False)
class Figures:
    """Of one table in one form."""

    form: Form
    rows: int
    attributes: int
    commonest: float
    """The share of the commonest class, in percent."""
    touched: int
    """Counts that one patient changes."""
    deviations: Mapping[float, float]
    """Of our noise on a count, by ε."""
    exact: Mean
    noisy: Mapping[tuple[str, float], Mean]

    def ours(self, epsilon: float) -> Mean:
        return self.noisy[OURS, epsilon]

    def curator(self, epsilon: float) -> Mean:
        """The better mechanism, with the better of its own rule and ours."""
        return self._best(CURATOR, epsilon)

    def alone(self, epsilon: float) -> Mean:
        """Hospitals that add noise themselves, also with the better of all these."""
        return self._best(ALONE, epsilon)

    def smoothed(self, epsilon: float) -> Mean:
        """Ours, with as much smoothing as hospitals alone have."""
        return self.noisy[SMOOTHED, epsilon]

    def better_curator(self, epsilon: float) -> str:
        return max(CURATOR, key=lambda name: self._best([name], epsilon).value)

    def _best(self, names: Iterable[str], epsilon: float) -> Mean:
        ways = (self.noisy[f"{name}, {rule}", epsilon] for name in names for rule in RULES)
        return max(ways, key=lambda mean: mean.value)


def measured(folder: Path, form: Form, effort: Effort, epsilons: Sequence[float] = EPSILONS) -> Figures:
    patients = form.patients(folder)
    ways = {OURS: Way(of_coins, PROTOCOL), SMOOTHED: Way(of_coins, LIKE_ALONE[form.gaussian])}
    for name, make in {**CURATOR, **ALONE}.items():
        for what, rule in zip(RULES, (OWN_RULES[make][form.gaussian], PROTOCOL), strict=True):
            ways[f"{name}, {what}"] = Way(make, rule)
    exact, noisy = crossed(patients, ways, epsilons, _for(patients, effort))
    sums, labels = patients.sums, patients.labels
    return Figures(
        form,
        rows=len(labels),
        attributes=len(sums.sizes) + sums.numbers,
        commonest=100 * float(np.bincount(labels).max() / len(labels)),
        touched=sums.touched,
        deviations={epsilon: of_coins(epsilon, sums.touched).deviation for epsilon in epsilons},
        exact=exact,
        noisy=noisy,
    )


def _for(patients: Patients, effort: Effort) -> Effort:
    if len(patients.labels) <= MOST_ROWS:
        return effort
    return Effort(max(2, effort.repeats // 5), max(1, effort.draws // 2))
