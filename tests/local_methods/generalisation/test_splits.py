"""Where an interval may be cut, against a trial of every place."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.local_methods.generalisation.combinations import Groups
from mixbayes.local_methods.generalisation.information import gain
from mixbayes.local_methods.generalisation.requirement import Requirement
from mixbayes.local_methods.generalisation.splits import gains_of_cuts, valid_cuts

Cells = list[tuple[int, int, int]]
"""Rank, combination and class of each row."""


def enough(rows: Cells, requirement: Requirement) -> bool:
    """Whether every combination among these rows has enough of them, and enough classes."""
    sizes = Counter(group for _, group, _ in rows)
    kinds = Counter(group for group, _ in {(group, label) for _, group, label in rows})
    return all(sizes[group] >= requirement.k and kinds[group] >= requirement.diversity for group in sizes)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_valid_cuts_are_those_that_a_trial_finds_valid(rows: Cells, k: int, diversity: int) -> None:
    requirement = Requirement(k, diversity)
    ranks, number, labels = np.array(rows).T
    _, number = np.unique(number, return_inverse=True)
    groups = Groups(np.arange(len(rows)), number.astype(np.int32), labels, 3)
    tried = [
        enough(rows, requirement)
        and enough([row for row in rows if row[0] <= rank], requirement)
        and enough([row for row in rows if row[0] > rank], requirement)
        for rank in range(8)
    ]
    assert valid_cuts(ranks, 8, groups, requirement).tolist() == tried


def test_the_gain_of_every_cut_is_that_of_its_parts() -> None:
    counts = np.random.default_rng(0).integers(0, 5, (12, 3))
    counts[:, 0] += 1
    missing = np.array([0, 2, 1])
    gains = gains_of_cuts(counts, missing)
    for at in range(12):
        parts = [counts[: at + 1].sum(axis=0), counts[at + 1 :].sum(axis=0), missing]
        assert gains[at] == gain(counts.sum(axis=0) + missing, parts)


def test_a_gain_in_bits() -> None:
    """Four rows of two classes, told apart wholly, half, and not at all."""
    whole = np.array([2, 2])
    assert gain(whole, [np.array([2, 0]), np.array([0, 2])]) == 1
    assert abs(gain(whole, [np.array([1, 0]), np.array([1, 2])]) - 0.3112781245) < 1e-9
    assert gain(whole, [np.array([1, 1]), np.array([1, 1])]) == 0
