"""Counts that agree are not negative, have the sums that are wanted, and stay near to the noisy ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mixbayes.local_methods.private_synthesis.agreeing import agreed, fitted, not_negative, summed
from mixbayes.local_methods.tables import Floats

NOISY = arrays(np.float64, st.integers(1, 12), elements=st.integers(-50, 100).map(float))
TABLES = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(-40, 90).map(float))


@given(NOISY, st.integers(1, 300))
def test_the_nearest_counts_have_the_sum_and_are_nearer_than_others(noisy: Floats, total: int) -> None:
    found = not_negative(noisy, float(total))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    random = np.random.default_rng(0)
    for other in random.dirichlet(np.ones(len(noisy)), 20) * total:
        assert ((found - noisy) ** 2).sum() <= ((other - noisy) ** 2).sum() + 1e-6


def test_counts_that_agree_already_stay() -> None:
    counts = np.array([3.0, 0.0, 7.0])
    assert not_negative(counts, 10.0) == pytest.approx(counts)
    table = np.array([[4.0, 6.0], [10.0, 20.0]])
    assert agreed(table, table.sum(axis=1), table.sum(axis=0)) == pytest.approx(table, rel=0.01)


@given(TABLES, st.integers(0, 99))
def test_tables_get_the_sums_that_are_wanted(noisy: Floats, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, columns = (random.dirichlet(np.ones(size)) * 100 for size in noisy.shape)
    found = agreed(noisy, rows, columns)
    assert found.min() >= 0
    assert found.sum(axis=0) == pytest.approx(columns)
    assert found.sum(axis=1) == pytest.approx(rows, abs=2)  # sums over the columns are fitted last


def test_three_tables_of_two_columns_each_are_fitted_together() -> None:
    whole = np.random.default_rng(0).integers(1, 20, (2, 3, 4)).astype(float)
    sums = [(axis, whole.sum(axis=axis)) for axis in range(3)]
    found = fitted(np.ones(whole.shape), sums)
    for axis, wanted in sums:
        assert summed(found, axis) == pytest.approx(wanted, rel=0.01)


@given(TABLES, st.integers(0, 1))
def test_sums_are_sums(table: Floats, axis: int) -> None:
    assert np.array_equal(summed(table, axis), table.sum(axis=axis))
