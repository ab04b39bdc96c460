from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.addition import to_bits
from mixbayes.protocol.circuits.division import MOST_QUOTIENT_BITS, divide, width
from mixbayes.protocol.circuits.logarithm import index_of
from mixbayes.protocol.circuits.normal import Normal, normalise
from mixbayes.protocol.circuits.reciprocal import DEFICIT, FRACTION, INDEX, WIDTH, reciprocal
from mixbayes.protocol.computing_party import ComputingParty
from tests.protocol.pairs import SEEDS, added, additive, both, integers, random_for, shared_pair, words_of

Division = tuple[int, list[int]]
"""A divisor and its numerators."""


def normal_of(me: ComputingParty, word: Words, bits: int) -> Normal:
    return normalise(me, to_bits(me, word, bits), bits)


def divided(me: ComputingParty, numerators: Words, divisor: Words, sizes: tuple[int, int], into: int) -> Words:
    divisor_bits, quotient_bits = sizes
    normal = normal_of(me, ring.low_bits(divisor, width(*sizes), divisor_bits), divisor_bits)
    return divide(me, numerators, divisor, normal, index_of(me, normal), quotient_bits, into)


def quotients(divisions: list[Division], sizes: tuple[int, int], into: int, number: int) -> list[int]:
    """Row by row."""
    full, rows = width(*sizes), len(divisions[0][1])
    numerators = words_of([numbers[row] for row in range(rows) for _, numbers in divisions], full)
    divisors = words_of([divisor for divisor, _ in divisions], full)
    in_rows = (share.reshape(*share.shape[:-1], rows, -1) for share in additive(numerators, full, number))
    of_a, of_b = ((*shares, sizes, into) for shares in zip(in_rows, additive(divisors, full, number + 1), strict=True))
    shares = [integers(share, into) for share in both(divided, of_a, of_b)]
    return [(a + b) % 2**into for a, b in zip(*shares, strict=True)]


def expected(divisions: list[Division], into: int) -> list[int]:
    return [numbers[row] // divisor % 2**into for row in range(len(divisions[0][1])) for divisor, numbers in divisions]


def around(divisor: int, quotient: int, quotient_bits: int) -> list[int]:
    """The least numerator with this quotient, the greatest, and one between; each is one of `quotient_bits`."""
    quotient = min(quotient, 2**quotient_bits - 1)
    return [divisor * quotient + rest for rest in (0, divisor - 1, divisor // 2)]


@st.composite
def divisions(draw: st.DrawFn) -> tuple[tuple[int, int], list[Division]]:
    """Bits of the divisor and of the quotient, and numbers that keep to them, at the borders of quotients too."""
    divisor_bits, quotient_bits = draw(st.integers(1, 150)), draw(st.integers(1, MOST_QUOTIENT_BITS))
    length = st.integers(1, divisor_bits)
    drawn = []
    for _ in range(draw(st.integers(1, 4))):
        divisor = draw(
            st.one_of(
                length.flatmap(lambda n: st.integers(2 ** (n - 1), 2**n - 1)),
                st.sampled_from([1, 2**divisor_bits - 1, 2 ** (divisor_bits - 1)]),
            )
        )
        top = 2**quotient_bits - 1
        quotient = draw(st.one_of(st.integers(0, top), st.sampled_from([0, 1, top // 2, top - 1, top])))
        drawn.append((divisor, around(divisor, max(0, quotient), quotient_bits)))
    return (divisor_bits, quotient_bits), drawn


@given(divisions(), st.sampled_from([5, 53, 59, 64, 90]), SEEDS)
@settings(max_examples=30)
def test_quotient_is_that_of_whole_numbers(
    example: tuple[tuple[int, int], list[Division]], into: int, number: int
) -> None:
    sizes, drawn = example
    assert quotients(drawn, sizes, into, number) == expected(drawn, into)


@pytest.mark.parametrize("bits", [1, 4, 61, 64, 65, 111, 145])
def test_largest_and_smallest_divisors_and_quotients(bits: int) -> None:
    divisors = {1, 2**bits - 1, 2 ** (bits - 1), max(1, 2**bits - 2), min(2**bits - 1, 2 ** (bits - 1) + 1)}
    powers = [max(1, 2**i + step) for i in range(0, bits, 5) for step in (-1, 0, 1)]
    tops = (0, 1, 2, 2**52, 2**53 - 2, 2**53 - 1)
    drawn = [(d, around(d, q, 53)) for d in [*divisors, *powers] for q in tops if d < 2**bits]
    assert quotients(drawn, (bits, 53), 59, bits) == expected(drawn, 59)


@pytest.mark.parametrize("divisor", [1, 2, 3, 2**63, 2**64 - 1, 2**64, 2**109 - 1])
def test_every_small_quotient_and_its_borders(divisor: int) -> None:
    drawn = [(divisor, around(divisor, quotient, 4)) for quotient in range(16)]
    assert quotients(drawn, (109, 4), 8, 7) == expected(drawn, 8)


def test_where_the_reciprocal_lacks_most_the_quotients_are_right() -> None:
    """At both ends and in the middle of every interval of the table, with the largest quotients there are."""
    starts = [(512 + row << 60) + place for row in range(0, 512, 7) for place in (0, 2**59, 2**60 - 1)]
    drawn = [(divisor, around(divisor, 2**53 - 1, 53)) for divisor in starts]
    assert quotients(drawn, (70, 53), 53, 1) == expected(drawn, 53)


def inverse(me: ComputingParty, word: Words, bits: int) -> Words:
    normal = normal_of(me, word, bits)
    return reciprocal(me, normal, index_of(me, normal))


@pytest.mark.parametrize("bits", [10, 64, 130])
def test_reciprocal_is_from_below_and_close(bits: int) -> None:
    """The bound of the docstring, and that the bound means something: some come to more than a half of it."""
    rest = bits - INDEX - 1
    rows = range(0, 2**INDEX, 3)
    numbers = [(2**INDEX + row << rest) + place for row in rows for place in {0, 2**rest // 2, 2**rest - 1}]
    noise = [int.from_bytes(random_for(i).bytes(20)) % 2**bits | 2 ** (bits - 1) for i in range(1000)]
    of_a, of_b = additive(words_of(numbers + noise, bits), bits, bits)
    found = added(both(inverse, (of_a, bits), (of_b, bits)), WIDTH)
    lacks = [
        Fraction(2 ** (number.bit_length() - 1), number) - Fraction(inverse, 2**FRACTION)
        for number, inverse in zip(numbers + noise, found, strict=True)
    ]
    assert min(lacks) >= 0
    assert DEFICIT / 2 < max(lacks) < DEFICIT


def test_three_numerators_share_the_reciprocal_and_the_rounds() -> None:
    traffic, rounds = shared_pair().talk.first.traffic, []
    for rows, columns in ((1, 9), (3, 9)):
        before = traffic.rounds
        quotients([(3, [7] * rows)] * columns, (111, 53), 59, 1)
        rounds.append(traffic.rounds - before)
    # Trees over more words join fewer of them in a round.
    assert rounds[0] <= rounds[1] <= rounds[0] + 2 <= 46


def test_shares_of_a_quotient_are_fresh() -> None:
    zeros = np.zeros((1, 20), np.uint64)
    ones = np.ones(20, np.uint64)
    once, again = (both(divided, (zeros, ones, (5, 9), 40), (zeros, zeros[0], (5, 9), 40))[0] for _ in range(2))
    assert (once != again).all()
