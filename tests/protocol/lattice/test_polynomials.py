"""Products of polynomials against those of Python's integers, at the largest values that occur."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.lattice import polynomials
from mixbayes.protocol.lattice.polynomials import (
    LIMB,
    TOGETHER,
    Integers,
    Limbs,
    carried,
    from_bytes,
    from_words,
    integers,
    spectrum,
    sum_of_products,
    to_bytes,
    top_bits,
)
from tests.protocol.pairs import SEEDS, words_of

TOP = (1 << LIMB) - 1
LARGEST = 8192
dimensions = st.sampled_from([2, 4, 16, 64])


def product(first: list[int], second: list[int]) -> list[int]:
    """Modulo X^N + 1, as at school."""
    found = [0] * len(first)
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            if i + j < len(found):
                found[i + j] += x * y
            else:
                found[i + j - len(found)] -= x * y
    return found


def plain(limbs: Limbs | Integers) -> list[int]:
    """The coefficients (L, N) as integers, carried or not."""
    rows: list[list[int]] = limbs.tolist()
    return [sum(limb << LIMB * at for at, limb in enumerate(column)) for column in zip(*rows, strict=True)]


@given(dimensions, SEEDS, st.booleans())
def test_a_product_is_that_of_integers(dimension: int, number: int, extreme: bool) -> None:
    rng = np.random.default_rng(number)
    low = TOP if extreme else 0
    limbs, signs = rng.integers(low, TOP + 1, dimension), rng.integers(-1, 2, dimension)
    assert integers(spectrum(limbs) * spectrum(signs)).tolist() == product(limbs.tolist(), signs.tolist())


@given(st.sampled_from([2, 8, 16]), st.sampled_from([1, 2, 63, 64, 65, 130]), st.integers(1, 5), SEEDS)
@settings(max_examples=40)
def test_so_is_a_sum_of_products_limb_by_limb(dimension: int, terms: int, limbs: int, number: int) -> None:
    rng = np.random.default_rng(number)
    first = rng.integers(0, TOP + 1, (terms, 2, limbs, dimension))
    second = rng.integers(-1, 2, (terms, dimension))
    found = sum_of_products(spectrum(first), spectrum(second))
    assert found.shape == (2, limbs, dimension)
    some = [product(first[k, 1, -1].tolist(), second[k].tolist()) for k in range(terms)]
    assert found[1, -1].tolist() == np.sum(some, axis=0).tolist()


def signs_of(kind: str) -> Integers:
    if kind == "ones":
        return np.ones((TOGETHER, LARGEST), np.int64)
    # The worst for one coefficient: every term of it has the same sign.
    aligned = np.where(np.arange(LARGEST) > LARGEST // 2, -1, 1)
    random = np.random.default_rng(1).choice([-1, 1], (TOGETHER, LARGEST))
    return random if kind == "random" else np.broadcast_to(aligned, (TOGETHER, LARGEST))


@pytest.mark.parametrize("kind", ["ones", "aligned", "random"])
def test_the_largest_sums_are_exact_and_rounding_stays_far_below_a_half(kind: str) -> None:
    """All limbs at their most, all factors 1 or -1, as many products as are added up before they are rounded."""
    signs = signs_of(kind)
    limbs = spectrum(np.full(LARGEST, TOP))
    total = polynomials._weighted_sum(np.broadcast_to(limbs, (TOGETHER, LARGEST // 2)), spectrum(signs))
    # Coefficient j is TOP · Σ_i ± signs[i]: minus where i > j.
    ahead = np.cumsum(signs.sum(axis=0))
    expected = TOP * (2 * ahead - ahead[-1])
    assert integers(total).tolist() == expected.tolist()
    unrounded = np.fft.ifft(total) * polynomials._twist(LARGEST // 2).conj()
    errors = np.concatenate([unrounded.real, unrounded.imag]) - expected
    assert np.abs(errors).max() < 1 / 4
    assert np.abs(expected).max() < 2**53


def test_the_bound_of_the_docstring_is_below_a_quarter() -> None:
    """n = 13 for N = 8192, and errors of the roots of unity of one unit in the last place."""
    n, unit = 13, 2.0**-53
    of_a_product = unit * (3 * n + 5**0.5 * (3 * n + 1) + 3 * n)
    assert 1.8e-14 < of_a_product < 1.9e-14
    assert TOGETHER * (of_a_product + TOGETHER * unit) * 2**LIMB * LARGEST < 0.23


@given(st.integers(1, 6), st.integers(1, 5), SEEDS)
def test_carries_keep_the_value_modulo_q(count: int, limbs: int, number: int) -> None:
    sums = np.random.default_rng(number).integers(-(2**60), 2**60, (limbs, count))
    before = plain(sums)
    after = carried(sums)
    assert after.max() <= TOP
    assert plain(after) == [value % 2 ** (LIMB * limbs) for value in before]


@st.composite
def words_that_fit(draw: st.DrawFn) -> tuple[Words, int, int]:
    """Words, their width, and as many limbs as hold them."""
    width = draw(st.integers(1, 64))
    limbs = draw(st.integers(-(-width // LIMB), 5))
    values = draw(st.lists(st.one_of(st.integers(0, 2**width - 1), st.just(2**width - 1)), min_size=1, max_size=6))
    return words_of(values), width, limbs


@given(words_that_fit())
def test_words_at_the_top_of_coefficients_come_back(some: tuple[Words, int, int]) -> None:
    words, width, limbs = some
    places = LIMB * limbs - width
    found = from_words(words, places, limbs)
    assert plain(found) == [value << places for value in words.tolist()]
    assert top_bits(found, width).tolist() == words.tolist()


@given(st.integers(1, 5), st.integers(1, 64), SEEDS)
def test_top_bits_are_those_of_integers_rounded_down(limbs: int, width: int, number: int) -> None:
    of = np.random.default_rng(number).integers(0, TOP + 1, (limbs, 4)).astype(np.uint32)
    width = min(width, LIMB * limbs)
    assert top_bits(of, width).tolist() == [value >> LIMB * limbs - width for value in plain(of)]


@given(st.integers(0, 3), st.integers(1, 5), st.integers(1, 9), SEEDS)
def test_limbs_come_back_from_bytes_and_every_byte_is_allowed(count: int, limbs: int, size: int, number: int) -> None:
    raw = np.frombuffer(np.random.default_rng(number).bytes(3 * count * limbs * size), np.uint8)
    found = from_bytes(raw, count, limbs, size)
    assert to_bytes(found).tobytes() == raw.tobytes()
    assert [int.from_bytes(raw[3 * i : 3 * i + 3].tobytes(), "little") for i in range(raw.size // 3)] == (
        found.reshape(-1).tolist()
    )
