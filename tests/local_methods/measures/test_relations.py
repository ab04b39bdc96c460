"""What a release does to spread and correlations."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from mixbayes.local_methods.measures.relations import Relations, correlations

LINE = np.arange(6.0)
ZIGZAG = np.array([0.0, 1, 0, 1, 0, 1])


def test_a_release_that_changes_nothing_has_no_bias() -> None:
    table = np.column_stack([LINE, LINE**2, ZIGZAG])
    assert Relations.of(table, table, [0, 1]) == Relations(1.0, 0.0, 0.0)


def test_a_column_turned_round_has_the_same_strength_and_another_correlation() -> None:
    before, after = np.column_stack([LINE, LINE]), np.column_stack([-2 * LINE, LINE])
    assert astuple(Relations.of(before, after, [0])) == pytest.approx((2, 0, 2))


def test_a_pair_of_changed_columns_counts_once() -> None:
    table = np.column_stack([LINE, ZIGZAG, LINE**2])
    assert len(correlations(table, [0, 2])) == 3
    assert len(correlations(table, [0])) == 2


def test_a_column_that_becomes_constant_has_no_correlation() -> None:
    before, after = np.column_stack([LINE, LINE]), np.column_stack([np.full(6, 2.5), LINE])
    found = Relations.of(before, after, [0])
    assert found.deviation == 0
    assert np.isnan(found.strength)
