from fractions import Fraction
from math import log2, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from mixbayes.protocol.paillier import exact
from tests.protocol.pairs import SEEDS, layout_of, random_codes, random_counts, sizes_of

SMOOTHINGS = st.sampled_from(["1", "1/2", "0.01", "7/3"])


@st.composite
def problems(draw: st.DrawFn, rows: int = 60) -> tuple[Layout, Words, Values]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    layout = layout_of(draw(st.integers(2, 5)), sizes, max_rows=10**6, smoothing=draw(SMOOTHINGS))
    rng = np.random.default_rng(draw(SEEDS))
    return layout, random_counts(layout, rng, draw(st.integers(0, rows))), random_codes(layout, rng, 12)


def probability(layout: Layout, vector: Words, row: list[int], c: int) -> Fraction:
    """P(c) Π P(v|c) as textbooks write it, up to 1/N."""
    alpha, result = layout.dictionary.smoothing, Fraction(int(layout.class_counts(vector)[c]))
    for a, value in enumerate(row):
        of_class = [int(n) for n in layout.block(vector, a)[:-1, c]]
        if value < len(of_class):
            result *= (of_class[value] + alpha) / (sum(of_class) + alpha * len(of_class))
    return result


@given(problems())
def test_labels_are_the_largest_probability_and_ties_go_to_the_first(problem: tuple[Layout, Words, Values]) -> None:
    layout, vector, codes = problem
    for row, label in zip(codes.T.tolist(), exact.labels(layout, vector, codes).tolist(), strict=True):
        chances = [probability(layout, vector, row, c) for c in range(layout.classes)]
        assert chances[label] == max(chances)
        assert max(chances) not in chances[:label]


def test_a_class_without_rows_never_wins() -> None:
    layout = layout_of(3, [2])
    vector = np.array([0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0], np.uint64)
    assert exact.labels(layout, vector, np.array([[0, 1, 2]], np.int32)).tolist() == [1, 2, 1]
    assert exact.labels(layout, vector * np.uint64(0), np.array([[0]], np.int32)).tolist() == [0]


@given(problems(rows=10**6))
@settings(max_examples=50)
def test_the_shares_protocol_agrees_beyond_its_bound(problem: tuple[Layout, Words, Values]) -> None:
    layout, vector, codes = problem
    if not layout.class_counts(vector).any():
        return
    margin = precision_for(layout).margin + 1e-9  # float64 rounds too
    best = np.sort(real_scores(layout, vector, codes), axis=0)[-2:]
    clear = best[1] - best[0] > margin
    fixed = fixed_labels(layout, fixed_model(layout, vector), codes)
    assert (exact.labels(layout, vector, codes) == fixed)[clear].all()


@given(problems(), SEEDS)
def test_both_sides_of_every_comparison_stay_below_the_bound(
    problem: tuple[Layout, Words, Values], number: int
) -> None:
    layout = problem[0]
    vector = random_counts(layout, np.random.default_rng(number), layout.dictionary.max_rows, empty=0)
    cells = exact.cells(layout, vector, 1)
    factors = zip(cells.numerators, cells.denominators, strict=True)
    most = int(max(cells.prior)) * prod(int(c.max() * d.max()) for c, d in factors)
    assert most < 1 << exact.comparison_bits(layout)
    cell = max(int(d.max()) for d in cells.denominators)
    assert cell < 1 << exact.cell_bits(layout)


@pytest.mark.parametrize("sizes", [[2], [10] * 13, [1000] * 100])
@pytest.mark.parametrize("rows", [1, 1000, 2**20])
def test_the_bits_are_those_of_the_design(sizes: list[int], rows: int) -> None:
    layout = layout_of(2, sizes, max_rows=rows, smoothing="3/7")
    p, q = 3, 7
    said = log2(rows) + sum(log2(q * rows + p) + log2(q * rows + p * size) for size in sizes)
    assert said <= exact.comparison_bits(layout) <= said + 1


def test_a_dictionary_that_does_not_fit_is_refused_with_the_numbers() -> None:
    dictionary = layout_of(2, [1000] * 100, max_rows=2**20).dictionary
    needed = exact.comparison_bits(Layout(dictionary)) + 43
    assert exact.fitting_bits(Layout(dictionary), needed) == needed - 43
    with pytest.raises(DictionaryTooLarge, match=rf"(?s)100 attributes.*1048576 rows.*{needed} bits.* {needed - 1}\."):
        exact.fitting_bits(Layout(dictionary), needed - 1)


def test_gaussian_attributes_are_refused_by_name() -> None:
    attributes = (Nominal(name="sex", values=("f", "m")), Gaussian(name="age", low=0.0, high=99.0))
    dictionary = Dictionary(class_column="class", classes=("a", "b"), attributes=attributes)
    with pytest.raises(Unsupported, match=r"age.*--bins.*shares protocol"):
        exact.comparison_bits(Layout(dictionary))


def test_parts_of_two_hospitals_add_up() -> None:
    layout = layout_of(3, [2, 4], smoothing="2/3")
    rng = np.random.default_rng(1)
    first, second = random_counts(layout, rng, 40), random_counts(layout, rng, 70)
    parts = exact.cells(layout, first, 1), exact.cells(layout, second, 0)
    whole = exact.cells(layout, first + second, 1)
    assert (parts[0].prior + parts[1].prior == whole.prior).all()
    for a, b, both in zip(*(part.numerators for part in (*parts, whole)), strict=True):
        assert (a + b == both).all()
    assert [len(cells) for cells in whole.numerators] == sizes_of(layout)
