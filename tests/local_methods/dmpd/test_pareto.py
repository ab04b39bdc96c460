"""Fronts, attainment surfaces, and the trade-offs that are found with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods import AnonymityTradeoff
from mixbayes.local_methods.dmpd.attainment import Fall, attainment, falls
from mixbayes.local_methods.dmpd.genetic import Judged
from mixbayes.local_methods.dmpd.pareto import crowding, fronts, objectives, survivors, undominated
from mixbayes.local_methods.tables import nominal_from
from tests.local_methods.mixed import mixed_table


def judged(*points: tuple[int, float]) -> Judged:
    levels, accuracies = zip(*points, strict=True)
    return Judged(np.arange(len(points))[:, None], np.array(levels), np.array(accuracies))


points = st.lists(st.tuples(st.integers(1, 6), st.sampled_from([0.2, 0.4, 0.6, 0.8])), min_size=1, max_size=12)


def surpassed(one: tuple[int, float], all_points: list[tuple[int, float]]) -> bool:
    return any(o != one and o[0] >= one[0] and o[1] >= one[1] for o in all_points)


@given(points)
def test_fronts_peel_off_one_by_one(drawn: list[tuple[int, float]]) -> None:
    front = fronts(objectives(judged(*drawn)))
    left = list(range(len(drawn)))
    for at in range(int(front.max()) + 1):
        expected = [i for i in left if not surpassed(drawn[i], [drawn[j] for j in left])]
        assert np.flatnonzero(front == at).tolist() == expected
        left = [i for i in left if i not in expected]
    assert not left


@given(points)
def test_what_is_kept_is_the_first_front_once(drawn: list[tuple[int, float]]) -> None:
    kept = undominated(judged(*drawn))
    found = list(zip(kept.levels.tolist(), kept.accuracies.tolist(), strict=True))
    assert found == sorted({one for one in drawn if not surpassed(one, drawn)})


def test_lonely_points_and_ends_survive() -> None:
    one = judged((1, 0.9), (2, 0.89), (3, 0.88), (50, 0.5), (100, 0.1))
    values = objectives(one)
    distance = crowding(values, fronts(values))
    assert np.isinf(distance[[0, 4]]).all()
    assert distance[3] > distance[2] > distance[1]
    assert sorted(survivors(one, 3).levels.tolist()) == [1, 50, 100]


def test_partitions_that_come_up_twice_fill_up_the_population() -> None:
    one = judged((1, 0.9), (2, 0.5), (3, 0.1))
    twice = one.and_(one)
    assert sorted(survivors(twice, 3).levels.tolist()) == [1, 2, 3]
    assert len(survivors(twice, 5).levels) == 5


def test_surfaces_of_three_runs() -> None:
    runs = [
        (np.array([1, 10]), np.array([0.9, 0.5])),
        (np.array([2, 10]), np.array([0.8, 0.6])),
        (np.array([5]), np.array([0.7])),
    ]
    surfaces = attainment(runs)
    nothing = -np.inf
    assert surfaces.levels.tolist() == [1, 2, 5, 10]
    assert surfaces.best.tolist() == [0.9, 0.8, 0.7, 0.6]
    assert surfaces.median.tolist() == [0.8, 0.7, 0.6, 0.5]
    assert surfaces.worst.tolist() == [0.7, 0.5, 0.5, nothing]


def test_half_of_two_runs_is_one() -> None:
    surfaces = attainment([(np.array([1]), np.array([0.9])), (np.array([1]), np.array([0.5]))])
    assert (surfaces.median.tolist(), surfaces.worst.tolist()) == ([0.9], [0.5])


def test_where_accuracy_falls() -> None:
    found = falls(np.array([1, 5, 9, 20]), np.array([0.9, 0.9, 0.7, 0.5]))
    assert found == [Fall(5, 0.9, 0.7), Fall(9, 0.7, 0.5)]


def search(seed: int = 0, **settings: object) -> AnonymityTradeoff:
    table = mixed_table(200)
    labels = nominal_from(np.where(table.column("tied").cells() == "high", "sick", "well"), np.zeros(200, bool))
    return AnonymityTradeoff(**{"population": 12, "generations": 6, "runs": 2, "random_state": seed, **settings}).fit(
        table, labels
    )


@pytest.mark.parametrize("inducer", ["naive-bayes", "tree"])
def test_the_front_runs_from_accuracy_to_anonymity(inducer: str) -> None:
    front = search(inducer=inducer).front_
    assert front[0].accuracy == 1
    assert ["tied"] in front[0].projections
    assert front[-1].anonymity == 200
    assert front[-1].left_out == ["first", "second", "whole", "tied", "free"]
    assert [one.anonymity for one in front] == sorted({one.anonymity for one in front})
    assert [one.accuracy for one in front] == sorted((one.accuracy for one in front), reverse=True)


def test_the_same_seed_finds_the_same() -> None:
    assert search(1).front_ == search(1).front_


def test_progress_runs_over_all_runs() -> None:
    told: list[tuple[int, int]] = []
    table = mixed_table(60)
    labels = np.arange(60) % 2
    AnonymityTradeoff(population=4, generations=3, runs=2, random_state=0).fit(
        table, labels, progress=lambda what, done, total: told.append((done, total))
    )
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)
    assert told == sorted(told)
