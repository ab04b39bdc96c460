"""Naive Bayes on one pile of rows, from the definition and in float64: what the labels and accuracies must be.

It shares no line with the project, so that it cannot share its mistakes. Rows are dictionaries of texts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Row = dict[str, str]
Reals = NDArray[np.float64]

NOTHING = ("", "?")
"""Cells that say nothing."""


@dataclass(frozen=True)
class Rules:
    """How the tables are to be read."""

    class_column: str = "class"
    smoothing: float = 1.0
    bins: int | None = None
    nominal: Collection[str] = ()
    numeric: Collection[str] = ()


@dataclass(frozen=True)
class Verdict:
    """A label for every row asked about, and by how many bits it beats the next one."""

    labels: list[str]
    margins: Reals

    def contradicts(self, labels: Sequence[str], tolerance: float) -> list[tuple[int, str, str]]:
        """Rows that got another label although it was no near-tie: where, what, and what was right."""
        both = zip(labels, self.labels, self.margins, strict=True)
        return [(i, got, due) for i, (got, due, margin) in enumerate(both) if got != due and margin > tolerance]


def classify(counted: Sequence[Row], asked: Sequence[Row], rules: Rules, known: Sequence[Row] | None = None) -> Verdict:
    """Train on the rows that are counted; `known` are those that values, cut points and bounds come from, if others."""
    known = counted if known is None else known
    classes = ordered(row[rules.class_column] for row in known)
    members = np.array([[row[rules.class_column] == name for row in counted] for name in classes])
    with np.errstate(divide="ignore"):
        scores = np.repeat(np.log2(members.mean(axis=1))[:, None], len(asked), axis=1)
    for name in known[0]:
        if name != rules.class_column:
            seen, trained, questions = ([row[name] for row in rows] for rows in (known, counted, asked))
            scores += _evidence(name, members, seen, trained, questions, rules)
    ranked = np.sort(scores, axis=0)
    return Verdict([classes[best] for best in scores.argmax(axis=0)], ranked[-1] - ranked[-2])


def ordered(texts: Iterable[str]) -> list[str]:
    """Different texts in a dictionary's order: as numbers if all are."""
    different = sorted(set(texts))
    return sorted(different, key=float) if all(map(_is_number, different)) else different


def share_right(labels: Sequence[str], truth: Sequence[str]) -> float:
    """The accuracy."""
    return sum(map(str.__eq__, labels, truth)) / len(truth)


def _evidence(
    name: str, members: NDArray[np.bool_], known: list[str], counted: list[str], asked: list[str], rules: Rules
) -> Reals:
    """log2 P(cell asked about | class) of one attribute, for every class and row; 0 where the cell says nothing."""
    present = [cell for cell in known if cell not in NOTHING]
    if not present:
        return np.zeros((len(members), len(asked)))
    if name in rules.nominal or not (name in rules.numeric or _looks_numeric(present)):
        return _by_value(ordered(present), members, counted, asked, rules.smoothing)
    numbers = np.array(present, float)
    if rules.bins is None:
        return _by_bell(numbers.min(), numbers.max(), members, _numbers(counted), _numbers(asked))
    cuts = sorted(set(np.quantile(numbers, [i / rules.bins for i in range(1, rules.bins)]).tolist()))
    values = [str(i) for i in range(len(cuts) + 1)]
    return _by_value(values, members, _binned(cuts, counted), _binned(cuts, asked), rules.smoothing)


def _by_value(
    values: list[str], members: NDArray[np.bool_], counted: list[str], asked: list[str], alpha: float
) -> Reals:
    cells, questions = np.array(counted), np.array(asked)
    counts = np.array([(members & (cells == value)).sum(axis=1) for value in values])
    table = np.log2((counts + alpha) / (counts.sum(axis=0) + alpha * len(values)))
    evidence = np.zeros((len(members), len(asked)))
    for row, value in zip(table, values, strict=True):
        evidence += np.outer(row, questions == value)
    return evidence


def _by_bell(low: float, high: float, members: NDArray[np.bool_], cells: Reals, questions: Reals) -> Reals:
    if low == high:
        low, high = low - max(1.0, abs(low)) / 2, high + max(1.0, abs(high)) / 2
    evidence = np.zeros((len(members), len(questions)))
    for c, member in enumerate(members):
        mine = cells[member & ~np.isnan(cells)]
        mean = mine.mean() if mine.size else (low + high) / 2
        variance = (mine.var() if mine.size else 0.0) + (high - low) ** 2 / 2**20
        distance = questions.clip(low, high) - mean
        evidence[c] = -np.log2(variance) / 2 - distance**2 / (2 * variance) * math.log2(math.e)
    return np.where(np.isnan(questions), 0.0, evidence)


def _binned(cuts: list[float], cells: list[str]) -> list[str]:
    return [str(sum(cut <= number for cut in cuts)) if number == number else "" for number in _numbers(cells)]


def _numbers(cells: list[str]) -> Reals:
    return np.array([float(cell) if _is_number(cell) else math.nan for cell in cells])


def _looks_numeric(present: list[str]) -> bool:
    return all(map(_is_number, present)) and len(set(map(float, present))) > 20


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False
