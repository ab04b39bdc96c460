"""Cuts by minimum description length, against the definition written out, and where numbers are awkward."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods.dmpd.discretisation import Discretiser, Intervals, mdl_cuts
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.tables import Nominal, Numeric, Table

Rows = Sequence[tuple[int, int]]


def entropy(rows: Rows) -> float:
    shares = [sum(y == c for _, y in rows) / len(rows) for c in {y for _, y in rows}]
    return -sum(share * log2(share) for share in shares)


def by_definition(rows: Rows) -> list[float]:
    """Fayyad and Irani (1993), one cut at a time over all rows."""
    values = sorted({x for x, _ in rows})
    options = []
    for low, high in pairwise(values):
        left, right = [r for r in rows if r[0] <= low], [r for r in rows if r[0] >= high]
        split = (len(left) * entropy(left) + len(right) * entropy(right)) / len(rows)
        options.append((split, (low + high) / 2, left, right))
    if not options:
        return []
    split, cut, left, right = min(options, key=lambda option: round(option[0], 12))
    classes, in_left, in_right = (len({y for _, y in part}) for part in (rows, left, right))
    told = log2(3**classes - 2) - (classes * entropy(rows) - in_left * entropy(left) - in_right * entropy(right))
    if entropy(rows) - split <= (log2(len(rows) - 1) + told) / len(rows):
        return []
    return [*by_definition(left), cut, *by_definition(right)]


@given(st.integers(0, 2**32 - 1))
def test_the_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    classes = int(random.integers(1, 4))
    numbers = random.integers(0, 12, 60)
    labels = np.where(random.random(60) < 0.8, numbers * classes // 12, random.integers(0, classes, 60))
    rows = list(zip(numbers.tolist(), labels.tolist(), strict=True))
    assert mdl_cuts(numbers.astype(float), labels, classes).tolist() == pytest.approx(by_definition(rows))


def test_clear_classes_are_cut_and_noise_is_not() -> None:
    numbers = np.arange(40.0)
    assert mdl_cuts(numbers, (numbers >= 20).astype(int), 2).tolist() == [19.5]
    assert mdl_cuts(numbers, np.arange(40) % 2, 2).tolist() == []


def test_a_cut_costs_as_much_as_to_say_between_which_rows_it_is() -> None:
    """Were there a sixth place for the cut of six rows, it would not pay."""
    assert mdl_cuts(np.arange(6.0), np.array([1, 0, 0, 0, 0, 0]), 2).tolist() == [0.5]


def test_a_number_becomes_the_mean_of_its_interval() -> None:
    numbers = np.append(np.arange(40.0), np.nan)
    intervals = Intervals.learn(numbers, np.append((np.arange(40) >= 20).astype(int), 0), 2)
    asked = Numeric(np.array([-1e9, 19.5, 19.6, 1e9, np.nan]))
    np.testing.assert_array_equal(intervals(asked).numbers, [9.5, 9.5, 29.5, 29.5, np.nan])


def test_numbers_between_which_there_is_none_are_cut_at_the_lower_one() -> None:
    """Their middle is rounded to the upper one."""
    low = np.nextafter(1.0, 2)
    numbers = np.repeat([low, np.nextafter(low, 2)], 20)
    assert mdl_cuts(numbers, np.repeat([0, 1], 20), 2).tolist() == [low]


@pytest.mark.parametrize("step", [np.nextafter(1.0, 2) - 1, 1e-300, 1e307])
def test_neighbouring_and_huge_numbers_stay_apart(step: float) -> None:
    numbers = np.repeat([1.0, 1.0 + step], 20)
    if step == 1e-300:
        numbers = np.repeat([0.0, step], 20)
    intervals = Intervals.learn(numbers, np.repeat([0, 1], 20), 2)
    np.testing.assert_allclose(intervals(Numeric(numbers)).numbers, numbers, rtol=1e-15)
    assert len(intervals.cuts) == 1


@pytest.mark.parametrize("numbers", [np.zeros(0), np.ones(1), np.full(9, 3.0)])
def test_nothing_to_cut(numbers: np.ndarray) -> None:
    assert not len(mdl_cuts(numbers, np.zeros(len(numbers), int), 1))


def test_texts_where_numbers_were_are_refused() -> None:
    numbers = Table(("a",), (Numeric(np.arange(9.0)),), 9)
    discretise = Discretiser.learn(numbers, Nominal(np.zeros(9, np.int64), np.array(["x"])))
    texts = Table(("a",), (Nominal(np.zeros(9, np.int64), np.array(["word"])),), 9)
    with pytest.raises(UnfitTable, match="'a' held numbers"):
        discretise(texts)
