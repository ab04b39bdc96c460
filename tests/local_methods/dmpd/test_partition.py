"""Partitions and their operators: the paper's figures, and that every child is a partition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods.dmpd.partition import (
    PRINTED,
    UNUSED,
    Population,
    as_matrix,
    crossed,
    from_matrix,
    groups_of,
    mutated,
    named,
    random_population,
)

seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, size: int = 20) -> tuple[Population, np.random.Generator]:
    random = np.random.default_rng(seed)
    return random_population(size, int(random.integers(1, 9)), random), random


def test_figure_2() -> None:
    partition = np.array([0, 1, 1, UNUSED])
    matrix = [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, -1]]
    assert as_matrix(partition).tolist() == matrix
    assert from_matrix(np.array(matrix)).tolist() == partition.tolist()
    assert groups_of(partition) == [(0,), (1, 2)]


def test_two_unused_features_are_marked_between_them_too() -> None:
    """The printed formula: -1 wherever neither feature is in a group, not on the diagonal alone."""
    matrix = [[1, 0, 1, 0], [0, -1, 0, -1], [1, 0, 1, 0], [0, -1, 0, -1]]
    assert as_matrix(np.array([0, UNUSED, 0, UNUSED])).tolist() == matrix
    assert from_matrix(np.array(matrix)).tolist() == [0, UNUSED, 0, UNUSED]


@given(seeds)
def test_the_matrix_and_the_names_say_the_same(seed: int) -> None:
    for partition in drawn(seed)[0]:
        assert from_matrix(as_matrix(partition)).tolist() == partition.tolist()


@given(seeds)
def test_groups_are_called_by_their_first_feature(seed: int) -> None:
    for partition in drawn(seed)[0]:
        groups = groups_of(partition)
        assert all(partition[list(group)].tolist() == [group[0]] * len(group) for group in groups)
        assert sorted(at for group in groups for at in group) == np.flatnonzero(partition != UNUSED).tolist()


@given(seeds)
def test_a_child_has_a_group_of_one_parent_and_the_rest_of_the_other(seed: int) -> None:
    population, random = drawn(seed)
    mothers, fathers = population[:10], population[10:]
    daughters, sons = crossed(mothers, fathers, random)
    givers, receivers, children = [*mothers, *fathers], [*fathers, *mothers], [*daughters, *sons]
    for giver, receiver, child in zip(givers, receivers, children, strict=True):
        assert child.tolist() == named(child[None])[0].tolist()
        assert any(is_child(child, giver, receiver, given) for given in parts(giver))


def parts(partition: np.ndarray) -> list[tuple[int, ...]]:
    """The groups, and the unused features if there are any."""
    unused = tuple(np.flatnonzero(partition == UNUSED).tolist())
    return [*groups_of(partition), *([unused] if unused else [])]


def is_child(child: np.ndarray, giver: np.ndarray, receiver: np.ndarray, given: tuple[int, ...]) -> bool:
    """Figure 3: the given group as it is, the receiver's groups without its features."""
    expected = receiver.copy()
    expected[list(given)] = UNUSED if giver[given[0]] == UNUSED else len(receiver)
    return bool((named(expected[None])[0] == child).all())


def test_mutation_moves_each_feature_or_none() -> None:
    population, random = drawn(3)
    assert mutated(population, 0, random).tolist() == population.tolist()
    moved = mutated(population, 0.5, random)
    assert moved.tolist() == named(moved).tolist()
    assert (moved != population).any()


def test_a_lone_group_can_be_left_for_a_group_of_ones_own() -> None:
    """The paper: if there is only one subset, the feature creates its own."""
    random = np.random.default_rng(0)
    population = np.zeros((200, 3), np.int64)
    after = {tuple(row) for row in mutated(population, 0.3, random).tolist()}
    assert (0, 0, 2) in after
    assert (0, 0, UNUSED) in after


def test_by_the_printed_rule_a_feature_founds_a_group_only_where_there_is_just_one() -> None:
    random = np.random.default_rng(0)
    alone = {tuple(row) for row in mutated(np.zeros((300, 3), np.int64), 0.3, random, PRINTED).tolist()}
    assert alone == {(0, 0, 0), (0, 1, 0), (0, 0, 2), (0, 1, 1), (0, 1, 2)}
    two = np.tile([0, 0, 2, UNUSED], (300, 1))
    after = {tuple(row) for row in mutated(two, 0.3, random, PRINTED).tolist()}
    assert after == {(0, 0, 2, -1), (0, 1, 1, -1), (0, 1, 0, -1), (0, 0, 0, -1)}


def test_unused_features_come_back() -> None:
    random = np.random.default_rng(0)
    population = np.full((200, 2), UNUSED, np.int64)
    after = {tuple(row) for row in mutated(population, 0.5, random).tolist()}
    assert after == {(UNUSED, UNUSED), (0, UNUSED), (UNUSED, 1), (0, 1)}
