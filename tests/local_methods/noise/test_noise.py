"""Additive and multiplicative noise: its moments, what stays as it was, and what is checked of the release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from mixbayes.local_methods import AdditiveNoise, BadParameter, MultiplicativeNoise, UnfitTable
from mixbayes.local_methods.noise.additive import correlations
from mixbayes.local_methods.noise.multiplicative import truncated
from mixbayes.local_methods.noise.noise import Noise, nonzero_normal

Matrix = NDArray[np.float64]
ROWS = 20_000
Kind = Callable[..., Noise]
KINDS: Mapping[str, Kind] = {
    "correlated": partial(AdditiveNoise, random_state=0),
    "independent": partial(AdditiveNoise, correlated=False, random_state=0),
    "multiplicative": partial(MultiplicativeNoise, random_state=0),
}
EACH = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def related(rows: int = ROWS) -> Matrix:
    """Two columns of different size that go together, and one that does not."""
    one, other, third = chance(1).normal(size=(3, rows))
    return np.column_stack([100 + 10 * one, 0.9 * one + np.sqrt(1 - 0.9**2) * other, 3 * third])


def correlation(matrix: Matrix) -> float:
    return float(np.asarray(np.corrcoef(matrix[:, :2].T))[0, 1])


@pytest.mark.parametrize("correlated", [True, False])
def test_additive_noise_has_the_scale_asked_for_and_keeps_the_means(correlated: bool) -> None:
    table = related()
    released, _ = AdditiveNoise(scale=0.3, correlated=correlated, random_state=0).fit_resample(table)
    assert (released - table).std(axis=0) == pytest.approx(0.3 * table.std(axis=0), rel=0.03)
    assert released.mean(axis=0) == pytest.approx(table.mean(axis=0), rel=1e-12, abs=1e-12)


def test_correlated_noise_keeps_correlations_and_independent_noise_weakens_them() -> None:
    table = related()
    together, _ = AdditiveNoise(scale=1, random_state=0).fit_resample(table)
    apart, _ = AdditiveNoise(scale=1, correlated=False, random_state=0).fit_resample(table)
    assert correlation(table) == pytest.approx(0.9, abs=0.01)
    assert correlation(together) == pytest.approx(0.9, abs=0.01)
    assert correlation(apart) == pytest.approx(0.45, abs=0.02)


def test_factors_have_mean_one_and_the_scale_asked_for() -> None:
    table = related()
    released, _ = MultiplicativeNoise(scale=0.2, random_state=0).fit_resample(table)
    assert (released / table).mean(axis=0) == pytest.approx(1, abs=0.01)
    assert (released / table).std(axis=0) == pytest.approx(0.2, rel=0.03)


def test_factors_are_truncated_so_that_signs_stay() -> None:
    drawn = truncated(0.9, chance(), (ROWS, 2))
    assert abs(drawn).max() < 1
    assert abs(drawn.mean()) < 0.01
    assert 0.3 < drawn.std() < 0.9
    table = related()
    released, _ = MultiplicativeNoise(scale=0.9, random_state=0).fit_resample(table)
    np.testing.assert_array_equal(np.sign(released), np.sign(table))


def test_no_noise_is_zero() -> None:
    """`normal` gives zero once in about three million draws."""

    class AtZero(np.random.Generator):
        def standard_normal(self, *arguments: Any, **settings: Any) -> Any:
            return np.zeros(arguments[0])

    assert (nonzero_normal(AtZero(np.random.PCG64(0)), (3, 2)) != 0).all()


@EACH
@given(
    table=arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 4)), elements=st.integers(-4, 4).map(float)),
    gaps=st.sets(st.integers(0, 30)),
)
def test_every_number_changes_but_zeros_or_constant_columns(kind: Kind, table: Matrix, gaps: set[int]) -> None:
    table[[at for at in gaps if 0 < at < len(table)], 0] = np.nan
    noise = kind()
    released, _ = noise.fit_resample(table)
    with np.errstate(invalid="ignore"):
        still = table == 0 if isinstance(noise, MultiplicativeNoise) else np.nanstd(table, axis=0) == 0
    still = np.broadcast_to(still, table.shape) & ~np.isnan(table)
    np.testing.assert_array_equal(released[still], table[still])
    assert (released != table)[~still & ~np.isnan(table)].all()
    np.testing.assert_array_equal(np.isnan(released), np.isnan(table))
    assert noise.learned() == {"unchanged_cells": still.sum()}
    assert noise.guarantee_.holds
    assert noise.guarantee_.measured == 0
    assert noise.guarantee_.people is None
    assert "who knows the seed has it" in noise.guarantee_.not_promised


@EACH
def test_noise_that_is_lost_in_rounding_breaks_the_promise(kind: Kind) -> None:
    lost = kind(scale=1e-20)
    lost.fit_resample(np.array([[1.0], [2.0], [4.0]]))
    assert not lost.guarantee_.holds
    assert lost.guarantee_.measured == 3


@EACH
def test_a_type_in_which_the_noise_is_lost_is_not_used(kind: Kind) -> None:
    fine = kind(scale=1e-10)
    released, _ = fine.fit_resample(related(50).astype(np.float32))
    assert fine.guarantee_.holds
    assert released.dtype == np.float64
    assert kind().fit_resample(related(50).astype(np.float32))[0].dtype == np.float32


@EACH
def test_several_releases_give_the_numbers_away(kind: Kind) -> None:
    """What noise does not promise."""
    table = related(200)
    releases = [kind(random_state=seed).fit_resample(table)[0] for seed in range(100)]
    once, mean = abs(releases[0] - table), abs(np.mean(releases, axis=0) - table)
    assert mean.mean() < once.mean() / 8


@EACH
def test_the_same_seed_gives_the_same_release(kind: Kind) -> None:
    one, same, other = (kind(random_state=seed).fit_resample(related(50))[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()


@EACH
def test_other_columns_words_and_classes_are_released_as_they_are(kind: Kind) -> None:
    table = pd.DataFrame(related(40), columns=["a", "b", "c"]).assign(
        word=np.resize(np.array(["x", "y", None], object), 40)
    )
    labels = np.resize([0, 1], 40)
    noise = kind(confidential=["b"])
    released, classes = noise.fit_resample(table, labels)
    assert released.drop(columns="b").equals(table.drop(columns="b"))
    assert (released["b"] != table["b"]).all()
    assert noise.kept_columns_ == ["a", "c", "word"]
    assert classes.tolist() == labels.tolist()


@EACH
@pytest.mark.parametrize(("treatment", "rows"), [("keep", 40), ("fill", 40), ("drop", 37)])
def test_missing_cells_stay_missing_or_are_treated(kind: Kind, treatment: str, rows: int) -> None:
    table = pd.DataFrame(related(40), columns=["a", "b", "c"]).assign(empty=np.nan)
    table.loc[[3, 8, 9], "a"] = np.nan
    noise = kind(missing=treatment)
    released, _ = noise.fit_resample(table)
    assert len(released) == rows
    assert released["a"].isna().sum() == (3 if treatment == "keep" else 0)
    assert released["empty"].isna().all()
    assert noise.guarantee_.holds


def test_gaps_count_as_the_mean_in_correlations_and_constant_columns_not_at_all() -> None:
    table = related(300)
    table[::7, 0] = np.nan
    found = correlations(np.column_stack([table, np.full(300, 0.1)]))
    filled = np.where(np.isnan(table), np.nanmean(table, axis=0), table)
    np.testing.assert_allclose(found[:3, :3], np.corrcoef(filled.T))
    assert found[3].tolist() == [0, 0, 0, 1]


def test_columns_that_say_the_same_get_the_same_noise() -> None:
    one = related(50)[:, :1]
    released, _ = AdditiveNoise(random_state=0).fit_resample(np.column_stack([one, 2 * one, -one]))
    np.testing.assert_allclose(released, released[:, :1] * [1, 2, -1])


def test_one_row_has_no_deviation() -> None:
    row = np.array([[3.0, 0.0]])
    added, times = AdditiveNoise(), MultiplicativeNoise(random_state=0)
    assert added.fit_resample(row)[0].tolist() == row.tolist()
    assert added.unchanged_cells_ == 2
    released, _ = times.fit_resample(row)
    assert released[0, 0] != 3
    assert (released[0, 1], times.unchanged_cells_) == (0, 1)


@EACH
def test_large_and_small_numbers_neither_overflow_nor_vanish(kind: Kind) -> None:
    scale = np.array([2.0**1000, 2.0**-900, 1.0])
    released, _ = kind().fit_resample(related(60) * scale)
    np.testing.assert_array_equal(released, kind().fit_resample(related(60))[0] * scale)


@EACH
def test_a_number_that_noise_would_make_infinite_is_refused(kind: Kind) -> None:
    largest = np.finfo(np.float64).max
    with pytest.raises(UnfitTable, match="'x1' with noise exceeds the largest number"):
        kind().fit_resample(np.column_stack([np.arange(40.0), np.resize([largest, -largest], 40)]))


@EACH
def test_words_get_no_noise(kind: Kind) -> None:
    words = pd.DataFrame({"word": ["a", "b"]})
    with pytest.raises(UnfitTable, match="no numeric column"):
        kind().fit_resample(words)
    with pytest.raises(UnfitTable, match="not numeric: 'word'"):
        kind(confidential=["word"]).fit_resample(words)


@EACH
@pytest.mark.parametrize("settings", [{"scale": 0}, {"scale": -1}, {"confidential": []}, {"missing": "guess"}])
def test_wrong_parameters_are_refused(kind: Kind, settings: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        kind(**settings).fit_resample(related(9))


def test_factors_with_a_deviation_of_one_are_refused() -> None:
    with pytest.raises(BadParameter):
        MultiplicativeNoise(scale=1.0).fit_resample(related(9))


@pytest.mark.parametrize(
    ("kind", "columns", "said"),
    [
        (
            "correlated",
            ["x1", "x2"],
            "0.25 standard deviations of the column, correlated as the columns are, was added to x1",
        ),
        ("correlated", ["x1"], "0.25 standard deviations of the column was added to x1: no"),
        ("independent", ["x1", "x2"], "0.25 standard deviations of the column was added to x1, x2: no"),
        ("multiplicative", ["x2"], "of x2 was multiplied by normal noise with mean 1 and standard deviation 0.25: no"),
    ],
)
def test_the_claim_says_what_was_drawn(kind: str, columns: list[str], said: str) -> None:
    noise = KINDS[kind](scale=0.25, confidential=columns)
    noise.fit_resample(related(9))
    assert said in noise.guarantee_.claim
