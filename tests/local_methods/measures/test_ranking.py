"""The Mann-Whitney test, beside a count of all arrangements and beside scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from mixbayes.local_methods.measures.ranking import MannWhitney, Verdict, differ, p_value

shares = st.lists(st.integers(0, 20).map(lambda value: value / 20), min_size=1, max_size=12).map(np.array)


def counted(one: list[float], other: list[float]) -> float:
    """The share of all ways to choose the first sample in which it wins or loses as often, or more so."""
    every = [*one, *other]

    def away(chosen: tuple[int, ...]) -> float:
        rest = [every[at] for at in range(len(every)) if at not in chosen]
        return abs(sum(every[at] > value for at in chosen for value in rest) - len(one) * len(other) / 2)

    found = away(tuple(range(len(one))))
    ways = [away(chosen) >= found for chosen in combinations(range(len(every)), len(one))]
    return sum(ways) / len(ways)


@settings(max_examples=20)
@given(st.permutations(range(8)), st.integers(2, 6))
def test_the_chance_is_that_of_all_arrangements(values: list[int], many: int) -> None:
    one, other = [float(value) for value in values[:many]], [float(value) for value in values[many:]]
    assert p_value(np.array(one), np.array(other)) == pytest.approx(counted(one, other))


@settings(max_examples=40)
@given(shares, shares)
def test_the_chance_is_scipys_and_a_tie_is_no_difference(original: np.ndarray, released: np.ndarray) -> None:
    test = MannWhitney.of(original, released, high_is_good=True)
    assert test is not None
    expected = mannwhitneyu(original, released).pvalue
    assert test.p_value == (pytest.approx(expected) if np.isfinite(expected) else 1)
    assert differ(original, released) == (test.verdict is not Verdict.TIE)


@settings(max_examples=40)
@given(shares, shares)
def test_what_is_a_win_is_a_loss_where_less_is_better_or_sides_change(one: np.ndarray, other: np.ndarray) -> None:
    turned = {Verdict.WIN: Verdict.LOSS, Verdict.LOSS: Verdict.WIN, Verdict.TIE: Verdict.TIE}
    found, low, back = (
        MannWhitney.of(*samples, high_is_good=high)
        for samples, high in (((one, other), True), ((one, other), False), ((other, one), True))
    )
    assert found is not None
    assert low is not None
    assert back is not None
    assert turned[found.verdict] is low.verdict
    assert turned[found.verdict] is back.verdict


def test_higher_is_a_win_and_equal_a_tie() -> None:
    low, high = np.linspace(0.1, 0.2, 25), np.linspace(0.8, 0.9, 25)
    won, tied = (MannWhitney.of(low, other, high_is_good=True) for other in (high, low))
    assert won is not None
    assert won.verdict is Verdict.WIN
    assert won.p_value < 1e-8
    lost = MannWhitney.of(low, high, high_is_good=False)
    assert lost == MannWhitney(won.p_value, Verdict.LOSS)
    assert MannWhitney.of(high, low, high_is_good=False) == won
    assert tied == MannWhitney(1.0, Verdict.TIE)
    assert MannWhitney.of(np.ones(25), np.ones(25), high_is_good=True) == MannWhitney(1.0, Verdict.TIE)


def test_what_is_no_number_is_left_out_and_nothing_is_not_tested() -> None:
    some, gaps = np.array([0.1, 0.2, 0.3]), np.array([0.1, np.nan, 0.2, 0.3])
    assert MannWhitney.of(some, gaps, high_is_good=True) == MannWhitney.of(some, some, high_is_good=True)
    assert MannWhitney.of(some, np.array([np.nan]), high_is_good=True) is None
    assert MannWhitney.of(np.empty(0), some, high_is_good=True) is None
