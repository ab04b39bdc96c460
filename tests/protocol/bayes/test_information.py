"""Ranks on shares are those of the same integers in the clear, and these those of mutual information."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.bayes import information
from mixbayes.protocol.bayes.information import (
    ERROR,
    _information,
    information_width,
    ranks,
    real_information,
    shared_ranks,
)
from mixbayes.protocol.circuits.logarithm import FRACTION, fixed_log2
from tests.protocol.pairs import SEEDS, additive, both

CELL = st.one_of(st.just(0), st.integers(0, 30), st.integers(0, 10**6))


@st.composite
def some_tables(draw: st.DrawFn) -> list[Words]:
    """Tables of as many classes, some without patients in a class, in a value, or at all."""
    classes = draw(st.integers(2, 4))
    row = st.lists(CELL, min_size=classes, max_size=classes)
    tables = draw(st.lists(st.lists(row, min_size=1, max_size=5), min_size=1, max_size=6))
    return [np.array(table, np.uint64) for table in tables]


def widths_of(tables: list[Words]) -> tuple[int, int]:
    most = max(1, *(int(table.sum()) for table in tables))
    return max(2, most.bit_length()), information_width(most, tables[0].shape[1])


def on_shares(tables: list[Words], number: int) -> list[int]:
    count_bits, width = widths_of(tables)
    flat = [additive(table.reshape(-1), 64, number + at) for at, table in enumerate(tables)]
    of_a, of_b = (
        [pair[role].reshape(table.shape) for pair, table in zip(flat, tables, strict=True)] for role in (0, 1)
    )
    found_a, found_b = both(shared_ranks, (of_a, count_bits, width), (of_b, count_bits, width))
    assert found_a == found_b
    return list(found_a)


def in_clear(tables: list[Words]) -> list[int]:
    return ranks(tables, widths_of(tables)[1])


@given(some_tables(), SEEDS)
@settings(max_examples=50)
def test_ranks_on_shares_are_those_in_the_clear(tables: list[Words], number: int) -> None:
    assert on_shares(tables, number) == in_clear(tables)


@given(some_tables())
def test_ranks_are_those_of_real_arithmetic_up_to_the_error(tables: list[Words]) -> None:
    found, real = in_clear(tables), [real_information(table) for table in tables]
    assert sorted(found) == list(range(1, len(tables) + 1))
    most = max(int(table.sum()) for table in tables)
    margin = (ERROR + 1e-12) * most
    for one in range(len(tables)):
        for other in range(len(tables)):
            if real[one] > real[other] + margin:
                assert found[one] < found[other]


@given(some_tables())
def test_information_is_mutual_information_times_patients(tables: list[Words]) -> None:
    """By its definition, Σ p log2(p / (p p)); and in fixed point within four logarithms' errors a patient."""
    table, n = tables[0].astype(np.float64), float(tables[0].sum())
    assume(n)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / n
    some = table > 0
    mutual = float((table[some] * np.log2(table[some] / expected[some])).sum())
    assert math.isclose(real_information(tables[0]), mutual, rel_tol=1e-9, abs_tol=1e-9 * n)
    (fixed,) = _information(tables[:1], lambda words: words * fixed_log2(words)).view(np.int64).tolist()
    assert abs(fixed / 2**FRACTION - mutual) <= ERROR / 2 * n + 1e-9 * n


@given(st.integers(2, 64), st.integers(1, 2**27), SEEDS)
def test_differences_fit_the_width(classes: int, rows: int, number: int) -> None:
    """Between an attribute that says everything and one that says nothing."""
    rng = np.random.default_rng(number)
    counts = rng.multinomial(rows, rng.dirichlet(np.ones(classes))).astype(np.uint64)
    everything, nothing = np.diag(counts), counts[None]
    width = information_width(rows, classes)
    best, worst = _information([everything, nothing], lambda words: words * fixed_log2(words))
    difference = (best - worst) & mask(width)
    assert difference >> np.uint64(width - 1) == 0 or real_information(everything) < ERROR * rows
    assert ranks([nothing, everything], width) == ([2, 1] if np.count_nonzero(counts) > 1 else [1, 2])


def table(*rows: list[int]) -> Words:
    return np.array(rows, np.uint64)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ([table([5, 5], [5, 5]), table([10, 0], [0, 10]), table([8, 2], [2, 8])], [3, 1, 2]),
        ([table([10, 0], [0, 10])] * 3, [1, 2, 3]),  # ties go to the earlier
        ([table([2, 8], [8, 2]), table([8, 2], [2, 8]), table([9, 1], [1, 9])], [2, 3, 1]),
        ([table([0, 0]), table([0, 0], [0, 0])], [1, 2]),  # nobody
        ([table([7, 0], [9, 0]), table([4, 0], [12, 0]), table([7, 0], [8, 1])], [2, 3, 1]),  # one class
        (
            [table([1, 0], [0, 1]), table([400, 300], [300, 400])],
            [2, 1],
        ),  # few cells that tell all, many that tell some
        ([table([3, 4])], [1]),
    ],
)
def test_known_ranks(tables: list[Words], expected: list[int]) -> None:
    assert in_clear(tables) == expected
    assert on_shares(tables, 3) == expected


def test_the_largest_counts() -> None:
    """As many patients as the width of a word allows in two classes."""
    n = 2**30
    tables = [table([n // 2, 0], [0, n // 2]), table([n // 2, 1], [0, n // 2 - 1]), table([n // 2, n // 2])]
    assert widths_of(tables)[1] == 63
    assert in_clear(tables) == on_shares(tables, 4) == [1, 2, 3]


def test_in_several_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    tables = [rng.integers(0, 50, (3, 3)).astype(np.uint64) for _ in range(9)]
    expected = in_clear(tables)
    monkeypatch.setattr(information, "_AT_ONCE", 7)
    assert on_shares(tables, 6) == expected


def test_of_nothing_nothing_is_ranked() -> None:
    assert ranks([], 40) == []
