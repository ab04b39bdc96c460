"""What the releases of all splits tell of each patient: where the patient was in the table, and where not.

The release of a split is made of the patients who are learned from; those who are asked about were held out. So members
and others are there, and nothing is protected for the attack alone. Over all splits each patient is both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.attacks.attribute_inference import guessed
from mixbayes.local_methods.attacks.membership import scores_of
from mixbayes.local_methods.attacks.people import People, placements
from mixbayes.local_methods.tables import Table
from mixbayes.research.study.intervals import Interval, advantage, paired
from mixbayes.research.study.splits import Split

TIMES, PLACED, TOLD = range(3)
"""In how many releases; how the membership score stands among those of the other kind; the share of attributes told."""


@dataclass(eq=False)
class Exposed:
    """Sums over splits, by hospital: what is measured, as a member or not, patient."""

    rows: Mapping[str, int]
    _sums: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def note(self, hospital: str, split: Split, table: Table, released: Table) -> None:
        """One release of the hospital's rows that are learned from."""
        inside, outside = split.learned[hospital], split.asked[hospital]
        people = People.of(table.take(inside), table.take(outside), released, split.fold)
        scores = np.split(scores_of(people), [len(inside)])
        measured = zip(placements(*scores), guessed(people), strict=True)
        sums = self._sums.setdefault(hospital, np.zeros((3, 2, self.rows[hospital])))
        for kind, (rows, (placed, told)) in enumerate(zip((inside, outside), measured, strict=True)):
            sums[:, kind, rows] += np.stack([np.ones(len(rows)), placed, told])

    def add(self, other: Exposed) -> None:
        """What came of other splits of the same patients."""
        for hospital, sums in other._sums.items():
            self._sums[hospital] = self._sums.get(hospital, 0) + sums

    def attacks(self) -> tuple[Interval, Interval, float]:
        """Membership, attribute inference, and the share of attributes that is told of anybody, over patients."""
        sums = np.concatenate(list(self._sums.values()), axis=2)
        both = sums[TIMES].all(axis=0)
        placed, told = sums[PLACED:, :, both] / sums[TIMES][:, both]
        return advantage(*placed), paired(*told), float(told[1].mean())
