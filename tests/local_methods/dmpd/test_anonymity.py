"""Levels of projections, and of what comes of rejoining them: the paper's claim, and where it is false."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.anonymity import (
    Levels,
    rejoined_diversity,
    rejoined_level,
    rejoined_level_with_class,
)
from mixbayes.local_methods.tables import Nominal, Table, nominal_from

Counts = list[np.ndarray]


def joined(counts: Counts) -> tuple[int, int]:
    """Both levels by trying every combination."""
    rows = [[prod(row[y] for row in combination) for y in range(len(counts[0][0]))] for combination in product(*counts)]
    return min(sum(row) for row in rows if any(row)), min(cell for row in rows for cell in row if cell)


def test_three_classes_break_the_papers_claim() -> None:
    """Every combination has three rows in its projection; (0, 1, 2) and (2, 1, 0) rejoined have one."""
    counts = [np.array([[0, 1, 2], [3, 0, 0]]), np.array([[2, 1, 0], [0, 0, 3]])]
    assert min(int(c.sum(axis=1).min()) for c in counts) == 3
    assert rejoined_level(counts) == 1
    assert rejoined_level_with_class(counts) == 1


def test_the_class_in_the_key_mends_it() -> None:
    counts = [np.array([[0, 3, 4], [3, 0, 3]]), np.array([[5, 3, 0], [0, 0, 3]])]
    assert rejoined_level(counts) == 9
    assert rejoined_level_with_class(counts) == 9


@st.composite
def tables(draw: st.DrawFn, classes: int) -> Counts:
    """Up to four projections of the same rows, so that each has the same number of rows of every class."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = random.integers(0, classes, draw(st.integers(1, 20)))
    counts = []
    for _ in range(draw(st.integers(1, 4))):
        values = random.integers(0, 4, len(labels))
        table = np.zeros((4, classes), np.int64)
        np.add.at(table, (values, labels), 1)
        counts.append(table[table.any(axis=1)])
    return counts


@given(tables(classes=2))
def test_with_two_classes_the_claim_holds(counts: Counts) -> None:
    assert rejoined_level(counts) >= min(int(c.sum(axis=1).min()) for c in counts)


@given(tables(classes=3))
def test_levels_are_those_of_every_combination(counts: Counts) -> None:
    assert (rejoined_level(counts), rejoined_level_with_class(counts)) == joined(counts)


@given(tables(classes=3))
def test_classes_are_those_that_a_combination_has_in_every_projection(counts: Counts) -> None:
    shared = [np.logical_and.reduce([row > 0 for row in combination]).sum() for combination in product(*counts)]
    assert rejoined_diversity(counts) == min(many for many in shared if many)


@given(tables(classes=4))
def test_with_the_class_in_the_key_k_stays_k(counts: Counts) -> None:
    k = min(int(c[c > 0].min()) for c in counts)
    assert rejoined_level(counts) >= k ** len(counts)


def test_too_many_vectors_give_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    counts = [random.integers(0, 50, (12, 3)) + 1 for _ in range(3)]
    exact = rejoined_level(counts)
    assert exact == joined(counts)[0]
    monkeypatch.setattr("mixbayes.local_methods.dmpd.anonymity.MOST_KEPT", 2)
    assert 0 < rejoined_level(counts) <= exact


def test_more_rows_than_numbers_are_exact_for_give_a_lower_bound() -> None:
    counts = [np.array([[1000, 2000], [3000, 1000]])] * 6
    assert 1000**6 == rejoined_level_with_class(counts) <= rejoined_level(counts) <= 2 * 1000**6


def coded(*columns: str, labels: str) -> Coded:
    made = [nominal_from(np.array(list(cells)), np.array(list(cells)) == "?") for cells in columns]
    names = tuple(f"x{at}" for at in range(len(columns)))
    classes = nominal_from(np.array(list(labels)), np.zeros(len(labels), bool))
    assert isinstance(classes, Nominal)
    return Coded.of(Table(names, tuple(made), len(labels)), classes)


def test_only_quasi_identifiers_in_the_same_projection_count() -> None:
    table = coded("aaabbb", "cddccd", "efghij", labels="ABABAB")
    levels = Levels(table, [[0, 1]])
    assert levels.of_group([0]) == 3
    assert levels.of_group([0, 1]) == 1
    assert levels.of_group([0, 2]) == 3
    assert levels.of_group([2]) == 6
    assert levels.of_groups([[0], [1, 2]]) == 3
    assert levels.of_groups([]) == 6
    assert Levels(table, [[0]], class_in_key=True).of_group([0]) == 1


def test_a_missing_cell_is_a_value_of_its_own() -> None:
    assert Levels(coded("aaa??bb", labels="AAAAAAA"), [[0]]).of_group([0]) == 2


@given(st.integers(0, 2**32 - 1))
def test_combinations_are_numbered_without_gaps(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = coded(*("".join(random.choice(list("abcdefgh"), 30)) for _ in range(7)), labels="A" * 30)
    group = random.permutation(7)[: int(random.integers(1, 8))].tolist()
    number = table.combined(group)
    rows = Counter(map(tuple, table.codes[group].T.tolist()))
    assert sorted(np.bincount(number).tolist()) == sorted(rows.values())
