import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import mask
from mixbayes.protocol.leading import leading_one, normalise, shift_left
from tests.protocol.pairs import (
    SEEDS,
    WIDTHS,
    both,
    opened,
    random_for,
    words_and_width,
    words_of,
    xored,
)


def position(word: int) -> int:
    return max(word.bit_length() - 1, 0)


def found(words: list[int], width: int, number: int) -> tuple[list[int], list[int]]:
    of_a, of_b = xored(words_of(words), width, number)
    (some_a, at_a), (some_b, at_b) = both(leading_one, (of_a, width), (of_b, width))
    return opened((some_a, some_b)), opened((at_a, at_b))


@given(words_and_width(WIDTHS), SEEDS)
def test_leading_one_is_found(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    assert found(words, width, number) == ([int(w > 0) for w in words], list(map(position, words)))


@pytest.mark.parametrize("width", range(1, 65))
def test_every_position_of_every_width(width: int) -> None:
    """The leading one alone, with all ones below it, with noise below it, and no one at all."""
    noise: list[int] = (random_for(width).words(width) | mask(0)).tolist()
    alone = [1 << i for i in range(width)]
    below = [one | n % one for one, n in zip(alone, noise, strict=True)]
    words = [0, *alone, *(2 * one - 1 for one in alone), *below]
    assert found(words, width, width) == ([int(w > 0) for w in words], list(map(position, words)))


@given(words_and_width(WIDTHS), st.integers(1, 6), st.data(), SEEDS)
def test_shift_left_is_times_a_power_of_two(
    example: tuple[int, list[list[int]]], stages: int, data: st.DataObject, number: int
) -> None:
    width, (words,) = example
    amounts = [data.draw(st.integers(0, 2**stages - 1)) for _ in words]
    word_a, word_b = xored(words_of(words), width, number)
    amount_a, amount_b = xored(words_of(amounts), stages, number + 1)
    shares = both(shift_left, (word_a, amount_a, stages, width), (word_b, amount_b, stages, width))
    assert opened(shares) == [(w << n) % 2**width for w, n in zip(words, amounts, strict=True)]


@given(words_and_width(WIDTHS), SEEDS)
def test_normalised_words_have_their_leading_one_on_top(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    of_a, of_b = xored(words_of(words), width, number)
    (some_a, at_a, top_a), (some_b, at_b, top_b) = both(normalise, (of_a, width), (of_b, width))
    assert opened((some_a, some_b)) == [int(word > 0) for word in words]
    assert opened((at_a, at_b)) == list(map(position, words))
    assert opened((top_a, top_b)) == [word << 63 - position(word) for word in words]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_width_is_normalised(size: int) -> None:
    for width in range(1, 65):
        words: list[int] = (random_for(width).words(size) & mask(width)).tolist()
        of_a, of_b = xored(words_of(words), width, width)
        (_, _, top_a), (_, _, top_b) = both(normalise, (of_a, width), (of_b, width))
        assert opened((top_a, top_b)) == [word << 63 - position(word) for word in words]
