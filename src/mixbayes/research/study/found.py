"""What fills up while split after split is worked off."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mixbayes.research.study.arms import Record
from mixbayes.research.study.exposed import Exposed
from mixbayes.simulation.outcome import Labels
from mixbayes.tables.changed import Changed


@dataclass(eq=False)
class Tally:
    """How many labels were compared, and how many of them were alike."""

    runs: int = 0
    labels: int = 0
    equal: int = 0

    def note(self, one: Labels, other: Labels) -> None:
        self.runs += 1
        self.labels += len(one)
        self.equal += int(np.count_nonzero(one == other))

    def add(self, other: Tally) -> None:
        self.runs += other.runs
        self.labels += other.labels
        self.equal += other.equal


@dataclass(eq=False)
class Found:
    """Of one split, or of several."""

    record: Record
    agreement: Tally = field(default_factory=Tally)
    checked: Tally = field(default_factory=Tally)
    refused: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """By setting and hospital, why it could not be used, split after split."""
    exposed: dict[str, Exposed] = field(default_factory=dict)
    """By setting, what its releases tell of patients,"""
    changed: dict[str, list[Changed]] = field(default_factory=dict)
    """and what it changes of the contributions."""

    def exposed_by(self, setting: str) -> Exposed:
        return self.exposed.setdefault(setting, Exposed(self.record.rows))

    def add(self, later: Found) -> None:
        """What came of splits after these."""
        self.record.add(later.record)
        self.agreement.add(later.agreement)
        self.checked.add(later.checked)
        for setting, hospitals in later.refused.items():
            own = self.refused.setdefault(setting, {})
            for name, why in hospitals.items():
                own.setdefault(name, []).extend(why)
        for setting, exposed in later.exposed.items():
            self.exposed_by(setting).add(exposed)
        for setting, changed in later.changed.items():
            self.changed.setdefault(setting, []).extend(changed)
