import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.normal import PRECISE, Normal, normalise, shifted_alike
from mixbayes.protocol.computing_party import ComputingParty
from tests.protocol.pairs import (
    ALL_WIDTHS,
    SEEDS,
    added,
    additive,
    both,
    opened,
    random_for,
    shared_pair,
    words_and_width,
    words_of,
    xored,
)


def position(word: int) -> int:
    return max(word.bit_length() - 1, 0)


def assert_normalised(words: list[int], width: int, number: int) -> None:
    of_a, of_b = xored(words_of(words, width), width, number)
    found: tuple[Normal, Normal] = both(normalise, (of_a, width), (of_b, width))
    one, other = found
    assert opened((one.nonzero, other.nonzero)) == [int(word > 0) for word in words]
    places = (one.exponent ^ other.exponent).T.tolist()
    assert [sum(bit << i for i, bit in enumerate(bits)) for bits in places] == list(map(position, words))
    # The upper bits are those of the word with its leading one on top; the low ones may be missing.
    tops, precise = opened((one.top, other.top)), 64 - PRECISE
    expected = [
        (word << 400 >> position(word) + 400 - 63) if word < 2**63 else word >> position(word) - 63 for word in words
    ]
    assert [top >> precise for top in tops] == [word >> precise for word in expected]
    assert all(top & ~word == 0 for top, word in zip(tops, expected, strict=True))


@given(words_and_width(ALL_WIDTHS), SEEDS)
def test_words_are_normalised(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    assert_normalised(words, width, number)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 21, 59, 60, 61, 63, 64, 65, 127, 128, 129])
def test_every_position_of_a_width(width: int) -> None:
    """The leading one alone, with all ones below it, with noise below it, and no one at all."""
    noise = [int.from_bytes(random_for(i).bytes(20)) for i in range(width)]
    alone = [1 << i for i in range(width)]
    below = [one | n % one for one, n in zip(alone, noise, strict=True)]
    assert_normalised([0, *alone, *(2 * one - 1 for one in alone), *below], width, width)


def shifted(me: ComputingParty, word: Words, words: Words, width: int, into: int) -> Words:
    return shifted_alike(me, normalise(me, word, width), words, into)


@given(words_and_width(ALL_WIDTHS, size=4), st.integers(1, 200), st.data(), SEEDS)
def test_other_words_are_shifted_alike(
    example: tuple[int, list[list[int]]], into: int, data: st.DataObject, number: int
) -> None:
    width, (words,) = example
    room = -(-width // 4) * 4
    into = max(into, room)
    others = [[data.draw(st.integers(0, 2**into - 1)) for _ in words] for _ in range(2)]
    of_a, of_b = xored(words_of(words, width), width, number)
    flat = words_of([n for row in others for n in row], into)
    shares = additive(flat, into, number + 1)
    rows_a, rows_b = (share.reshape(*share.shape[:-1], 2, len(words)) for share in shares)
    got = both(shifted, (of_a, rows_a, width, into), (of_b, rows_b, width, into))
    flat_a, flat_b = (part.reshape(*flat.shape) for part in got)
    expected = [n << room - 1 - position(w) if w else 0 for row in others for n, w in zip(row, words, strict=True)]
    assert added((flat_a, flat_b), into) == [n % 2**into for n in expected]


def test_shares_are_fresh() -> None:
    """Four bits are one digit: what a party keeps of it is random, whether it offered or asked."""
    word_a, word_b = (random_for(i).words(400) & np.uint64(15) for i in (1, 2))
    runs = [both(normalise, (word_a, 4), (word_b, 4)) for _ in range(2)]
    for one, again in zip(*runs, strict=True):
        for half in (slice(0, 200), slice(200, 400)):
            assert 60 < int((one.nonzero[half] != again.nonzero[half]).sum()) < 140
            assert int((one.exponent[:, half] != again.exponent[:, half]).any(axis=0).sum()) > 100


@pytest.mark.parametrize(("width", "rounds"), [(4, 4), (22, 7), (111, 9)])
def test_rounds_are_those_of_a_digit_of_the_tree_and_of_two_shifts(width: int, rounds: int) -> None:
    traffic = shared_pair().talk.first.traffic
    before = traffic.rounds
    word = np.zeros((ring.limbs(width), 3), np.uint64)
    both(normalise, (word if len(word) > 1 else word[0], width))
    assert traffic.rounds - before == rounds
