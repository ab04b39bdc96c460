"""Encryption: what comes out, how large the small part is, and what parameters promise."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, floor, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.lattice import encryption
from mixbayes.protocol.lattice.encryption import (
    ANY_ROWS,
    GAP,
    SIZES,
    Encrypted,
    Key,
    OpenedBits,
    Parameters,
    Table,
    masks,
    shares_of_masks,
    small,
    ternary,
    uniform,
)
from mixbayes.protocol.lattice.polynomials import (
    LIMB,
    Integers,
    Limbs,
    carried,
    from_words,
    spectrum,
    sum_of_products,
)
from tests.protocol.attributes.gaussians import mixed_layout
from tests.protocol.pairs import SEEDS, layout_of, random_for, seed

sizes = pytest.mark.parametrize("of", SIZES, ids=[f"{size.dimension}, {size.limbs} limbs" for size in SIZES])


@dataclass(frozen=True)
class Sum:
    """A masked sum of an encrypted table, from all sides."""

    key: Key
    c1: Limbs
    c0: Limbs
    places: Integers
    mask_seed: bytes

    def shares(self, of: Parameters, width: int, key: Key | None = None) -> tuple[Words, Words]:
        masked = (key or self.key).shares(self.c1, self.c0, self.places, width)
        return masked, shares_of_masks(of, self.mask_seed, self.places.size, width)


def masked_sum(of: Parameters, words: Words, width: int, factors: Integers, places: Integers, number: int) -> Sum:
    key, random = Key(of, random_for(number)), random_for(number + 1)
    encrypted = key.encrypt(words, width, random_for(number + 2))
    hidden = masks(of, seed(number), places.size)
    c1, c0 = Table.of(of, encrypted).masked_sum(spectrum(factors), places, hidden, random)
    return Sum(key, c1, c0, places, seed(number))


def sums_in_clear(words: Words, factors: Integers, places: Integers, width: int) -> list[int]:
    """By Fourier transforms of 16 bits of the words at a time."""
    total = np.zeros(places.size, np.uint64)
    for low in range(0, 64, 16):
        part = (words >> np.uint64(low) & mask(16)).astype(np.int64)
        found = sum_of_products(spectrum(part), spectrum(factors))[places]
        total += found.astype(np.uint64) << np.uint64(low)
    found_words: list[int] = (total & mask(width)).tolist()
    return found_words


def widest(of: Parameters) -> int:
    return max(width for width in range(65) if of.holds(width))


@sizes
@given(number=SEEDS, width=st.integers(1, 64), count=st.integers(1, 5))
@settings(max_examples=12)
def test_shares_add_up_to_the_sums(of: Parameters, number: int, width: int, count: int) -> None:
    width, rng = min(width, widest(of)), np.random.default_rng(number)
    words = random_for(number).words(count, of.dimension) & mask(width)
    factors, places = rng.integers(-1, 2, (count, of.dimension)), rng.choice(of.dimension, 50, replace=False)
    of_key, of_mask = masked_sum(of, words, width, factors, places, number).shares(of, width)
    assert ((of_key + of_mask) & mask(width)).tolist() == sums_in_clear(words, factors, places, width)


@sizes
def test_so_they_do_at_the_largest_words(of: Parameters) -> None:
    width = widest(of)
    words = np.full((3, of.dimension), mask(width))
    factors, places = np.ones((3, of.dimension), np.int64), np.arange(of.dimension)
    of_key, of_mask = masked_sum(of, words, width, factors, places, 5).shares(of, width)
    assert ((of_key + of_mask) & mask(width)).tolist() == sums_in_clear(words, factors, places, width)


def test_another_key_or_another_mask_gives_something_else() -> None:
    of, width = SIZES[0], 40
    words, places = random_for(1).words(1, of.dimension) & mask(width), np.arange(100)
    factors = np.zeros((1, of.dimension), np.int64)
    factors[0, 0] = 1
    one = masked_sum(of, words, width, factors, places, 7)
    of_key, of_mask = one.shares(of, width)
    expected = words[0, :100]
    assert np.array_equal((of_key + of_mask) & mask(width), expected)
    false_key, _ = one.shares(of, width, Key(of, random_for(99)))
    false_mask = shares_of_masks(of, seed(98), 100, width)
    assert not ((false_key + of_mask) & mask(width) == expected).any()
    assert not ((of_key + false_mask) & mask(width) == expected).any()


@sizes
@given(number=SEEDS)
@settings(max_examples=5)
def test_whatever_comes_back_gives_some_share(of: Parameters, number: int) -> None:
    """Every value of the bytes is a limb, and there is no error that would tell anything of the key."""
    rng, width = np.random.default_rng(number), widest(of)
    c1 = rng.integers(0, 1 << LIMB, (of.limbs, of.dimension)).astype(np.uint32)
    c0 = rng.integers(0, 1 << LIMB, (of.limbs, 9)).astype(np.uint32)
    share = Key(of, random_for(number)).shares(c1, c0, np.arange(9), width)
    assert share.shape == (9,)
    assert share.max() <= mask(width)


def test_what_is_no_encryption_is_added_up_all_the_same() -> None:
    of = SIZES[0]
    top = np.full((2, of.limbs, of.dimension), (1 << LIMB) - 1, np.uint32)
    table = Table.of(of, Encrypted(seed(1), top))
    factors = spectrum(np.ones((1, of.dimension), np.int64))
    c1, c0 = table.masked_sum(factors, np.arange(4), masks(of, seed(2), 4), random_for(3))
    assert max(c1.max(), c0.max()) < 1 << LIMB
    assert (c1.shape, c0.shape) == ((of.limbs, of.dimension), (of.limbs, 4))


# What is drawn


def chi_square(found: Integers, expected: list[float]) -> float:
    """By how many standard deviations the frequencies of 0, 1, … exceed what chance gives."""
    counts, total = np.bincount(found.reshape(-1), minlength=len(expected)), found.size
    wanted = np.array(expected) * total
    assert len(counts) == len(expected)
    some = wanted > 5
    degrees = int(some.sum()) - 1
    return float((((counts - wanted)[some] ** 2 / wanted[some]).sum() - degrees) / (2 * degrees) ** 0.5)


def test_ternary_numbers_are_uniform() -> None:
    drawn = np.stack([ternary(SIZES[2], random_for(number)) for number in range(20)])
    assert abs(chi_square(drawn + 1, [1 / 3] * 3)) < 5
    assert abs(np.corrcoef(drawn[:, :-1].reshape(-1), drawn[:, 1:].reshape(-1))[0, 1]) < 0.015


def test_small_numbers_are_centred_binomial() -> None:
    drawn = small(SIZES[2], random_for(1), 20)
    assert drawn.shape == (20, 8192)
    assert abs(chi_square(drawn + 21, [comb(42, k) / 2**42 for k in range(43)])) < 5
    assert abs(drawn.std() - 10.5**0.5) < 0.03
    assert 3.19 < 10.5**0.5  # of the standard's table


def test_uniform_polynomials_are_uniform_and_fixed_by_their_seed() -> None:
    of = SIZES[1]
    drawn = uniform(of, seed(1), 3)
    assert drawn.shape == (3, of.limbs, of.dimension)
    assert abs(chi_square(drawn >> 16, [1 / 256] * 256)) < 5
    assert abs(chi_square(drawn & 255, [1 / 256] * 256)) < 5
    assert np.array_equal(drawn, uniform(of, seed(1), 3))
    assert not (drawn[0] == uniform(of, seed(2), 1)[0]).all(axis=1).any()


def test_a_key_and_an_encryption_are_fresh_each_time() -> None:
    of, random = SIZES[0], random_for(1)
    words = np.zeros((1, of.dimension), np.uint64)
    one, other = Key(of, random), Key(of, random)
    assert not np.array_equal(one._secret, other._secret)
    first, second = one.encrypt(words, 40, random), one.encrypt(words, 40, random)
    assert first.seed != second.seed
    assert (first.bodies != second.bodies).mean() > 0.99


# The small part

REALISTIC = {
    "nominal": layout_of(2, [10] * 13),
    "many binary": layout_of(2, [2] * 300),
    "many classes": layout_of(8, [40] * 30),
    "numbers": mixed_layout(2, [True] * 30),
}


def small_part(layout: Layout, rows: int) -> tuple[Parameters, int, Integers]:
    """c0 + c1·s, less what it should be: of all sums of one product of a piece of so many rows."""
    form = Form.of(layout, precision_for(layout, JOINT).width)
    piece = next(iter(form.pieces(rows)))
    laid = form.polynomials(piece.stop - piece.start)
    of, together = laid.parameters, min(rows, laid.rows_together)
    words = random_for(3).words(form.words, form.classes - 1) & mask(form.width)
    codes = random_codes_of(layout, together)
    factors, places = laid.row_polynomials(form.named(codes)), laid.places(together)
    one = masked_sum(of, laid.table(words), form.width, factors, places, 11)
    opened = one.key.opened(one.c1, one.c0, places)
    sums = np.array(sums_in_clear(laid.table(words), factors, places, form.width), np.uint64)
    expected = from_words(sums, LIMB * of.limbs - form.width, of.limbs)
    apart = carried(opened.astype(np.int64) - expected - masks(of, one.mask_seed, places.size))
    return of, form.width, signed(apart)


def random_codes_of(layout: Layout, rows: int) -> Values:
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, one.codes, (one.columns, rows)) for one in layout.dictionary.attributes]
    return np.concatenate(columns).astype(np.int32)


def signed(limbs: Limbs) -> Integers:
    """Small integers modulo q."""
    low = limbs[0].astype(np.int64) + (limbs[1].astype(np.int64) << LIMB)
    return np.where(low >> 2 * LIMB - 1, low - (1 << 2 * LIMB), low)


@pytest.mark.parametrize("shape", REALISTIC)
def test_the_small_part_is_as_small_as_is_said_and_leaves_the_gap(shape: str) -> None:
    of, width, found = small_part(REALISTIC[shape], 3000)
    deviation = float(found.std())
    assert abs(found.mean()) < deviation
    # Not tiny either: u·e_zero, e'·s, and the errors of the words that are named.
    assert (10.5 * of.dimension * 4 / 3) ** 0.5 * 0.8 < deviation < 1 << encryption._SMALL
    # Σ p·m is a sum modulo 2^width below R: it carries with a probability of E|small| / 2^(log2 q - width).
    off_by_one = np.abs(found).mean() * 2.0 ** (width - LIMB * of.limbs)
    assert off_by_one < 2.0**-GAP
    assert of.holds(width)


# Parameters


def standard_table(dimension: int) -> int:
    """log2 q at 128 bits of security against classical attacks, for ternary keys (table 1 of the standard)."""
    return {1024: 27, 2048: 54, 4096: 109, 8192: 218, 16384: 438}[dimension]


@sizes
def test_parameters_are_within_the_standard(of: Parameters) -> None:
    assert LIMB * of.limbs <= standard_table(of.dimension)


@given(st.sampled_from(SIZES), st.integers(1, 65))
def test_what_is_left_of_a_key_is_within_the_standard_too(of: Parameters, bits: int) -> None:
    """A dimension fewer for every log2(3) bits that are opened; q in proportion to what the table has for that one."""
    rows = of.rows(OpenedBits(bits))
    left = of.dimension - rows * bits / log2(3)
    assert left * 27 / 1024 >= LIMB * of.limbs
    assert (left - (bits + 1) / log2(3)) * 27 / 1024 < LIMB * of.limbs


@pytest.mark.parametrize(
    ("of", "bits", "rows"), [(SIZES[0], 2, 360), (SIZES[1], 2, 3606), (SIZES[1], 65, 110), (SIZES[2], 3, 1923)]
)
def test_rows_of_a_key(of: Parameters, bits: int, rows: int) -> None:
    """Worked out by hand: N − (24·L)/(27/1024), times log2 3, divided by the bits that a row tells."""
    assert of.rows(OpenedBits(bits)) == rows == floor((of.dimension - 1024 * 24 * of.limbs / 27) * log2(3) / bits)


@given(st.sampled_from(SIZES), st.integers(1, 64), st.integers(1, 63))
def test_more_bits_a_row_leave_fewer_rows_and_longer_words_need_larger_sizes(
    of: Parameters, bits: int, width: int
) -> None:
    assert of.rows(OpenedBits(bits)) >= of.rows(OpenedBits(bits + 1)) > 0
    assert of.holds(width) or not of.holds(width + 1)


@pytest.mark.parametrize(("in_all", "rows"), [(721, ANY_ROWS), (722, 30)])
def test_a_key_that_all_rows_together_cannot_use_up_serves_any_number(in_all: int, rows: int) -> None:
    assert SIZES[0].rows(OpenedBits(24, in_all)) == rows


def test_every_word_has_a_size_that_holds_it() -> None:
    assert [widest(of) for of in SIZES] == [47, 47, 64]
    assert SIZES[2].holds(64)


def test_a_polynomial_takes_three_bytes_a_limb() -> None:
    assert [of.polynomial_bytes for of in SIZES] == [3 * 4 * 4096, 3 * 4 * 8192, 3 * 5 * 8192]
