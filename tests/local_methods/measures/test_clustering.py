"""Clusterings of the same rows, compared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods.measures.clustering import adjusted_rand, k_means, misclassification_error

labels = st.lists(st.integers(0, 4), min_size=1, max_size=30).map(np.array)


@given(labels, st.permutations(range(5)))
def test_the_names_of_clusters_do_not_matter(original: np.ndarray, names: list[int]) -> None:
    renamed = np.array(names)[original]
    assert misclassification_error(original, renamed) == 0
    assert adjusted_rand(original, renamed) == 1


@given(labels)
def test_clusters_of_zero_and_of_all_rows_are_compared_too(original: np.ndarray) -> None:
    largest = np.bincount(original).max()
    one = np.zeros_like(original)
    expected = 2 * (len(original) - largest) / len(original)
    assert misclassification_error(original, one) == pytest.approx(expected)
    assert misclassification_error(one, original) == pytest.approx(expected)


def test_a_row_that_moves_counts_twice() -> None:
    original = np.repeat([0, 1, 2], 19)
    released = original.copy()
    released[0] = 1
    assert misclassification_error(original, released) == pytest.approx(2 / 57)


def test_rows_that_change_places_show_in_the_rand_index_alone() -> None:
    original = np.repeat([0, 1], 10)
    released = original.copy()
    released[[0, 19]] = [1, 0]
    assert misclassification_error(original, released) == 0
    assert 0 < adjusted_rand(original, released) < 1


def test_clusters_are_matched_by_the_rows_they_share_not_by_their_sizes() -> None:
    original = np.array([0] * 6 + [1] * 4)
    released = np.array([1] * 4 + [0] * 6)
    assert misclassification_error(original, released) == pytest.approx(4 / 10)
    released = np.array([1] * 5 + [0] * 5)
    assert misclassification_error(original, released) == pytest.approx(2 / 10)


def test_unrelated_clusterings_have_a_rand_index_near_zero() -> None:
    original, released = np.random.default_rng(1).integers(0, 3, (2, 5000))
    assert abs(adjusted_rand(original, released)) < 0.01


def test_k_means_finds_clusters_that_are_there_and_again_the_same() -> None:
    random = np.random.default_rng(2)
    true = random.integers(0, 3, 150)
    rows = np.array([[0, 0], [9, 0], [0, 9]])[true] + random.normal(size=(150, 2))
    found = k_means(rows, 3, seed=0)
    assert adjusted_rand(true, found) == 1
    assert np.array_equal(found, k_means(rows, 3, seed=0))


def test_k_means_of_fewer_different_rows_than_clusters_has_fewer() -> None:
    assert set(k_means(np.repeat([[0.0], [1.0]], 5, axis=0), 4, seed=0)) == {0, 1}
    assert set(k_means(np.zeros((3, 2)), 4, seed=0)) == {0}


def test_no_rows_no_measure() -> None:
    nobody = np.array([], int)
    assert np.isnan(misclassification_error(nobody, nobody))
    assert np.isnan(adjusted_rand(nobody, nobody))
