from functools import lru_cache
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian_density import SPREAD
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.precision import MOST_COUNT_BITS, precision_for
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.circuits.logarithm import ERROR, FRACTION, fixed_log2
from mixbayes.protocol.errors import DictionaryTooLarge
from tests.protocol.attributes.gaussians import TOP, counted, mixed_layout
from tests.protocol.pairs import layout_of, random_codes, random_counts, sizes_of

EXTREME = layout_of(3, [1000] * 100)
"""A hundred attributes of a thousand values, 2^40 rows."""

smoothings = st.sampled_from(["1", "1/2", "0.001", "1000", "7/3"])


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    sizes = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=12))
    most = draw(st.sampled_from([1, 3, 1000, 2**20, 2**32, 2**40]))
    return layout_of(draw(st.integers(2, 4)), sizes, most, draw(smoothings))


def extreme_counts(layout: Layout, of_class: list[int], places: list[int]) -> Words:
    """Every class lies in one value of every attribute."""
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = of_class
    for a, size in enumerate(sizes_of(layout)):
        for c, (count, place) in enumerate(zip(of_class, places, strict=True)):
            layout.block(vector, a)[place % (size + 1), c] = count
    return vector


def exact_scores(layout: Layout, vector: Words, codes: list[int]) -> list[int]:
    """The fixed-point scores of one row in Python's integers, where nothing wraps around."""
    precision = precision_for(layout)
    smoothing = layout.dictionary.smoothing
    p, q = smoothing.numerator, smoothing.denominator
    counts: list[int] = layout.class_counts(vector).tolist()
    totals = [log(count) - (count == 0) * precision.empty for count in counts]
    for a, (size, code) in enumerate(zip(sizes_of(layout), codes, strict=True)):
        if code < size:
            block = layout.block(vector, a)[:size]
            there: list[int] = block[code].tolist()
            present: list[int] = block.sum(axis=0).tolist()
            for c in range(layout.classes):
                totals[c] += log(q * there[c] + p) - log(q * present[c] + p * size)
    return totals


@lru_cache(maxsize=1024)
def log(count: int) -> int:
    return int(fixed_log2(np.array([count], np.uint64))[0])


def assert_fits(layout: Layout, vector: Words, *rows: list[int]) -> None:
    """Differences fit the width, no class without patients wins, and the labels are those of exact integers."""
    precision, winners = precision_for(layout), []
    for codes in rows:
        scores = exact_scores(layout, vector, codes)
        assert max(scores) - min(scores) < 1 << (precision.width - 1)
        winners.append(scores.index(max(scores)))
        assert int(layout.class_counts(vector)[winners[-1]]) > 0
    labels = fixed_labels(layout, fixed_model(layout, vector), np.array(rows, np.int32).T)
    assert labels.tolist() == winners


@given(layouts(), st.data())
def test_differences_of_extreme_counts_fit(layout: Layout, data: st.DataObject) -> None:
    rows = layout.dictionary.max_rows
    share = data.draw(st.sampled_from([0, 1, rows // 2, rows - 1, rows]))
    of_class = [0] * layout.classes
    of_class[data.draw(st.integers(0, layout.classes - 1))] += share
    of_class[data.draw(st.integers(0, layout.classes - 1))] += rows - share
    places = [data.draw(st.integers(0, 3)) for _ in of_class]
    codes = [min(data.draw(st.integers(0, 3)), size) for size in sizes_of(layout)]
    assert_fits(layout, extreme_counts(layout, of_class, places), codes)


@pytest.mark.parametrize("smoothing", ["1", "1/1000", "2047/2048"])
@pytest.mark.parametrize(
    "of_class",
    [[2**40, 0, 0], [0, 0, 2**40], [0, 1, 0], [2**40 - 1, 1, 0], [2**39, 2**39, 0], [1, 2**40 - 1, 0]],
)
def test_a_hundred_attributes_of_a_thousand_values(of_class: list[int], smoothing: str) -> None:
    layout = layout_of(3, [1000] * 100, smoothing=smoothing)
    for places in ([0, 1, 2], [0, 0, 0], [1, 0, 1000]):
        vector = extreme_counts(layout, of_class, places)
        assert_fits(layout, vector, *([code] * 100 for code in (0, 1, 999, 1000)))


def test_its_width_is_not_wasteful() -> None:
    """The worst case comes within a factor of four of the width, one bit of it being the rounding up."""
    precision = precision_for(EXTREME)
    vector = extreme_counts(EXTREME, [2**40, 0, 0], [0, 0, 0])
    best, empty, _ = exact_scores(EXTREME, vector, [0] * 100)
    assert best - empty > 1 << (precision.width - 3)


def test_width_of_the_design_s_example() -> None:
    """48 for 100 nominal attributes, 2^40 rows and 33 fraction bits, with its larger sentinel."""
    assert precision_for(layout_of(2, [10] * 100)).width <= 48 - 33 + FRACTION


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=30)
def test_empty_class_never_wins(number: int, attributes: int) -> None:
    rng = np.random.default_rng(number)
    layout = layout_of(5, rng.integers(1, 50, attributes).tolist(), 2**40)
    vector = random_counts(layout, rng, int(2 ** rng.uniform(0, 40)), empty=0.6)
    labels = fixed_labels(layout, fixed_model(layout, vector), random_codes(layout, rng, 50))
    assert (layout.class_counts(vector)[labels] > 0).all()


@given(layouts())
def test_every_argument_of_a_logarithm_fits(layout: Layout) -> None:
    smoothing, rows = layout.dictionary.smoothing, layout.dictionary.max_rows
    p, q = smoothing.numerator, smoothing.denominator
    bits = precision_for(layout).count_bits
    largest = max(q * rows + p * size for size in sizes_of(layout))
    assert largest < 2**bits <= 2 * largest


@given(layouts())
def test_margin_covers_two_scores_roundings(layout: Layout) -> None:
    """A score has a prior and two logarithms an attribute, each off by at most ERROR."""
    assert precision_for(layout).margin >= 2 * (2 * len(layout.rows) + 1) * ERROR


def test_empty_is_whole_and_above_the_worst_class() -> None:
    precision = precision_for(EXTREME)
    assert precision.empty % 2**FRACTION == 0
    assert precision.empty / 2**FRACTION > 100 * log2(2**40 + 1000)


@pytest.mark.parametrize("smoothing", ["1/2047", "1048576", "1048575/2047"])
def test_long_smoothing_is_taken(smoothing: str) -> None:
    assert precision_for(layout_of(2, [2, 1000], smoothing=smoothing)).count_bits <= MOST_COUNT_BITS


@pytest.mark.parametrize("smoothing", ["1/4096", "3/1048576"])
def test_smoothing_that_makes_counts_too_long_is_refused(smoothing: str) -> None:
    with pytest.raises(DictionaryTooLarge, match="Lower max_rows"):
        precision_for(layout_of(2, [2, 1000], smoothing=smoothing))


def test_refusal_is_at_the_bit() -> None:
    """2^11 · 2^40 and a little needs 52 bits, one more doubling 53."""
    assert precision_for(layout_of(2, [2], smoothing="1/2048")).count_bits == 52
    with pytest.raises(DictionaryTooLarge, match="53 bits, 52"):
        precision_for(layout_of(2, [2], smoothing="1/4096"))


def test_binned_attributes_count_by_their_bins() -> None:
    cuts = tuple(float(i) for i in range(1, 10))
    binned = Dictionary(
        class_column="class",
        classes=("0", "1"),
        attributes=(Binned(name="age", low=0.0, high=10.0, cuts=cuts),),
        max_rows=2**40,
    )
    assert precision_for(Layout(binned)) == precision_for(layout_of(2, [10]))


def test_numbers_that_both_parties_must_come_to() -> None:
    """Another program must come to them too, or its words have other widths."""
    nominal = precision_for(layout_of(2, [3, 4], max_rows=1000))
    assert (nominal.count_bits, nominal.fraction, nominal.width) == (10, 31, 38)
    assert nominal.empty == 22 << 31
    mixed = precision_for(mixed_layout(2, [True, False], max_rows=1000))
    assert (mixed.count_bits, mixed.fraction, mixed.width) == (10, 32, 54)
    assert mixed.empty == 756_513 << 32


def test_range_of_a_gaussian_attribute_is_that_of_the_narrowest_density() -> None:
    layout = mixed_layout(2, [True])
    nobody_varies = counted(layout, np.array([[0, TOP]], np.int32), np.array([0, 1], np.int32))
    near, far = real_scores(layout, nobody_varies, np.array([[0, TOP]], np.int32))[0]
    assert near - far + 16 < SPREAD < near - far + 200


def test_2_38_rows_are_the_most_with_moments() -> None:
    assert precision_for(mixed_layout(2, [True], max_rows=2**38)).count_bits == 39
    with pytest.raises(DictionaryTooLarge, match="max_rows is 274877906945"):
        precision_for(mixed_layout(2, [True], max_rows=2**38 + 1))


def test_1419_gaussian_attributes_are_the_most() -> None:
    assert precision_for(mixed_layout(2, [True] * 1419)).width == 64
    with pytest.raises(DictionaryTooLarge, match="1420 Gaussian attributes need 65 bits"):
        precision_for(mixed_layout(2, [True] * 1420))
