import numpy as np
import pytest
from hypothesis import given

from mixbayes.protocol.arrays import mask
from mixbayes.protocol.circuits import addition
from mixbayes.protocol.circuits.addition import to_bits
from tests.protocol.pairs import (
    ALL_WIDTHS,
    SEEDS,
    additive,
    both,
    opened,
    random_for,
    shared_pair,
    words_and_width,
    words_of,
)


@given(words_and_width(ALL_WIDTHS), SEEDS)
def test_to_bits_keeps_the_words(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    of_a, of_b = additive(words_of(words, width), width, number)
    assert opened(both(to_bits, (of_a, width), (of_b, width)), width) == words


@given(words_and_width(ALL_WIDTHS, columns=2))
def test_to_bits_of_the_borders_of_the_ring(example: tuple[int, list[list[int]]]) -> None:
    """Private words at their borders, where carries run far."""
    width, (of_a, of_b) = example
    shares = both(to_bits, (words_of(of_a, width), width), (words_of(of_b, width), width))
    assert opened(shares, width) == [(a + b) % 2**width for a, b in zip(of_a, of_b, strict=True)]


def test_to_bits_takes_words_modulo_the_width() -> None:
    of_a, of_b = random_for(1).words(9), random_for(2).words(9)
    for width in (1, 3, 40):
        assert opened(both(to_bits, (of_a, width), (of_b, width))) == ((of_a + of_b) & mask(width)).tolist()


@pytest.mark.parametrize("size", [1, 2, 33])
def test_every_width_and_size(size: int) -> None:
    for width in range(1, 65):
        x, y = (random_for(2 * width + i).words(size) & mask(width) for i in range(2))
        assert opened(both(to_bits, (x, width), (y, width))) == ((x + y) & mask(width)).tolist()


@pytest.mark.parametrize("width", [1, 4, 5, 16, 17, 52, 64, 65, 128, 190])
def test_carry_runs_through_the_whole_word(width: int) -> None:
    ones, one = (words_of([number] * 3, width) for number in (2**width - 1, 1))
    assert opened(both(to_bits, (ones, width), (one, width)), width) == [0, 0, 0]


def test_shares_of_digits_are_fresh() -> None:
    """What a party keeps of the carries within a digit is random, whether it offered or asked."""
    of_a, of_b = (random_for(i).words(1, 400).astype(np.uint8) & np.uint8(15) for i in (1, 2))
    runs = [both(addition._within_digits, (of_a,), (of_b,)) for _ in range(2)]
    for once, again in zip(*runs, strict=True):
        for part, part_again in zip(once, again, strict=True):
            for half in (slice(0, 200), slice(200, 400)):
                assert int((part[:, half] != part_again[:, half]).sum()) > 100


def test_rounds_grow_with_the_logarithm_of_the_digits() -> None:
    for width, rounds in [(4, 3), (8, 4), (16, 5), (32, 6), (52, 7), (64, 7)]:
        traffic = shared_pair().talk.first.traffic
        before = traffic.rounds
        both(to_bits, (random_for(1).words(4), width))
        assert traffic.rounds - before == rounds
