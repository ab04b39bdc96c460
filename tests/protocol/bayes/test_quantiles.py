"""Quantiles found by halving are numpy's, of any histogram, and on shares as in the clear."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes import quantiles as room
from mixbayes.protocol.bayes.quantiles import Counts, Positions, levelled, quantiles, shared_quantiles
from tests.protocol.pairs import SEEDS, additive, both

COLUMNS = st.lists(st.one_of(st.just(0), st.integers(0, 40), st.sampled_from([10**6])), min_size=1, max_size=20)
NOISY = st.lists(st.integers(-30, 60), min_size=1, max_size=40)
PARTS = st.integers(2, 12)


def by_numpy(histogram: Counts, parts: int) -> list[int]:
    """Every patient's cell as the patient's number; fractions, because numpy rounds i/B times n otherwise."""
    shares = np.array([Fraction(i, parts) for i in range(1, parts)])
    found: list[int] = np.quantile(
        np.repeat(np.arange(histogram.size), histogram), shares, method="inverted_cdf"
    ).tolist()
    return found


def shown(histograms: list[list[int]], parts: int) -> list[list[int]]:
    return [found.tolist() for found in quantiles([np.array(each).astype(np.uint64) for each in histograms], parts)]


def on_shares(histograms: list[list[int]], parts: int, number: int) -> list[list[int]]:
    most = sum(abs(cell) for histogram in histograms for cell in histogram)
    width = (2 * parts * most).bit_length() + 1
    pairs = [additive(np.array(each).astype(np.uint64), 64, number + at) for at, each in enumerate(histograms)]
    of_a, of_b = ([pair[role] for pair in pairs] for role in (0, 1))
    found_a, found_b = both(shared_quantiles, (of_a, parts, width), (of_b, parts, width))
    assert [each.tolist() for each in found_a] == [each.tolist() for each in found_b]
    return [each.tolist() for each in found_a]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=70).filter(any), PARTS)
def test_positions_are_those_of_numpy(histogram: list[int], parts: int) -> None:
    assert shown([histogram], parts) == [by_numpy(np.array(histogram), parts)]


@given(NOISY.filter(lambda cells: sum(cells) > 0), PARTS)
def test_so_they_are_of_a_levelled_histogram_where_noise_made_cells_negative(cells: list[int], parts: int) -> None:
    level = levelled(np.array(cells))
    assert level.min() >= 0
    assert level.sum() == sum(cells)
    assert shown([cells], parts) == [by_numpy(level, parts)]


@given(COLUMNS.filter(any))
def test_a_histogram_without_negative_cells_is_level(histogram: list[int]) -> None:
    assert levelled(np.array(histogram)).tolist() == histogram


@given(st.lists(st.one_of(COLUMNS, NOISY), min_size=1, max_size=4), PARTS, SEEDS)
@settings(max_examples=40)
def test_shares_open_the_positions_of_every_histogram(histograms: list[list[int]], parts: int, number: int) -> None:
    """Of grids of different sizes, of columns without anybody, and of those in which noise left less than nobody."""
    assert on_shares(histograms, parts, number) == shown(histograms, parts)


@pytest.mark.parametrize(
    ("histogram", "found"),
    [
        ([0, 0, 0, 0], [0, 0, 0]),  # nobody
        ([0, 0, 9, 0], [2, 2, 2]),  # everybody in one cell
        ([7], [0, 0, 0]),
        ([2**50, 0, 0, 0, 1], [0, 0, 0]),
        ([1, 0, 0, 0, 2**50], [4, 4, 4]),
        ([1, 1, 1, 1], [0, 1, 2]),
        ([1, 1, 1, 1, 1], [1, 2, 3]),
        ([-1, -2, -3, 0, 0], [4, 4, 4]),  # less than nobody: in the grid, but without a meaning
        ([3, 0, 0, 1], [0, 0, 0]),  # exactly three quarters are enough
    ],
)
def test_edges(histogram: list[int], found: list[int]) -> None:
    assert shown([histogram], 4) == [found]
    assert on_shares([histogram], 4, 5) == [found]


def test_nothing_is_opened_of_no_histogram() -> None:
    assert quantiles([], 5) == []


def test_answers_are_the_bits_of_the_positions_and_nothing_else_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[list[int]] = []

    def watched(histograms: list[Words], parts: int) -> list[Positions]:
        def is_negative(words: Words) -> np.ndarray:
            answers.append((words >> np.uint64(63)).tolist())
            return np.array(answers[-1], np.uint8)

        return room._quantiles(histograms, parts, is_negative)

    rng = np.random.default_rng(1)
    found = watched([rng.integers(0, 9, 100).astype(np.uint64) for _ in range(3)], 5)
    bits = [[int(at) >> place & 1 for each in found for at in each] for place in reversed(range(7))]
    assert answers == bits


def test_noise_that_cancels_moves_no_quantile_to_the_middle() -> None:
    """What clamping cell by cell would do: so many cells hold nobody, and noise would put patients in half of them."""
    rng = np.random.default_rng(2)
    histogram = np.zeros(256, np.int64)
    histogram[10:20] = 1000
    noisy = histogram + rng.integers(-80, 81, 256)
    (clamped,) = shown([np.maximum(noisy, 0).tolist()], 4)
    assert clamped[2] > 30
    (found,) = shown([noisy.tolist()], 4)
    assert np.abs(np.array(found) - [12, 14, 17]).max() <= 2
