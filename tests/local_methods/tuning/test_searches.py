"""The two searches over any order of values, and what is best of what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods.tuning.scale import arithmetic, geometric
from mixbayes.local_methods.tuning.searches import Middle, Tried, best_of, exhaustive, rule_based


class Landscape:
    """Accuracies and privacies by value, and which values were looked at."""

    def __init__(self, accuracy: Any, privacy: Any = float) -> None:
        self.accuracy, self.privacy, self.asked = accuracy, privacy, list[int]()

    def __call__(self, steps: Sequence[int]) -> Iterator[Tried]:
        for step in steps:
            self.asked.append(step)
            yield Tried(step, self.accuracy(step), self.privacy(step))


def by_rule(landscape: Landscape, open_end: int, private_end: int, middle: Middle = geometric) -> list[Tried]:
    return rule_based(landscape, open_end, private_end, 0.05, middle)


def test_where_accuracy_does_not_suffer_the_rule_goes_to_the_larger_sizes() -> None:
    """20..200 is the range in which the printed loop never ends."""
    flat = Landscape(lambda size: 0.9)
    tried = by_rule(flat, 20, 200)
    assert flat.asked == [20, 200, 63, 112, 150, 173, 186, 193, 196, 198, 199]
    assert best_of(tried, 0.05).value == 200


def test_where_accuracy_suffers_the_rule_goes_to_the_smaller_sizes() -> None:
    """It leaves a half for good before it has seen its middle: 99 would be best, and is not looked at."""
    falling = Landscape(lambda size: 0.9 if size < 100 else 0.5)
    tried = by_rule(falling, 20, 2000)
    assert falling.asked[:5] == [20, 2000, 200, 63, 35]
    assert best_of(tried, 0.05).value == 63


def test_of_a_rank_the_private_end_is_the_smaller_one() -> None:
    """Up to 60 the accuracy suffers."""
    rising = Landscape(lambda rank: 0.9 if rank > 60 else 0.5, lambda rank: -rank)
    tried = by_rule(rising, 100, 1, arithmetic)
    assert rising.asked[:5] == [1, 100, 50, 75, 88]
    assert best_of(tried, 0.05, less_is_private=True).value == 75
    flat = Landscape(lambda rank: 0.9, lambda rank: nan)
    assert best_of(by_rule(flat, 100, 1, arithmetic), 0.05, less_is_private=True).value == 1


def test_a_larger_group_that_is_more_accurate_too_is_no_loss() -> None:
    """The printed rule compares the absolute difference and would turn away from it."""
    rising = Landscape(lambda size: 0.5 + size / 1000)
    assert by_rule(rising, 20, 200)[-1].value == 199


def test_the_gap_is_a_share_of_the_accuracy() -> None:
    """0.03 of 0.5 are six per cent, of 0.9 they are three."""
    low, high = (Landscape(lambda size, at=at: at if size < 200 else at - 0.03) for at in (0.5, 0.9))
    assert by_rule(low, 20, 200)[2:4] != by_rule(high, 20, 200)[2:4]
    assert (low.asked[3], high.asked[3]) == (35, 112)


@given(
    low=st.integers(1, 5000),
    width=st.integers(0, 5000),
    seed=st.integers(0, 99),
    falling=st.booleans(),
    middle=st.sampled_from([geometric, arithmetic]),
    slope=st.floats(-1, 1),
)
def test_the_rule_ends_tries_nothing_twice_and_gives_the_best_that_it_saw(
    low: int, width: int, seed: int, falling: bool, middle: Middle, slope: float
) -> None:
    """Whether accuracy rises, falls, or is chance."""
    random, high = np.random.default_rng(seed), low + width
    landscape = Landscape(lambda step: float(np.exp(slope * step / high) * random.uniform(0.9, 1)))
    tried = by_rule(landscape, *((high, low) if falling else (low, high)), middle)
    assert len(set(landscape.asked)) == len(landscape.asked) == len(tried)
    assert len(tried) <= 4 + 2 * np.log2(width + 1)
    assert {low, high} <= set(landscape.asked) <= set(range(low, high + 1))
    best = best_of(tried, 0.05, less_is_private=falling)
    enough = 0.95 * max(one.accuracy for one in tried)
    assert best.accuracy >= enough
    assert best.privacy == max(one.privacy for one in tried if one.accuracy >= enough)


@given(one=st.integers(1, 10**6), apart=st.integers(2, 10**6), middle=st.sampled_from([geometric, arithmetic]))
def test_a_middle_lies_between(one: int, apart: int, middle: Middle) -> None:
    assert one < middle(one, one + apart) < one + apart
    assert middle(one, one + apart) == middle(one + apart, one)


def test_the_exhaustive_search_tries_every_size_or_so_many_at_equal_distances() -> None:
    landscape = Landscape(lambda size: 0.9)
    exhaustive(landscape, 10, 45, None)
    assert landscape.asked == list(range(10, 46))
    landscape = Landscape(lambda size: 0.9)
    exhaustive(landscape, 1120, 6757, 100)
    assert (len(landscape.asked), landscape.asked[0], landscape.asked[-1]) == (100, 1120, 6757)
    assert set(np.diff(landscape.asked)) == {56, 57}


@pytest.mark.parametrize("width", [0, 1, 5, 100])
def test_progress_ends_at_its_total(width: int) -> None:
    told: list[tuple[int, int]] = []
    rule_based(Landscape(lambda size: 0.9), 7, 7 + width, 0.05, geometric, lambda *at: told.append(at))
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)


def test_the_best_has_the_most_privacy_at_nearly_the_best_accuracy() -> None:
    tried = [Tried(10, 0.80, 0.5), Tried(20, 0.78, 0.9), Tried(30, 0.77, 0.9), Tried(40, 0.70, 1.2)]
    assert best_of(tried, 0.05).value == 30
    assert best_of(tried, 0.05, less_is_private=True).value == 20
    assert best_of(tried, 0.0).value == 10
    assert best_of(tried, 0.2).value == 40


def test_where_nothing_measures_privacy_the_value_does() -> None:
    assert best_of([Tried(10, 0.8, nan), Tried(40, 0.79, nan), Tried(50, 0.5, nan)], 0.05).value == 40
