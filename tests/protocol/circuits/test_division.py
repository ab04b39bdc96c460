import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits
from mixbayes.protocol.circuits.division import divide, width
from tests.protocol.pairs import SEEDS, additive, both, words_of


def quotients(pairs: list[tuple[int, int]], divisor_bits: int, quotient_bits: int, number: int) -> list[int]:
    full = width(divisor_bits, quotient_bits)
    numerators, divisors = (words_of([pair[i] for pair in pairs], full) for i in (0, 1))
    shares = zip(additive(numerators, full, number), additive(divisors, full, number + 1), strict=True)
    of_a, of_b = ((*share, divisor_bits, quotient_bits) for share in shares)
    bits: Bits = np.bitwise_xor(*both(divide, of_a, of_b))
    return [sum(int(bit) << i for i, bit in enumerate(column)) for column in bits.T]


@st.composite
def divisions(draw: st.DrawFn) -> tuple[int, int, list[tuple[int, int]]]:
    """Bits of the divisor and of the quotient, and numbers that keep to them, exact multiples and next to them too."""
    divisor_bits = draw(st.integers(1, 150))
    quotient_bits = 2 * draw(st.integers(1, 12))
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        divisor = draw(st.integers(1, 2**divisor_bits - 1))
        most = divisor * 2**quotient_bits - 1
        multiple = divisor * draw(st.integers(0, 2**quotient_bits - 1))
        near = st.sampled_from([n for n in (multiple - 1, multiple, multiple + divisor - 1) if 0 <= n <= most])
        pairs.append((draw(st.one_of(st.integers(0, most), near)), divisor))
    return divisor_bits, quotient_bits, pairs


@given(divisions(), SEEDS)
@settings(max_examples=40)
def test_quotient_is_that_of_whole_numbers(example: tuple[int, int, list[tuple[int, int]]], number: int) -> None:
    divisor_bits, quotient_bits, pairs = example
    assert quotients(pairs, divisor_bits, quotient_bits, number) == [n // d for n, d in pairs]


@pytest.mark.parametrize("divisor", [1, 2, 3, 2**63, 2**64 - 1, 2**64, 2**109 - 1])
def test_every_small_quotient_and_its_borders(divisor: int) -> None:
    pairs = [(q * divisor + r, divisor) for q in range(16) for r in {0, divisor // 2, divisor - 1}]
    assert quotients(pairs, 109, 4, 7) == [n // d for n, d in pairs]
