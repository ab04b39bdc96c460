from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.circuits import argmax
from mixbayes.protocol.circuits.argmax import all_pairs, tournament, winners
from tests.protocol.pairs import SEEDS, additive, both, opened, random_for, shared_pair

ways = pytest.mark.parametrize("way", [tournament, all_pairs, winners])
Way = Callable[..., Words]


def assert_winners(way: Way, offsets: list[list[int]], width: int, number: int) -> None:
    """Scores (K, n), each column anywhere in the ring: what counts are the differences."""
    scores = np.array([[s % (1 << width) for s in row] for row in offsets], np.uint64)
    base = random_for(number).words(1, scores.shape[1])
    of_a, of_b = additive((scores + base) & mask(width), width, number + 1)
    hot = opened(both(way, (of_a, width), (of_b, width)))
    columns = zip(*offsets, strict=True)
    assert hot == [1 << column.index(max(column)) for column in columns]


@ways
@given(st.integers(2, 26), st.integers(2, 64), st.integers(1, 5), st.data(), SEEDS)
@settings(max_examples=40)
def test_first_of_the_greatest_wins(
    way: Way, classes: int, width: int, count: int, data: st.DataObject, number: int
) -> None:
    """Scores from a whole range whose differences just fit the width, its ends and ties often among them."""
    top = (1 << (width - 1)) - 1
    score = st.one_of(st.integers(0, top), st.sampled_from([0, 1, top // 2, top - 1, top]))
    row = st.lists(score, min_size=count, max_size=count)
    offsets = data.draw(st.lists(row, min_size=classes, max_size=classes))
    assert_winners(way, offsets, width, number)


@ways
@pytest.mark.parametrize("classes", range(2, 27))
def test_every_place_can_win_and_ties_go_to_the_first(way: Way, classes: int) -> None:
    """One class ahead of all; all the same; the last of several that tie; one behind all."""
    top = (1 << 45) - 1
    ahead = [[top * (c == k) for k in range(classes)] for c in range(classes)]
    tied = [[top * (c >= k) for k in range(classes)] for c in range(classes)]
    behind = [[-top * (c == k) for k in range(classes)] for c in range(classes)]
    offsets = [a + t + b + [5] for a, t, b in zip(ahead, tied, behind, strict=True)]
    assert_winners(way, offsets, 46, classes)


@ways
@pytest.mark.parametrize("width", [2, 3, 46, 63, 64])
def test_extreme_words_of_the_width(way: Way, width: int) -> None:
    top = (1 << (width - 1)) - 1
    rows = [[0, top, 0, -top, 0, 1], [top, 0, -top, 0, 1, 0], [top, top, 0, 0, 1, 1]]
    assert_winners(way, rows, width, width)


@ways
def test_as_many_classes_as_a_dictionary_may_have(way: Way) -> None:
    rng = np.random.default_rng(1)
    assert_winners(way, rng.integers(0, 20, (64, 9)).tolist(), 40, 1)


@pytest.mark.parametrize(
    ("way", "classes", "count", "rounds"),
    [
        *((tournament, 2, 1, 3), (tournament, 2, 500, 5)),
        *((tournament, 8, 500, 3 * (5 + 1)), (tournament, 5, 500, 3 * (5 + 1))),
        *((all_pairs, 5, 1, 5), (all_pairs, 8, 500, 5 + 3)),
    ],
)
def test_rounds(way: Way, classes: int, count: int, rounds: int) -> None:
    """A comparison of 41 bits has five rounds, or three of few words. Then words move up, or gates join the results."""
    before = shared_pair().talk.first.traffic.rounds
    both(way, (random_for(1).words(classes, count) & mask(41), 41))
    assert shared_pair().talk.first.traffic.rounds - before == rounds


def test_many_rows_play_a_tournament_and_few_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []
    for name in ("tournament", "all_pairs"):
        monkeypatch.setattr(argmax, name, lambda me, scores, width, name=name: played.append(name))
    few = argmax.MOST_COMPARISONS_AT_ONCE // 10
    for classes, count in [(5, few), (5, few + 1), (2, 1)]:
        winners(shared_pair().a, np.zeros((classes, count), np.uint64), 40)
    assert played == ["all_pairs", "tournament", "tournament"]
