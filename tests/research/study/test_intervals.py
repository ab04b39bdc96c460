"""Intervals against published examples, against scipy, and against patients drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from mixbayes.local_methods.attacks.people import placements
from mixbayes.research.study.intervals import Interval, advantage, paired, share


def patients(right: int, of: int) -> np.ndarray:
    return np.repeat([1.0, 0.0], [right, of - right])


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_newcombe_published_it_in_1998(right: int, of: int, low: float, high: float) -> None:
    found = share(patients(right, of))
    assert (found.value, found.low, found.high) == pytest.approx((right / of, low, high), abs=5e-5)


@pytest.mark.parametrize(("right", "of"), [(0, 1), (1, 1), (3, 8), (8, 8), (764, 920)])
def test_wilson_as_scipy_has_it(right: int, of: int) -> None:
    known = binomtest(right, of).proportion_ci(0.95, "wilson")
    found = share(patients(right, of))
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-9)


def test_a_patient_asked_about_often_counts_once() -> None:
    assert share(np.full(20, 0.5)) == share(patients(10, 20))


def from_cells(first_only: float, second_only: float, of: float) -> tuple[float, float]:
    """The textbook's interval for matched pairs, from the two-by-two table."""
    difference = (first_only - second_only) / of
    half = 1.959964 * np.sqrt((first_only + second_only) - (first_only - second_only) ** 2 / of) / of
    return difference - half, difference + half


def pairs(both: int, first_only: int, second_only: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    sizes = [both, first_only, second_only, neither]
    return np.repeat([1.0, 1.0, 0.0, 0.0], sizes), np.repeat([1.0, 0.0, 1.0, 0.0], sizes)


@pytest.mark.parametrize("cells", [(794, 150, 86, 570), (0, 3, 0, 5), (8, 0, 0, 0), (10, 4, 9, 2)])
def test_agresti_and_min_is_the_textbook_with_half_a_patient_more_in_each_cell(cells: tuple[int, ...]) -> None:
    both, first_only, second_only, neither = cells
    found = paired(*pairs(both, first_only, second_only, neither))
    known = from_cells(first_only + 0.5, second_only + 0.5, sum(cells) + 2)
    assert (found.low, found.high) == pytest.approx(known, abs=1e-6)
    assert found.value == pytest.approx((first_only - second_only) / sum(cells))


def test_among_many_patients_it_is_agrestis_example() -> None:
    """Approval of a prime minister, twice asked of 1,600 people: the textbook has 0.02 to 0.06."""
    found = paired(*pairs(794, 150, 86, 570))
    assert (round(found.value, 2), round(found.low, 2), round(found.high, 2)) == (0.04, 0.02, 0.06)


def test_classifiers_that_never_differ_have_an_interval_that_narrows() -> None:
    few, many = (paired(np.ones(of), np.ones(of)) for of in (8, 800))
    assert few.low < many.low < 0 < many.high < few.high
    assert few.value == many.value == 0


def test_ninety_five_in_a_hundred_hold_the_truth() -> None:
    random = np.random.default_rng(1)
    kinds = random.choice(4, size=(2000, 40), p=[0.6, 0.2, 0.05, 0.15])
    found = [paired(np.isin(one, (0, 1)).astype(float), np.isin(one, (0, 2)).astype(float)) for one in kinds]
    held = np.mean([one.low <= 0.15 <= one.high for one in found])
    assert 0.93 < held < 0.99


def test_it_stays_within_what_is_possible() -> None:
    found = paired(np.ones(3), np.zeros(3))
    assert found.value == 1
    assert found.high == 1


@pytest.mark.parametrize(("low", "high", "side"), [(0.1, 0.2, 1), (-0.2, -0.1, -1), (-0.1, 0.1, 0), (0.0, 0.1, 0)])
def test_the_side_of_zero(low: float, high: float, side: int) -> None:
    assert Interval(0.0, low, high).side == side


def test_the_interval_of_an_advantage_covers_it_nineteen_times_in_twenty() -> None:
    """Five folds, four of which are members; a member's score is higher, and patients differ by themselves."""
    random, shift, patients, folds = np.random.default_rng(0), 1.0, 60, 5
    covered = 0
    for _ in range(200):
        own = random.normal(size=patients)
        sums = np.zeros((2, patients))
        for fold in range(folds):
            inside = np.arange(patients) % folds != fold
            scores = own + random.normal(size=patients) + shift * inside
            of_members, of_others = placements(scores[inside], scores[~inside])
            sums[0, inside] += of_members / (folds - 1)
            sums[1, ~inside] += of_others
        found = advantage(*sums)
        covered += found.low <= 2 * norm.cdf(shift / 2) - 1 <= found.high
    assert 180 <= covered <= 199
