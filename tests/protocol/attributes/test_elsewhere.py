"""A kind that is computed elsewhere adds what it adds here. The arithmetic elsewhere is numpy's for the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.by_class import ByClass
from mixbayes.protocol.attributes.elsewhere import nearest
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import scaled
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import LocalError

FINITE = st.floats(allow_nan=False, allow_infinity=False)


class InNumpy:
    """Expressions that are arrays."""

    def number(self, value: float) -> Any:
        return np.float64(value)

    def absent(self, value: Any) -> Any:
        return np.isnan(value)

    def choose(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return np.where(condition, then, otherwise)

    def floor(self, value: Any) -> Any:
        return np.floor(value)

    def once(self, value: Any) -> Any:
        return value

    def nearest(self, value: Any) -> Any:
        return nearest(value, self)


@st.composite
def numeric(draw: st.DrawFn) -> Attribute:
    numbers = st.floats(-1e6, 1e6) | FINITE
    low, *cuts, high = sorted(draw(st.lists(numbers, min_size=2, max_size=7, unique=True)))
    if draw(st.booleans()) or not np.isfinite(high - low):
        return Binned(name="x", low=low, high=high, cuts=tuple(cuts))
    return Gaussian(name="x", low=low, high=high)


@given(st.data(), numeric())
def test_adds_what_is_counted_here(data: st.DataObject, attribute: Any) -> None:
    inside = st.floats(attribute.low, attribute.high)
    edges = st.sampled_from([attribute.low, attribute.high, np.nextafter(attribute.low, np.inf)])
    values = np.array(data.draw(st.lists(inside | FINITE | edges | st.just(np.nan), min_size=1, max_size=30)))
    labels = np.arange(len(values)) % 3
    reading = attribute.read_numbers(values)
    block = np.zeros((attribute.rows, 3), np.uint64)
    attribute.count(block, reading.codes, labels)
    with np.errstate(all="ignore"):  # of branches that are not taken
        summands = attribute.summands(values, InNumpy())
    rows = [np.bincount(labels, np.broadcast_to(row, len(values)), 3) for row in summands.rows]
    assert np.array(rows).astype(np.uint64).tolist() == block.tolist()
    assert np.broadcast_to(summands.beyond, len(values)).astype(bool).tolist() == reading.beyond.tolist()


@given(st.data(), numeric(), st.integers(1, 5))
def test_adds_what_counting_one_by_one_adds(data: st.DataObject, attribute: Any, classes: int) -> None:
    inside = st.floats(attribute.low, attribute.high)
    cells = st.tuples(inside | FINITE | st.just(np.nan), st.integers(0, classes))
    rows = data.draw(st.lists(cells, max_size=40))
    values, labels = np.array([value for value, _ in rows]), np.array([label for _, label in rows], np.int64)
    known = labels < classes
    reading = attribute.read_numbers(values[known])
    expected = np.zeros((attribute.rows, classes), np.uint64)
    attribute.count(expected, reading.codes, labels[known])
    found = np.zeros_like(expected)
    beyond = attribute.count_numbers(found, values, ByClass.of(labels, classes))
    assert found.tolist() == expected.tolist()
    assert beyond == np.count_nonzero(reading.beyond)
    assert type(beyond) is int


def test_rounds_ties_to_even() -> None:
    values = np.array([0.0, 0.5, 1.5, 2.5, 0.49999999999999994, 2.0**52 - 0.5, 2.0**52])
    assert nearest(values, InNumpy()).tolist() == np.rint(values).tolist()
    assert scaled(np.array([1.5, 2.5]), 0.0, 2.0**24).tolist() == [2, 2]


def test_a_list_of_values_has_no_numbers() -> None:
    with pytest.raises(LocalError, match="'sex' has no numbers"):
        Nominal(name="sex", values=("f", "m")).summands(np.zeros(1), InNumpy())
