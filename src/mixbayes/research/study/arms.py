"""Who labels: classifiers that learn from some hospitals' counts, and whom of whose patients they are right about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.research.study.splits import Split
from mixbayes.simulation.outcome import Labels, pooled_labels

Classifier = Callable[[Layout, Sequence[Words], Values], Labels]
"""Labels from the counts of some hospitals."""


def reference(layout: Layout, vectors: Sequence[Words], codes: Values) -> Labels:
    """In the clear, with the protocol's own arithmetic: its labels bit for bit."""
    total: Words = np.stack(list(vectors)).sum(axis=0, dtype=np.uint64)
    return fixed_labels(layout, fixed_model(layout, total), codes).astype(np.int64)


def textbook(layout: Layout, vectors: Sequence[Words], codes: Values) -> Labels:
    """In floating point."""
    return pooled_labels(layout, list(vectors), codes)


@dataclass(frozen=True, eq=False)
class Asked:
    """The patients of one split, hospital after hospital, without and with their classes."""

    codes: Values
    truth: Labels
    parts: Mapping[str, slice]

    def of(self, hospital: str) -> Values:
        return self.codes[:, self.parts[hospital]]


def asked(codes: Mapping[str, Values], truth: Mapping[str, Labels], split: Split) -> Asked:
    """Of every hospital the rows that the split asks about."""
    ends = np.cumsum([len(rows) for rows in split.asked.values()])
    begins = [0, *ends[:-1]]
    parts = {name: slice(int(b), int(e)) for name, b, e in zip(split.asked, begins, ends, strict=True)}
    return Asked(
        np.concatenate([codes[name][:, rows] for name, rows in split.asked.items()], axis=1),
        np.concatenate([truth[name][rows] for name, rows in split.asked.items()]),
        parts,
    )


@dataclass(eq=False)
class Record:
    """By classifier, how often each patient was labelled rightly; patients stand hospital after hospital."""

    rows: Mapping[str, int]
    repeats: int
    _times: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def note(self, arm: str, split: Split, right: NDArray[np.bool_]) -> None:
        """What came of one split, its patients hospital after hospital."""
        times = self._times.setdefault(arm, np.zeros(sum(self.rows.values()), np.int64))
        begins = np.cumsum([0, *self.rows.values()])
        at = np.concatenate([begin + rows for begin, rows in zip(begins, split.asked.values(), strict=False)])
        times[at] += right

    def add(self, other: Record) -> None:
        """What came of other splits of the same patients."""
        for arm, times in other._times.items():
            self._times[arm] = self._times.get(arm, 0) + times

    def of(self, arm: str, hospital: str | None = None) -> NDArray[np.float64]:
        """The share of repetitions in which each patient, of all hospitals or of one, was labelled rightly."""
        shares = self._times[arm] / self.repeats
        if hospital is None:
            return shares
        begin = sum(self.rows[name] for name in list(self.rows)[: list(self.rows).index(hospital)])
        return shares[begin : begin + self.rows[hospital]]
