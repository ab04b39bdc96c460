"""How the rule was chosen: every rule on tables that are not among the reported ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mixbayes.research.joining.compared import RECIPES
from mixbayes.research.joining.nested import Choice, Effort, Nested, nested
from mixbayes.research.joining.tables import Cut


@dataclass(frozen=True)
class Judged:
    """A rule by what it brings to each hospital of all tables."""

    gains: Sequence[float]
    """In accuracy, over the own classifier."""


@dataclass(frozen=True)
class Situation:
    """Noise, and how many patients a hospital has that begins; None of either is the usual case."""

    epsilon: float | None = None
    few: int | None = None

    @property
    def name(self) -> str:
        size = f"{self.few} patients" if self.few else "all patients"
        return f"{size}, ε = {self.epsilon:g}" if self.epsilon else size


SITUATIONS = (Situation(), Situation(4.0), Situation(1.0), Situation(few=10), Situation(few=20), Situation(few=50))


def judged(
    folder: Path, cuts: Sequence[Cut], rules: Mapping[str, Choice], situations: Sequence[Situation], effort: Effort
) -> dict[str, dict[str, Judged]]:
    """By rule and situation."""
    gains: dict[str, dict[str, list[float]]] = {name: {one.name: [] for one in situations} for name in rules}
    for cut in cuts:
        patients = cut.sites(folder).patients
        for one in situations:
            found = nested(patients, RECIPES, one.epsilon, one.few, effort)
            for name, rule in rules.items():
                gains[name][one.name] += _gains(found, rule)
    return {name: {at: Judged(some) for at, some in by.items()} for name, by in gains.items()}


def _gains(found: Nested, rule: Choice) -> Iterator[float]:
    right = found.judged(found.choices(rule))
    for hospital in range(found.hospitals):
        here = found.patients.hospitals == hospital
        yield float(right[:, here].mean() - found.right[:, here, 0].mean())
