"""Products, logarithms, bases, k-means and nearest neighbours in a fixed order are also right."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from sklearn.cluster import KMeans

from mixbayes.local_methods.arithmetic.axes import at_right_angles, factor, orthonormal
from mixbayes.local_methods.arithmetic.exact_products import gram, product, whole_bits
from mixbayes.local_methods.arithmetic.k_means import k_means
from mixbayes.local_methods.arithmetic.logarithms import log, log2
from mixbayes.local_methods.arithmetic.nearest_neighbour import NearestNeighbour
from mixbayes.local_methods.points import Points


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 3, 5), (20, 19, 60), (3, 400, 4), (4, 0, 2)])
def test_a_product_is_as_exact_as_doubles_and_its_terms_may_come_in_any_order(shape: tuple[int, int, int]) -> None:
    random = np.random.default_rng(0)
    left, right = random.normal(size=shape[:2]), random.normal(size=shape[1:])
    found = product(left, right)
    assert found == pytest.approx(left @ right, abs=1e-13)
    order = random.permutation(shape[1])
    assert np.array_equal(found, product(left[:, order], right[order]))


def test_the_sums_of_slices_stay_below_what_a_double_counts() -> None:
    assert all(terms * 4 ** whole_bits(terms) <= 2**53 for terms in (1, 2, 3, 127, 128, 129, 45_222, 2**30))


def test_logarithms_are_within_a_unit_of_the_last_digit() -> None:
    numbers = np.append(np.arange(1, 300), [1e-300, 0.3, np.pi, 1e300])
    exact = np.array([float(Decimal(number).ln()) for number in numbers.tolist()])
    assert (abs(log(numbers) - exact) <= np.spacing(abs(exact))).all()
    assert log2(numbers) == pytest.approx(exact / np.log(2), rel=1e-15)
    assert np.array_equal(log2(2.0 ** np.arange(-60, 60)), np.arange(-60, 60))


def test_bases_are_orthonormal_and_dependent_columns_zeros() -> None:
    columns = np.random.default_rng(0).normal(size=(90, 70))
    columns[:, 50] = columns[:, 3] - 2 * columns[:, 40]
    basis = orthonormal(columns)
    assert basis.T @ basis == pytest.approx(np.diag((np.arange(70) != 50).astype(float)), abs=1e-13)
    assert basis @ (basis.T @ columns) == pytest.approx(columns)


def test_axes_have_the_covariance_and_can_be_turned_to_the_principal_ones() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 30))
    axes = factor(gram(rows), 30)
    turned = at_right_angles(axes, 30)
    assert len(axes) == 12
    assert axes.T @ axes == pytest.approx(rows.T @ rows)
    assert turned.T @ turned == pytest.approx(rows.T @ rows)
    assert turned @ turned.T == pytest.approx(np.diag(np.linalg.svd(rows, compute_uv=False) ** 2), abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_k_means_is_that_of_scikit_learn_where_no_last_digit_decides(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(300, 1 + seed))
    ours, theirs = k_means(Points(points), 9, seed), KMeans(9, random_state=seed).fit(points)
    assert np.array_equal(ours.groups, np.asarray(theirs.labels_))
    assert ours.centres == pytest.approx(theirs.cluster_centers_, abs=1e-6)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-5)


@pytest.mark.parametrize("columns", [2, 20])
def test_the_nearest_neighbour_is_the_nearest(columns: int) -> None:
    random = np.random.default_rng(0)
    points, asked = random.normal(size=(5000, columns)), random.normal(size=(50, columns))
    found = NearestNeighbour().fit(points, np.arange(5000)).predict(asked)
    distances = ((asked[:, None] - points) ** 2).sum(axis=2)
    assert np.array_equal(found, distances.argmin(axis=1))
