"""Columns counted together have the counts that each has alone."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.tables import together
from mixbayes.tables.cells import Cells
from mixbayes.tables.together import counted_together


@pytest.mark.parametrize("limits", [(1, 7), (60, 7), (1 << 13, 1 << 13)], ids=["one by one", "some", "all"])
@given(st.lists(st.integers(1, 6), max_size=6), st.integers(0, 50), st.integers(0, 2**32))
def test_each_column_has_the_counts_that_it_has_alone(
    limits: tuple[int, int], sizes: list[int], rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = np.array(list("abcdef"))
    columns = [Cells(values[:size], rng.integers(0, size, rows).astype(np.uint8)) for size in sizes]
    classes = rng.integers(0, 3, rows)
    with patch.object(together, "MOST_COMBINATIONS", limits[0]), patch.object(together, "STEP", limits[1]):
        found = list(counted_together(columns, classes, 3))
    for size, column, counts in zip(sizes, columns, found, strict=True):
        expected = np.zeros((size, 3), np.int64)
        np.add.at(expected, (column.codes, classes), 1)
        np.testing.assert_array_equal(counts, expected)
