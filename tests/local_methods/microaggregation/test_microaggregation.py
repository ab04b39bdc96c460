"""Microaggregation as an estimator: groups, missing cells, what it promises and what it refuses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from mixbayes.local_methods.base import Work
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.microaggregation.aggregation import Microaggregation

VARIANTS = pytest.mark.parametrize("variant", ["univariate", "mdav"])


def column(*values: float) -> np.ndarray:
    return np.array(values, float)[:, None]


def frame(rows: int, columns: int = 2, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(rows, columns)), columns=[f"m{at}" for at in range(columns)])
    return table.assign(word=random.choice(["a", "b"], rows))


def test_univariate_groups_in_order_and_the_last_takes_what_remains() -> None:
    released, _ = Microaggregation(k=3, variant="univariate").fit_resample(column(9, 1, 2, 30, 3, 10, 11))
    assert released.ravel().tolist() == [15, 2, 2, 15, 2, 15, 15]


def test_univariate_groups_equal_values_as_they_stand() -> None:
    method = Microaggregation(k=2, variant="univariate")
    released, _ = method.fit_resample(column(5, 5, 5, 1))
    assert released.ravel().tolist() == [3, 5, 5, 3]


def test_univariate_groups_each_column_by_itself_and_says_so() -> None:
    table = np.array([[1, 8], [2, 1], [3, 9], [4, 2]], float)
    method = Microaggregation(k=2, variant="univariate")
    released, _ = method.fit_resample(table)
    assert released.tolist() == [[1.5, 8.5], [1.5, 1.5], [3.5, 8.5], [3.5, 1.5]]
    assert method.guarantee_.people is None
    assert method.guarantee_.holds
    assert method.guarantee_.measured == 2
    assert method.groups_.shape == (4, 2)


def test_mdav_groups_all_columns_together() -> None:
    table = np.array([[0, 0], [9, 9], [0, 1], [9, 8], [1, 0], [8, 9]], float)
    method = Microaggregation(k=3)
    released, _ = method.fit_resample(table)
    assert len(np.unique(released, axis=0)) == 2
    assert method.guarantee_.people == "3-anonymity of x0, x1"
    assert "the mean of a group times its size is its sum" in method.guarantee_.not_promised
    assert method.guarantee_.measured == 3


def test_a_promise_that_was_broken_is_told() -> None:
    class Careless(Microaggregation):
        def _grouped(self, work: Work, at: Sequence[int]) -> NDArray[np.intp]:
            return np.array([0, 0, 0, 1, 1])

    method = Careless(k=3)
    method.fit_resample(column(1, 2, 3, 4, 6))
    assert not method.guarantee_.holds
    assert method.guarantee_.measured == 2


@VARIANTS
@given(arrays(np.float64, st.tuples(st.integers(3, 30), st.integers(1, 3)), elements=st.floats(-1e6, 1e6)))
def test_means_stay_variances_do_not_grow_and_groups_are_large_enough(variant: str, table: np.ndarray) -> None:
    method = Microaggregation(k=3, variant=variant)
    released, _ = method.fit_resample(table)
    np.testing.assert_allclose(released.mean(axis=0), table.mean(axis=0), rtol=1e-9, atol=1e-9)
    assert (released.var(axis=0) <= table.var(axis=0) * (1 + 1e-9) + 1e-9).all()
    for values in released.T:
        assert np.unique(values, return_counts=True)[1].min() >= 3
    assert method.guarantee_.holds


@VARIANTS
def test_other_columns_and_classes_are_released_as_they_are(variant: str) -> None:
    table = frame(30)
    classes = np.repeat(["x", "y"], 15)
    released, labels = Microaggregation(k=4, confidential=["m1"], variant=variant).fit_resample(table, classes)
    assert released[["m0", "word"]].equals(table[["m0", "word"]])
    assert (released["m1"] != table["m1"]).all()
    assert labels.tolist() == classes.tolist()


@VARIANTS
def test_missing_cells_stay_missing(variant: str) -> None:
    table = frame(40)
    table.loc[[3, 8, 9, 30], "m0"] = np.nan
    released, _ = Microaggregation(k=4, confidential=["m0", "m1"], variant=variant).fit_resample(table)
    assert released["m0"].isna().equals(table["m0"].isna())
    assert released["m0"].mean() == pytest.approx(table["m0"].mean())
    assert released["m1"].mean() == pytest.approx(table["m1"].mean())


def test_rows_that_lack_the_same_cells_are_grouped_together() -> None:
    table = frame(40)
    table.loc[[3, 8, 9, 30], "m0"] = np.nan
    method = Microaggregation(k=4, confidential=["m0", "m1"])
    released, _ = method.fit_resample(table)
    assert released.loc[[3, 8, 9, 30], "m1"].nunique() == 1
    assert method.suppressed_cells_ == 0
    assert method.guarantee_.measured == 4


def test_what_too_few_rows_could_share_is_suppressed_and_counted() -> None:
    table = frame(40)
    table.loc[[3, 8, 9], "m0"] = np.nan
    method = Microaggregation(k=4, confidential=["m0", "m1"])
    released, _ = method.fit_resample(table)
    assert released.loc[[3, 8, 9], ["m0", "m1"]].isna().all(axis=None)
    assert method.suppressed_cells_ == 3
    assert method.guarantee_.holds


def test_too_few_present_values_of_a_column_are_suppressed() -> None:
    table = np.column_stack([np.arange(6.0), [1, 2, np.nan, np.nan, np.nan, np.nan]])
    method = Microaggregation(k=3, variant="univariate")
    released, _ = method.fit_resample(table)
    assert np.isnan(released[:, 1]).all()
    assert method.suppressed_cells_ == 2


@VARIANTS
def test_nothing_left_keeps_the_promise(variant: str) -> None:
    table = pd.DataFrame({"m": [1.0, np.nan, np.nan], "n": [1.0, 2.0, 3.0]})
    method = Microaggregation(k=2, confidential=["m"], variant=variant)
    released, _ = method.fit_resample(table)
    assert released["m"].isna().all()
    assert method.guarantee_.measured is None
    assert method.guarantee_.holds


@VARIANTS
@pytest.mark.parametrize("treatment", ["fill", "drop"])
def test_missing_cells_may_be_filled_or_dropped(variant: str, treatment: str) -> None:
    table = frame(40)
    table.loc[[3, 8, 9], "m0"] = np.nan
    method = Microaggregation(k=4, confidential=["m0", "m1"], variant=variant, missing=treatment)
    released, _ = method.fit_resample(table)
    assert not released.isna().any(axis=None)
    assert len(released) == (40 if treatment == "fill" else 37)
    assert method.guarantee_.holds


@VARIANTS
def test_constant_columns_keep_their_value_to_the_bit(variant: str) -> None:
    released, _ = Microaggregation(k=3, variant=variant).fit_resample(np.full((7, 2), 0.1))
    assert (released == 0.1).all()


@VARIANTS
def test_a_column_without_a_cell_stays_empty(variant: str) -> None:
    table = frame(10).assign(m1=np.nan)
    released, _ = Microaggregation(k=5, variant=variant).fit_resample(table)
    assert released["m1"].isna().all()
    assert released["m0"].nunique() == 2


@VARIANTS
def test_k_rows_are_one_group(variant: str) -> None:
    released, _ = Microaggregation(k=3, variant=variant).fit_resample(column(1, 2, 6))
    assert released.ravel().tolist() == [3, 3, 3]


@pytest.mark.parametrize("rows", [1, 4])
@VARIANTS
def test_more_rows_to_a_group_than_the_table_has_are_refused(variant: str, rows: int) -> None:
    with pytest.raises(UnfitTable, match=f"5 rows at least, but n_samples = {rows}"):
        Microaggregation(k=5, variant=variant).fit_resample(np.zeros((rows, 1)))


def test_words_have_no_mean() -> None:
    with pytest.raises(UnfitTable, match="not numeric: 'word'"):
        Microaggregation(k=2, confidential=["word"]).fit_resample(frame(9))
    with pytest.raises(UnfitTable, match="no numeric column"):
        Microaggregation(k=2).fit_resample(frame(9)[["word"]])


def test_a_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnfitTable, match="no column 'wage'"):
        Microaggregation(k=2, confidential=["wage"]).fit_resample(frame(9))


@pytest.mark.parametrize("settings", [{"k": 1}, {"k": 2, "variant": "pca"}, {"k": 2, "confidential": []}])
def test_wrong_parameters_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        Microaggregation(**settings).fit_resample(frame(9))


@pytest.mark.real_tables
def test_adult_keeps_its_promise() -> None:
    table = pd.read_csv(Path(os.environ["MIXBAYES_DATA"], "adult.csv"), na_values="?")
    method = Microaggregation(k=5, confidential=["age", "hours-per-week"])
    released, _ = method.fit_resample(table)
    counts = released.groupby(["age", "hours-per-week"]).size()
    assert counts.min() >= 5
    assert method.guarantee_.holds
    assert released["age"].mean() == pytest.approx(table["age"].mean())
