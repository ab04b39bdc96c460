"""Roy: Table 5.4, relations, and clusters that meet along a diagonal."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods.tables import Numeric, Table
from mixbayes.research.reproduction import roy_relations
from mixbayes.research.reproduction.roy_geometric import METHODS, changed, independent_rows, own_range, restored
from mixbayes.research.reproduction.roy_oblique import clusters, groupings, mixed


def unit(rows: int = 60, columns: int = 4) -> np.ndarray:
    return np.random.default_rng(0).random((rows, columns))


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.mark.parametrize(("name", "kept"), [("TDP", True), ("RDP", True), ("SDP", False)])
@pytest.mark.parametrize("columns", [[0, 1], [0, 1, 2]])
def test_translation_and_rotation_keep_distances(name: str, kept: bool, columns: list[int]) -> None:
    released = changed(unit(), columns, METHODS[name], 3)
    assert np.allclose(distances(released), distances(unit())) is kept
    assert (released[:, 3] == unit()[:, 3]).all()
    assert (abs(released[:, columns] - unit()[:, columns]) > 1e-6).any(axis=0).all()


def test_the_mixture_keeps_distances_where_nothing_is_stretched() -> None:
    releases = [changed(unit(), [0, 1, 2], METHODS["HDP"], seed) for seed in range(20)]
    assert {bool(np.allclose(distances(released), distances(unit()))) for released in releases} == {True, False}


@pytest.mark.parametrize("name", ["TDP", "SDP"])
def test_scaling_again_undoes_what_is_done_to_each_column(name: str) -> None:
    released = changed(unit(), [0, 1], METHODS[name], 3)
    assert np.allclose(own_range(released), own_range(unit()))


@pytest.mark.parametrize("name", METHODS)
def test_a_few_known_rows_restore_every_cell(name: str) -> None:
    assert restored(unit(), changed(unit(), [0, 1, 2], METHODS[name], 3), [0, 1, 2], 0) == 1
    noise = unit() + np.random.default_rng(1).normal(0, 0.1, (60, 4))
    assert restored(unit(), noise, [0, 1, 2], 0) < 0.1


def test_known_rows_are_as_many_as_span_all() -> None:
    assert len(independent_rows(unit(), np.random.default_rng(0))) == 4
    assert len(independent_rows(np.repeat(unit(2), 30, axis=0), np.random.default_rng(0))) == 2


def test_more_groups_are_mixed_where_clusters_meet_along_a_diagonal() -> None:
    found = [
        np.mean([mixed(groupings(points, 10, seed)["tree, by lot"], which) for seed in range(3)])
        for oblique in (False, True)
        for points, which in [clusters(oblique, 1)]
    ]
    assert found[0] < found[1]
    assert mixed(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])) == 0.5


def test_releases_are_compared_at_the_distance_of_the_tree() -> None:
    table = Table(("a", "b", "c", "d"), tuple(map(Numeric, unit().T)), 60)
    every = roy_relations.aggregations(table, ["a", "b"])
    found = roy_relations.releases(table, ["a", "b"], 3, every, 0)
    figures = {name: roy_relations.measured(table, released, ["a", "b"]) for name, released in found.items()}
    assert figures["additive noise as far"][0] == pytest.approx(figures["tree"][0], rel=1e-3)
    assert figures["tree"][1] < 1 < figures["additive noise as far"][1]
    assert "MMA" not in roy_relations.releases(table, ["a"], 3, every, 0)
