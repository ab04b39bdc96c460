import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import mask
from mixbayes.protocol.circuits.leading import leading_one, normalise, shift_left
from tests.protocol.pairs import ALL_WIDTHS, SEEDS, both, opened, random_for, words_and_width, words_of, xored


def position(word: int) -> int:
    return max(word.bit_length() - 1, 0)


def test_shares_are_fresh() -> None:
    """Four bits are one digit: what a party keeps of it is random, whether it offered or asked."""
    word_a, word_b = (random_for(i).words(400) & mask(4) for i in (1, 2))
    runs = [both(leading_one, (word_a, 4), (word_b, 4)) for _ in range(2)]
    for (some, position), (some_again, position_again) in zip(*runs, strict=True):
        for half in (slice(0, 200), slice(200, 400)):
            assert 60 < int((some[half] != some_again[half]).sum()) < 140
            assert int((position[half] != position_again[half]).sum()) > 100


def room_for(width: int) -> int:
    """Bits of a normalised word: 64, or the next power of two."""
    return max(64, 1 << (width - 1).bit_length())


def found(words: list[int], width: int, number: int) -> tuple[list[int], list[int]]:
    of_a, of_b = xored(words_of(words, width), width, number)
    (some_a, at_a), (some_b, at_b) = both(leading_one, (of_a, width), (of_b, width))
    return opened((some_a, some_b)), opened((at_a, at_b))


@given(words_and_width(ALL_WIDTHS), SEEDS)
def test_leading_one_is_found(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    assert found(words, width, number) == ([int(w > 0) for w in words], list(map(position, words)))


@pytest.mark.parametrize("width", [*range(1, 66), 127, 128, 129])
def test_every_position_of_every_width(width: int) -> None:
    """The leading one alone, with all ones below it, with noise below it, and no one at all."""
    noise = [int.from_bytes(random_for(i).bytes(20)) for i in range(width)]
    alone = [1 << i for i in range(width)]
    below = [one | n % one for one, n in zip(alone, noise, strict=True)]
    words = [0, *alone, *(2 * one - 1 for one in alone), *below]
    assert found(words, width, width) == ([int(w > 0) for w in words], list(map(position, words)))


@given(words_and_width(ALL_WIDTHS), st.integers(1, 6), st.data(), SEEDS)
def test_shift_left_is_times_a_power_of_two(
    example: tuple[int, list[list[int]]], stages: int, data: st.DataObject, number: int
) -> None:
    width, (words,) = example
    amounts = [data.draw(st.integers(0, 2**stages - 1)) for _ in words]
    word_a, word_b = xored(words_of(words, width), width, number)
    amount_a, amount_b = xored(words_of(amounts), stages, number + 1)
    shares = both(shift_left, (word_a, amount_a, stages, width), (word_b, amount_b, stages, width))
    assert opened(shares, width) == [(w << n) % 2**width for w, n in zip(words, amounts, strict=True)]


@given(words_and_width(ALL_WIDTHS), SEEDS)
def test_normalised_words_have_their_leading_one_on_top(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    room = room_for(width)
    of_a, of_b = xored(words_of(words, width), width, number)
    (some_a, at_a, top_a), (some_b, at_b, top_b) = both(normalise, (of_a, width), (of_b, width))
    assert opened((some_a, some_b)) == [int(word > 0) for word in words]
    assert opened((at_a, at_b)) == list(map(position, words))
    assert opened((top_a, top_b), room) == [word << room - 1 - position(word) for word in words]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_width_is_normalised(size: int) -> None:
    for width in [*range(1, 66), 128, 129]:
        words = [int.from_bytes(random_for(i).bytes(20)) % 2**width for i in range(size)]
        of_a, of_b = xored(words_of(words, width), width, width)
        (_, _, top_a), (_, _, top_b) = both(normalise, (of_a, width), (of_b, width))
        room = room_for(width)
        assert opened((top_a, top_b), room) == [word << room - 1 - position(word) for word in words]
