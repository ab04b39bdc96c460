"""SVD releases: their rank, their distance and what stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris

from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.svd.decomposition import SVD, Components, SparsifiedSVD, sparsify, truncate

X = np.asarray(load_iris(return_X_y=True)[0])
matrices = arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(2, 5)), elements=st.integers(-50, 50).map(float))


@given(matrices, st.integers(1, 2))
def test_truncation_gives_the_nearest_matrix_of_the_rank(matrix: np.ndarray, rank: int) -> None:
    product = truncate(matrix, rank).product()
    lost = np.linalg.svd(matrix, compute_uv=False)[rank:]
    assert np.linalg.norm(matrix - product) == pytest.approx(np.linalg.norm(lost), abs=1e-9)
    assert np.linalg.matrix_rank(product, tol=1e-9) <= rank


@given(matrices, st.floats(0, 0.99))
def test_sparsifying_makes_the_smallest_entries_zero_and_no_others(matrix: np.ndarray, share: float) -> None:
    before = truncate(matrix, 2)
    after = sparsify(before, share)
    old, new = (np.concatenate([c.left.ravel(), c.right.ravel()]) for c in (before, after))
    lost = (new == 0) & (old != 0)
    assert np.count_nonzero(new == 0) > share * len(old) - 1
    assert np.count_nonzero(lost) <= share * len(old) + 1e-6
    assert np.array_equal(new[new != 0], old[new != 0])
    assert not lost.any() or abs(old[lost]).max() <= abs(old[new != 0]).min(initial=np.inf)
    assert np.array_equal(after.values, before.values)


def test_sparsifying_takes_both_sides_together() -> None:
    components = Components(np.array([[0.1], [0.2], [0.3]]), np.ones(1), np.array([[0.9, 0.8, 0.7]]))
    sparse = sparsify(components, 0.5)
    assert not sparse.left.any()
    assert sparse.right.all()


def test_the_release_has_the_rank_and_says_so() -> None:
    method = SVD(rank=2)
    released, labels = method.fit_resample(X)
    assert labels is None
    assert np.linalg.matrix_rank(released) == 2
    assert method.guarantee_.holds
    assert method.guarantee_.people is None
    assert method.guarantee_.measured == 2
    assert 0.99 < method.kept_variation_ < 1


def test_columns_are_not_centred() -> None:
    released, _ = SVD(rank=1).fit_resample(X)
    u, s, v = np.linalg.svd(X, full_matrices=False)
    assert released == pytest.approx(s[0] * np.outer(u[:, 0], v[0]))


def test_full_rank_is_the_table_itself() -> None:
    method = SVD(rank=4)
    released, _ = method.fit_resample(X)
    assert released == pytest.approx(X)
    assert method.kept_variation_ == pytest.approx(1)


def test_no_sparsity_is_svd_and_more_of_it_is_further_away() -> None:
    plain, _ = SVD(rank=2).fit_resample(X)
    releases = [SparsifiedSVD(rank=2, sparsity=share).fit_resample(X)[0] for share in (0.0, 0.2, 0.4)]
    assert np.array_equal(releases[0], plain)
    distances = [float(np.linalg.norm(release - X)) for release in releases]
    assert distances == sorted(set(distances))


def test_the_share_of_zeros_is_reported() -> None:
    method = SparsifiedSVD(rank=2, sparsity=0.25)
    method.fit_resample(X)
    assert method.zeroed_ == pytest.approx(0.25, abs=0.01)
    assert method.learned().keys() == {"kept_variation", "zeroed"}


def test_a_share_of_hundredths_is_met() -> None:
    method = SparsifiedSVD(rank=4, sparsity=0.29)
    method.fit_resample(np.random.default_rng(0).normal(size=(21, 4)))
    assert method.zeroed_ == 0.29


@pytest.mark.parametrize("method", [SVD(rank=2), SparsifiedSVD(rank=2, sparsity=0.2)])
def test_the_guarantee_is_checked_on_the_release(method: SVD, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "_distorted", lambda components: truncate(X, 3))
    method.fit_resample(X)
    assert not method.guarantee_.holds
    assert method.guarantee_.measured == 3


def test_nominal_columns_and_classes_stay_as_they_are() -> None:
    names = np.array(["f", "m"] * 75, object)
    rows = np.column_stack([X.astype(object), names])
    classes = np.arange(150) % 3
    released, labels = SVD(rank=1).fit_resample(rows, classes)
    assert np.array_equal(released[:, 4], names)
    assert np.array_equal(labels, classes)
    assert released[:, :4].astype(float) == pytest.approx(SVD(rank=1).fit_resample(X)[0])


def test_missing_numbers_are_filled_and_counted() -> None:
    holes = X.copy()
    holes[::10, 1] = np.nan
    method = SVD(rank=2)
    released, _ = method.fit_resample(holes)
    assert not np.isnan(released).any()
    assert method.missing_.cells == 15
    filled = np.where(np.isnan(holes), np.nanmean(holes[:, 1]), holes)
    assert released == pytest.approx(SVD(rank=2).fit_resample(filled)[0])


@pytest.mark.parametrize("rows", [X[:1], X[:, :1]])
def test_a_rank_above_the_table_is_refused(rows: np.ndarray) -> None:
    with pytest.raises(UnfitTable, match="no rank of 2"):
        SVD(rank=2).fit_resample(rows)


def test_a_table_without_numbers_is_refused() -> None:
    with pytest.raises(UnfitTable, match="0 numeric columns"):
        SVD(rank=1).fit_resample(np.array([["a"], ["b"]], object))


@pytest.mark.parametrize(
    "method", [SVD(rank=0), SparsifiedSVD(rank=1, sparsity=1.0), SparsifiedSVD(rank=1, sparsity=-0.1)]
)
def test_parameters_out_of_range_are_refused(method: SVD) -> None:
    with pytest.raises(BadParameter):
        method.fit_resample(X)


def test_a_table_of_zeros_stays_one() -> None:
    method = SVD(rank=1)
    released, _ = method.fit_resample(np.zeros((5, 3)))
    assert not released.any()
    assert method.guarantee_.holds
    assert method.kept_variation_ == 1


def test_huge_numbers_do_not_overflow() -> None:
    method = SVD(rank=2)
    released, _ = method.fit_resample(X * 2.0**1000)
    assert released == pytest.approx(SVD(rank=2).fit_resample(X)[0] * 2.0**1000)
    assert method.kept_variation_ < 1
    assert method.guarantee_.holds
