"""The genetic search: who becomes a parent, what the children are, what is never lost and what is found."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.base import silent
from mixbayes.local_methods.dmpd.genetic import Judge, Judged, Settings, children_of, drawn, first_population, search
from mixbayes.local_methods.dmpd.partition import UNUSED, Population, random_population
from mixbayes.local_methods.tables import Table, nominal_from


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class Whimsical(Judge):
    """To whom everything is valid, and as accurate as it happens; and who remembers the best."""

    def __init__(self) -> None:
        self.best = 0.0

    def __call__(self, population: Population) -> Judged:
        accuracies = np.array([crc32(partition.tobytes()) / 2**32 for partition in population])
        self.best = max(self.best, float(accuracies.max()))
        return Judged(population, np.ones(len(population), np.int64), accuracies)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_is_never_lost(seed: int) -> None:
    """Not even where every feature of every child moves."""
    judge = Whimsical()
    assert search(judge, 8, Settings(20, 20, crossover=0.6, mutation=1.0), chance(seed), silent)[1] == judge.best


def test_the_first_population_has_the_features_each_by_itself() -> None:
    assert first_population(5, 4, chance())[0].tolist() == [0, 1, 2, 3]


def test_the_better_of_two_becomes_a_parent() -> None:
    """On average it stands two thirds up, of two drawn at random from all."""
    assert drawn(np.arange(100), 10_000, chance()).mean() == pytest.approx(66, abs=2)


@pytest.mark.parametrize(("crossover", "share"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_so_many_pairs_are_crossed(crossover: float, share: float) -> None:
    parents = random_population(2000, 12, chance())
    children = children_of(parents, Settings(2000, 1, crossover, mutation=0.0), chance(1))
    assert (children != parents).any(axis=1).mean() == pytest.approx(share, abs=0.1)


def test_valid_comes_before_accurate_and_more_columns_before_fewer() -> None:
    """Rows: not valid, less anonymous with more columns and more with fewer; then valid, accurate with one column,
    as accurate with two, and more accurate.
    """
    partitions = np.array([[0, 1], [0, UNUSED], [0, UNUSED], [0, 1], [0, UNUSED]])
    one = Judged(partitions, np.array([1, 3, 90, 10, 10]), np.array([-1, -1, 0.5, 0.5, 0.6]))
    assert one.ranks().tolist() == [0, 1, 2, 3, 4]


def test_a_longer_search_finds_the_three_columns_that_tell_the_class_together() -> None:
    """No partition that is drawn at first has all three in a group of their own; two of them tell a part of it."""
    cells = (chance().random((10, 800)) < np.array([0.5, 0.5, 0.7, *[0.5] * 7])[:, None]).astype(np.int64)
    columns = [nominal_from(np.array(["n", "y"])[column], np.zeros(800, bool)) for column in cells]
    labels = nominal_from(np.array(["well", "sick"])[cells[0] ^ (cells[1] & cells[2])], np.zeros(800, bool))
    table = Table(tuple("abcdefghij"), tuple(columns), 800)
    short, long = (
        DMPD(k=40, inducer="tree", population=12, generations=g, random_state=7).fit(table, labels) for g in (0, 30)
    )
    assert short.accuracy_ < long.accuracy_ == 1
    assert ["a", "b", "c"] in long.projections_
