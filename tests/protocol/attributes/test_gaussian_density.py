from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_density import FEATURES, FRACTION, features, fixed_table, real_density
from mixbayes.protocol.attributes.gaussian_moments import (
    ABSENT_CODE,
    NUMERIC_BITS,
    PRESENT,
    SQUARES_HIGH,
    SQUARES_LOW,
    SUM,
)
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.bayes.training import run_training
from tests.protocol.attributes.gaussians import TOP, counted, mixed_layout, random_rows, scaled
from tests.protocol.pairs import SEEDS, seed

THREE_SEEDS = seed(1), seed(2), seed(3)
ways = pytest.mark.parametrize("private", [False, True], ids=["public", "private"])


def density(layout: Layout, vector: Words, label: int, value: int) -> float:
    """The fixed-point log-density of one value, as the sum of its features' words."""
    table = fixed_table(layout.block(vector, 0))
    words = table[:, label] * features(np.array([value], np.int32))[:, 0]
    return int(words.sum(dtype=np.uint64).view(np.int64)) / 2.0**FRACTION


def slow_density(n: int, s1: int, s2: int, x: int) -> float:
    """The same by fractions, from the textbook, less the constant that all classes share."""
    mean = Fraction(s1, n * TOP)
    variance = Fraction(s2, n * TOP * TOP) - mean**2 + Fraction(1, 2**20)
    exact = (Fraction(x, TOP) - mean) ** 2 / (2 * variance)
    shared = (2 * NUMERIC_BITS + 20) / 2
    return -0.5 * (log2(variance.numerator) - log2(variance.denominator)) - float(exact) * log2(np.e) - shared


def one_class(values: Values) -> tuple[Layout, Words]:
    layout = mixed_layout(2, [True])
    return layout, counted(layout, values[None], np.zeros(values.size, np.int32))


@given(st.integers(0, TOP))
def test_features_are_the_bits_of_the_value_and_of_its_rounded_square(x: int) -> None:
    bits = features(np.array([x, ABSENT_CODE], np.int32))
    square = (x * x + 2**21) >> 22
    expected = [1, *(x >> j & 1 for j in range(25)), *(square >> j & 1 for j in range(27))]
    assert bits.shape == (FEATURES, 2)
    assert bits[:, 0].tolist() == expected
    assert not bits[:, 1].any()


@given(st.lists(st.integers(0, TOP), min_size=1, max_size=20), st.integers(0, TOP))
def test_words_add_up_to_the_log_density(values: list[int], x: int) -> None:
    layout, vector = one_class(np.array(values, np.int32))
    exact = slow_density(len(values), sum(values), sum(v * v for v in values), x)
    steepness = 0.7214 * 2**20
    assert abs(density(layout, vector, 0, x) - exact) < steepness * 2.0**-27 + 2.0**-20


@given(st.lists(st.integers(0, TOP), min_size=1, max_size=20), st.integers(0, TOP))
def test_float_reference_is_the_log_density(values: list[int], x: int) -> None:
    moments = len(values), sum(values), sum(v * v for v in values)
    shared = (2 * NUMERIC_BITS + 20) / 2
    assert real_density(moments, np.array([x]))[0] == pytest.approx(slow_density(*moments, x) + shared, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([0.25], "one row"),
        ([0.25] * 5, "zero variance"),
        ([0.0, 1.0], "both bounds"),
        ([], "no present value counts as one row in the middle"),
    ],
)
def test_degenerate_classes_have_their_stated_density(values: list[float], says: str) -> None:
    layout, vector = one_class(scaled(values))
    rows = scaled(values).tolist() or [TOP // 2]
    moments = len(rows), sum(rows), sum(v * v for v in rows)
    for x in (0, TOP // 4, TOP // 2, TOP):
        assert density(layout, vector, 0, x) == pytest.approx(slow_density(*moments, x), rel=1e-6, abs=1e-2), says


@pytest.mark.parametrize("max_rows", [1, 1000, 2**20, Gaussian.most_rows])
def test_training_on_shares_is_bit_for_bit_the_reference(max_rows: int) -> None:
    """At the extremes of the moments too: all rows at either bound, half at each, none at all."""
    layout = mixed_layout(4, [True, True], max_rows=4 * max_rows if max_rows < 2**36 else max_rows)
    n = max_rows if max_rows < 2**36 else max_rows // 4
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = n
    for a in range(2):
        block = layout.block(vector, a)
        for label, (low, high) in enumerate([(n, 0), (0, n), (n // 2, n - n // 2)]):
            block[PRESENT, label] = low + high
            block[SUM, label] = high * TOP
            block[SQUARES_LOW, label], block[SQUARES_HIGH, label] = 0, high * TOP
    joint = fixed_model(layout, vector)
    noise = np.arange(layout.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    model_a, model_b = run_training(layout, [noise, vector - noise], THREE_SEEDS)
    low_bits = mask(joint.width)
    for of_a, of_b, table in zip(model_a.tables, model_b.tables, joint.tables, strict=True):
        np.testing.assert_array_equal((of_a + of_b) & low_bits, table)


@pytest.mark.usefixtures("dealt_base_transfers")
@given(st.lists(st.booleans(), min_size=1, max_size=4), st.integers(2, 5), SEEDS)
@settings(max_examples=12)
def test_labels_are_bit_for_bit_those_of_the_reference(kinds: list[bool], classes: int, number: int) -> None:
    rng = np.random.default_rng(number)
    layout = mixed_layout(classes, kinds, max_rows=2 ** int(rng.integers(9, 38)), smoothing="1/2")
    labels = rng.integers(0, classes - number % 2, 300).astype(np.int32)
    vector = counted(layout, random_rows(layout, rng, 300, labels), labels)
    codes = random_rows(layout, rng, 100)
    models = run_training(layout, [vector], THREE_SEEDS)
    joint = fixed_model(layout, vector)
    expected = fixed_labels(layout, joint, codes).tolist()
    for private in (False, True):
        assert run_classification(layout, models, codes, THREE_SEEDS, private=private).tolist() == expected
    exact = real_scores(layout, vector, codes)
    best = np.sort(exact, axis=0)
    sure = best[-1] - best[-2] > precision_for(layout).margin
    np.testing.assert_array_equal(exact.argmax(axis=0)[sure], np.array(expected)[sure])


@ways
def test_many_classes_need_more_than_a_pad_a_feature(private: bool) -> None:
    """With more than three classes a feature's words are longer than a pad."""
    rng = np.random.default_rng(11)
    layout = mixed_layout(7, [True, True])
    labels = rng.integers(0, 7, 500).astype(np.int32)
    vector = counted(layout, random_rows(layout, rng, 500, labels), labels)
    codes = random_rows(layout, rng, 60)
    models = run_training(layout, [vector], THREE_SEEDS)
    expected = fixed_labels(layout, fixed_model(layout, vector), codes)
    got = run_classification(layout, models, codes, THREE_SEEDS, private=private)
    np.testing.assert_array_equal(got, expected)


def test_labels_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    layout = mixed_layout(3, [True] * 5)
    labels = rng.integers(0, 3, 400).astype(np.int32)
    codes = scaled(np.clip(rng.normal(0.3 + 0.1 * labels, 0.1, (5, 400)), 0, 1))
    vector = counted(layout, codes, labels)
    columns = codes.T / TOP
    # scikit-learn's floor is a share of the largest variance of a column.
    theirs = GaussianNB(var_smoothing=2.0**-20 / columns.var(axis=0).max()).fit(columns, labels).predict(columns)
    np.testing.assert_array_equal(fixed_labels(layout, fixed_model(layout, vector), codes), theirs)
