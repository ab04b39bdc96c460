from fractions import Fraction
from math import inf, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import scores
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from tests.protocol.pairs import SEEDS, layout_of, random_codes, random_counts

smoothings = st.sampled_from(["1", "1/2", "0.01", "3"])


@st.composite
def problems(draw: st.DrawFn, most_rows: int = 2**40) -> tuple[Layout, Words, Values]:
    """A dictionary, joint counts and rows to classify."""
    rng = np.random.default_rng(draw(SEEDS))
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=12))
    layout = layout_of(draw(st.integers(2, 6)), sizes, smoothing=draw(smoothings))
    rows = draw(st.one_of(st.integers(1, 50), st.integers(1, most_rows)))
    return layout, random_counts(layout, rng, rows), random_codes(layout, rng, 12)


def probability(layout: Layout, vector: Words, attribute: int, value: int, c: int) -> Fraction:
    """P(v|c), exactly."""
    block: list[list[int]] = layout.block(vector, attribute).tolist()
    alpha, size = layout.dictionary.smoothing, len(block) - 1
    return (block[value][c] + alpha) / (sum(row[c] for row in block[:size]) + alpha * size)


def slow_score(layout: Layout, vector: Words, row: list[int], c: int) -> float:
    counts: list[int] = layout.class_counts(vector).tolist()
    if not counts[c]:
        return -inf
    total = log2(counts[c]) - log2(sum(counts))
    for a, value in enumerate(row):
        if value < layout.rows[a] - 1:
            p = probability(layout, vector, a, value, c)
            total += log2(p.numerator) - log2(p.denominator)
    return total


def slow_scores(layout: Layout, vector: Words, codes: Values) -> list[list[float]]:
    return [[slow_score(layout, vector, row, c) for row in codes.T.tolist()] for c in range(layout.classes)]


@given(problems())
@settings(max_examples=50)
def test_real_scores_are_those_of_the_formulas(problem: tuple[Layout, Words, Values]) -> None:
    np.testing.assert_allclose(real_scores(*problem), slow_scores(*problem), rtol=1e-12, atol=1e-9)


@given(problems())
@settings(max_examples=50)
def test_fixed_scores_are_the_real_ones_within_the_margin(problem: tuple[Layout, Words, Values]) -> None:
    """Relative to the first class with rows; the margin bounds the difference of any two."""
    layout, vector, codes = problem
    model = fixed_model(layout, vector)
    some = np.flatnonzero(layout.class_counts(vector))
    top = np.uint64(64 - model.width)
    fixed = ((scores(layout, model, codes) << top).view(np.int64) >> np.int64(top)) / 2.0**31
    real = real_scores(layout, vector, codes)
    off = (fixed[some] - fixed[some[0]]) - (real[some] - real[some[0]])
    assert np.abs(off).max() <= precision_for(layout).margin


@given(problems())
@settings(max_examples=100)
def test_fixed_labels_are_the_real_ones_beyond_the_margin(problem: tuple[Layout, Words, Values]) -> None:
    layout, vector, codes = problem
    real = np.array(slow_scores(layout, vector, codes))
    second, best = np.sort(real, axis=0)[-2:]
    apart = best - second > precision_for(layout).margin
    labels = fixed_labels(layout, fixed_model(layout, vector), codes)
    assert labels[apart].tolist() == real.argmax(axis=0)[apart].tolist()


def test_margin_leaves_out_next_to_nothing() -> None:
    """Among rows of random counts nearly all are further apart than the margin."""
    rng = np.random.default_rng(1)
    layout = layout_of(3, [4, 5, 6])
    vector = random_counts(layout, rng, 10**6, empty=0)
    second, best = np.sort(real_scores(layout, vector, random_codes(layout, rng, 1000)), axis=0)[-2:]
    assert (best - second > precision_for(layout).margin).mean() > 0.99


@given(st.integers(2, 6), st.lists(st.integers(1, 8), min_size=1, max_size=5), SEEDS)
@settings(max_examples=50)
def test_ties_go_to_the_first_class(classes: int, sizes: list[int], number: int) -> None:
    """Every class has the counts of the last one, so all have the same score, whatever is asked."""
    rng = np.random.default_rng(number)
    layout = layout_of(classes, sizes)
    vector = random_counts(layout, rng, 1000, empty=0)
    first = int(rng.integers(classes))
    for block in [layout.class_counts(vector), *(layout.block(vector, a) for a in range(len(sizes)))]:
        block[...] = np.where(np.arange(classes) >= first, block[..., -1:], 0)
    layout.class_counts(vector)[first:] += np.uint64(layout.class_counts(vector)[-1] == 0)
    labels = fixed_labels(layout, fixed_model(layout, vector), random_codes(layout, rng, 20))
    assert set(labels.tolist()) == {first}


def test_row_of_missing_values_gets_the_commonest_class() -> None:
    rng = np.random.default_rng(1)
    layout = layout_of(4, [3, 3])
    vector = random_counts(layout, rng, 100, empty=0)
    layout.class_counts(vector)[:] = [10, 40, 40, 10]
    assert fixed_labels(layout, fixed_model(layout, vector), np.array([[3], [3]], np.int32)).tolist() == [1]


def training_rows(rng: np.random.Generator, sizes: list[int], classes: int, rows: int) -> tuple[Values, Values]:
    """Complete rows that depend on their class, and at least one of every class."""
    labels = np.append(np.arange(classes), rng.integers(0, classes, rows)).astype(np.int32)
    noise = np.array([rng.integers(0, size, labels.size) for size in sizes])
    lean = np.array([labels % size for size in sizes])
    return np.where(rng.random(noise.shape) < 0.4, lean, noise).astype(np.int32), labels


def counted(layout: Layout, codes: Values, labels: Values) -> Words:
    vector = np.zeros(layout.size, np.uint64)
    np.add.at(layout.class_counts(vector), labels, 1)
    for a, values in enumerate(codes):
        np.add.at(layout.block(vector, a), (values, labels), 1)
    return vector


@pytest.mark.parametrize("number", range(20))
def test_labels_are_those_of_scikit_learn(number: int) -> None:
    """Categories only, nothing missing: CategoricalNB with alpha 1 and the dictionary's numbers of values."""
    rng = np.random.default_rng(number)
    classes, sizes = int(rng.integers(2, 8)), rng.integers(1, 10, int(rng.integers(1, 12))).tolist()
    layout = layout_of(classes, sizes)
    codes, labels = training_rows(rng, sizes, classes, int(rng.integers(1, 500)))
    vector = counted(layout, codes, labels)
    pooled = CategoricalNB(alpha=1, min_categories=sizes).fit(codes.T, labels)
    asked = np.array([rng.integers(0, size, 300) for size in sizes], np.int32)
    joint = pooled.predict_joint_log_proba(asked.T) / np.log(2)
    np.testing.assert_allclose(real_scores(layout, vector, asked), joint.T, rtol=1e-12, atol=1e-9)
    second, best = np.sort(joint, axis=1).T[-2:]
    apart = best - second > precision_for(layout).margin
    fixed = fixed_labels(layout, fixed_model(layout, vector), asked)
    assert fixed[apart].tolist() == pooled.predict(asked.T)[apart].tolist()
