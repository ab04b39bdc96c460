"""The measures of distortion on tables whose answers are known without them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.tables import Nominal, Numeric, nominal_from

ROWS = 40
numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 1))
matrices = arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 5)), elements=numbers)


def column(*values: float) -> np.ndarray:
    return np.array([values], np.float64).T


@given(matrices)
def test_a_release_of_the_original_itself_is_no_distortion(matrix: np.ndarray) -> None:
    assert measures.rp(matrix, matrix) == measures.cp(matrix, matrix) == 0
    assert measures.rk(matrix, matrix) == measures.ck(matrix, matrix) == 1
    assert measures.vd(matrix, matrix) == 0 or np.isnan(measures.vd(matrix, matrix))
    widths = measures.confidence_widths(matrix, matrix)
    assert all(widths[~np.isnan(widths)] == 0)
    assert np.array_equal(np.isnan(widths), np.ptp(matrix, axis=0) == 0)


@pytest.mark.parametrize("n", [9, 120, 614])
def test_an_independent_release_moves_ranks_as_chance_does(n: int) -> None:
    random = np.random.default_rng(n)
    columns = 60_000 // n
    original = np.tile(np.arange(float(n))[:, None], columns)
    released = random.permuted(original, axis=0)
    assert measures.rp(original, released) == pytest.approx((n**2 - 1) / (3 * n), rel=0.02)
    assert measures.rk(original, released) == pytest.approx(1 / n, rel=0.25)


def test_a_reversed_column_moves_every_rank_as_far_as_it_goes() -> None:
    before, after = column(1, 2, 3, 4, 5), column(5, 4, 3, 2, 1)
    assert measures.rp(before, after) == pytest.approx((4 + 2 + 0 + 2 + 4) / 5)
    assert measures.rk(before, after) == pytest.approx(1 / 5)


def test_ties_share_the_average_of_their_ranks() -> None:
    before, after = column(1, 1, 2, 3), column(1, 2, 3, 4)
    assert measures.rp(before, after) == pytest.approx((0.5 + 0.5) / 4)
    assert measures.rk(before, after) == pytest.approx(2 / 4)


def test_means_that_change_places_move_one_rank_each() -> None:
    before = np.array([[1.0, 2.0, 9.0]] * 3)
    after = np.array([[2.0, 1.0, 7.0]] * 3)
    assert measures.cp(before, after) == pytest.approx(2 / 3)
    assert measures.ck(before, after) == pytest.approx(1 / 3)


def test_equal_means_share_their_rank_whatever_their_sums_round_to() -> None:
    before = np.array([[0.0, 0.1], [0.3, 0.2]])
    after = np.array([[0.1 + 0.2, 0.15], [0.0, 0.15]])
    assert before[:, 0].mean() != after[:, 0].mean()
    assert (measures.cp(before, after), measures.ck(before, after)) == (0, 1)
    far = np.array([[1e9, 1e-9, 2e-9], [-1e9, 1e-9, 2e-9]])
    assert (measures.cp(far, far[:, [0, 2, 1]]), measures.ck(far, far[:, [0, 2, 1]])) == (2 / 3, 1 / 3)


def test_means_need_no_paired_rows() -> None:
    assert measures.ck(np.ones((3, 2)) * [1, 2], np.ones((7, 2)) * [3, 4]) == 1


def test_rows_that_cannot_be_paired_are_refused() -> None:
    for measure in (measures.vd, measures.rp, measures.rk, measures.confidence_interval):
        with pytest.raises(ValueError, match="paired"):
            measure(np.ones((3, 2)), np.ones((4, 2)))


def test_vd_is_relative_to_the_norm_of_the_original() -> None:
    assert measures.vd(column(3, 4), column(3, 9)) == pytest.approx(1)
    assert np.isnan(measures.vd(column(0, 0), column(1, 1)))


def test_the_interval_of_uniform_and_of_normal_noise_is_what_agrawal_and_srikant_say() -> None:
    random = np.random.default_rng(3)
    original = random.permuted(np.linspace(0, 10, 200_001))[:, None]
    uniform = original + random.uniform(-2, 2, original.shape)
    normal = original + random.normal(0, 1, original.shape)
    assert measures.confidence_interval(original, uniform) == pytest.approx(0.95 * 4 / 10, rel=0.01)
    assert measures.confidence_interval(original, normal) == pytest.approx(3.92 / 10, rel=0.01)


def test_the_interval_is_wider_for_more_confidence_and_is_averaged_over_attributes() -> None:
    random = np.random.default_rng(4)
    original = random.normal(size=(500, 3))
    original[:, 2] = 7
    released = original + random.normal(size=(500, 3)) * [1, 2, 1]
    widths = measures.confidence_widths(original, released)
    assert np.isnan(widths[2])
    assert measures.confidence_interval(original, released) == pytest.approx(widths[:2].mean())
    assert all(measures.confidence_widths(original, released, 0.5)[:2] < widths[:2])


def test_the_range_is_that_of_the_attribute_where_cells_are_missing_from_the_release_too() -> None:
    assert measures.confidence_interval(column(0, 1, 10), column(0, 2, np.nan)) == pytest.approx(0.95 / 10)


def test_a_binary_attribute_released_at_random_has_an_interval_of_twice_its_range() -> None:
    random = np.random.default_rng(5)
    original, released = random.integers(0, 2, (2, 1000, 1)).astype(float)
    assert measures.confidence_interval(original, released) == 2


def test_missing_cells_are_left_out_with_their_partners() -> None:
    random = np.random.default_rng(6)
    original, released = random.normal(size=(2, ROWS, 1))
    holes = released.copy()
    holes[::4] = np.nan
    rest = ~np.isnan(holes[:, 0])
    for measure in (measures.vd, measures.rp, measures.rk):
        assert measure(original, holes) == pytest.approx(measure(original[rest], released[rest]))
        assert measure(holes, original) == pytest.approx(measure(released[rest], original[rest]))


def test_a_column_without_a_present_cell_counts_nowhere() -> None:
    random = np.random.default_rng(7)
    original, released = random.normal(size=(2, ROWS, 3))
    original[:, 1] = np.nan
    for measure in (measures.vd, measures.rp, measures.rk, measures.cp, measures.ck, measures.confidence_interval):
        assert measure(original, released) == pytest.approx(measure(original[:, [0, 2]], released[:, [0, 2]]))


def test_huge_numbers_are_measured_as_small_ones_are() -> None:
    original, released = np.random.default_rng(9).normal(size=(2, ROWS, 3)) * [1, 2, 3]
    huge = 2.0**1020
    for measure in (measures.vd, measures.rp, measures.rk, measures.cp, measures.ck, measures.confidence_interval):
        assert measure(original * huge, released * huge) == pytest.approx(measure(original, released))


def test_tiny_numbers_that_are_released_as_zeros_are_as_far_off_as_they_were_large() -> None:
    assert measures.vd(np.array([[2.0**-1000], [-(2.0**-1001)]]), np.zeros((2, 1))) == 1


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_no_cell_no_measure(shape: tuple[int, int]) -> None:
    nothing = np.ones(shape)
    for measure in (measures.vd, measures.rp, measures.rk, measures.cp, measures.ck, measures.confidence_interval):
        assert np.isnan(measure(nothing, nothing))


def names(*cells: str) -> Nominal:
    return nominal_from(np.array(cells), np.array(cells) == "?")


def numeric(*cells: float) -> Numeric:
    return Numeric(np.array(cells, np.float64))


def test_k_anonymity_is_the_size_of_the_smallest_group() -> None:
    sex, age = names("f", "f", "f", "m", "m"), numeric(30, 30, 30, 41, 41)
    assert measures.k_anonymity([sex]) == measures.k_anonymity([sex, age]) == 2
    assert measures.k_anonymity([sex, numeric(30, 30, 31, 41, 41)]) == 1


def test_a_missing_cell_is_equal_to_a_missing_one_alone() -> None:
    age = numeric(30, 30, np.nan, np.nan, np.nan)
    assert measures.k_anonymity([age]) == 2
    assert measures.k_anonymity([age, names("f", "?", "f", "f", "?")]) == 1
    assert measures.k_anonymity([names("?", "?", "f", "f", "f")]) == 2


@given(arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(0, 2)))
def test_k_anonymity_counts_as_a_dictionary_does(table: np.ndarray) -> None:
    rows = [tuple(row) for row in table.tolist()]
    assert measures.k_anonymity([numeric(*column) for column in table.T]) == min(map(rows.count, rows))


def test_many_columns_do_not_overflow() -> None:
    table = np.random.default_rng(8).normal(size=(200, 60))
    assert measures.k_anonymity([numeric(*column) for column in table.T]) == 1
    assert measures.k_anonymity([numeric(*column) for column in np.repeat(table, 3, axis=0).T]) == 3


def test_nobody_has_no_anonymity() -> None:
    assert measures.k_anonymity([numeric()]) is None
