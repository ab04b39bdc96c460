"""Grouping for condensation where many points are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mixbayes.local_methods import grouping
from mixbayes.local_methods.grouping import MOST_SEEDS, groups_by_kmeans, groups_by_seeds
from mixbayes.local_methods.points import Points
from mixbayes.local_methods.tables import Floats

GROUPINGS = [groups_by_seeds, groups_by_kmeans]


def nothing(rows: int) -> None:
    """Progress that nobody follows."""


def half_equal(rows: int) -> Floats:
    points = np.random.default_rng(0).normal(size=(rows, 4))
    return np.where(np.arange(rows)[:, None] % 2, points, 0)


def mostly_zeros(rows: int) -> Floats:
    random = np.random.default_rng(0)
    return np.where(random.random((rows, 4)) < 0.99, 0, random.normal(size=(rows, 4)))


@pytest.mark.parametrize("groups", GROUPINGS)
def test_equal_points_are_grouped_as_they_stand(groups: Any) -> None:
    rows = 6 * MOST_SEEDS + 2
    told: list[int] = []
    found = groups(Points(np.full((rows, 2), 0.1)), 3, np.random.default_rng(0), told.append)
    assert found.tolist() == [row // 3 for row in range(rows - 2)] + [found[-3]] * 2
    assert sum(told) == rows


@pytest.mark.parametrize("groups", GROUPINGS)
@pytest.mark.parametrize("table", [half_equal, mostly_zeros])
def test_equal_points_are_not_looked_at_again_and_again(
    table: Callable[[int], Floats], groups: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def filled(points: Points, *rest: Any) -> Any:
        nonlocal looks
        looks += len(points)
        return original(points, *rest)

    original = grouping.filled_clusters
    monkeypatch.setattr(grouping, "filled_clusters", filled)
    sizes = np.bincount(groups(Points(table(5_000)), 10, np.random.default_rng(1), nothing))
    assert sizes.min() >= 10
    assert looks < 10 * 5_000
