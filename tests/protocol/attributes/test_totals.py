"""Groups of alike patients are counted as the patients one by one would be."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.kind import Kind
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.totals import totals

KINDS = [
    Nominal(name="x", values=("1", "2", "3.5")),
    Binned(name="x", low=0.0, high=9.0, cuts=(2.0, 3.0)),
    Gaussian(name="x", low=0.0, high=9.0),
    Several(name="x", values=("1", "2", "3.5")),
]


@pytest.mark.parametrize("attribute", KINDS, ids=lambda kind: kind.kind)
def test_groups_count_as_their_patients(attribute: Kind) -> None:
    rng = np.random.default_rng(1)
    cells = rng.choice(["1", "2", "3.5", "", "?", "12", "no", "2;1"], 50)
    labels, times = rng.integers(0, 3, 50), rng.integers(0, 40, 50)
    codes = attribute.read(cells).codes
    in_groups, one_by_one = np.zeros((2, attribute.rows, 3), np.uint64)
    attribute.count(in_groups, codes, labels, times)
    attribute.count(one_by_one, codes.repeat(times, axis=1), labels.repeat(times))
    np.testing.assert_array_equal(in_groups, one_by_one)


def test_sums_of_groups_are_exact_beyond_what_a_float_holds() -> None:
    values, times = np.array([2**24, 2**24 - 1, 1]), np.array([2**37, 2**37 - 1, 1])
    exact = sum(int(value) * int(many) for value, many in zip(values, times, strict=True))
    assert totals(np.zeros(3, np.int64), values, 1, times).tolist() == [exact]


@pytest.mark.parametrize("attribute", KINDS, ids=lambda kind: kind.kind)
def test_numbers_are_read_as_their_texts_are(attribute: Kind) -> None:
    texts = np.array(["1", "2", "3.5", "", "-1", "1e-07", "12"])
    from_texts, from_numbers = (
        attribute.read(texts),
        attribute.read_numbers(np.array([1, 2, 3.5, np.nan, -1, 1e-7, 12])),
    )
    for one, other in zip(from_texts, from_numbers, strict=True):
        np.testing.assert_array_equal(one, other)
