import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import mask
from mixbayes.protocol.circuits.comparison import carry, less, negative
from tests.protocol.pairs import (
    ALL_WIDTHS,
    SEEDS,
    additive,
    both,
    integers,
    opened,
    random_for,
    shared_pair,
    uniform,
    words_and_width,
    words_below,
    words_of,
)

SIGNED = ALL_WIDTHS


def signed(word: int, width: int) -> int:
    return word - (word >> (width - 1) << width)


@given(words_and_width(ALL_WIDTHS, columns=2))
def test_carry_of_private_words(example: tuple[int, list[list[int]]]) -> None:
    width, (of_a, of_b) = example
    shares = both(carry, (words_of(of_a, width), width), (words_of(of_b, width), width))
    assert opened(shares) == [a + b >> width for a, b in zip(of_a, of_b, strict=True)]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_carry_at_its_border_for_every_width(size: int) -> None:
    """Sums of 2^width − 2, 2^width − 1 and 2^width, as far as both words are below it."""
    for width in [*range(1, 66), 127, 128, 129, 200]:
        of_a = integers(uniform((size,) if width <= 64 else (-(-width // 64), size), width, width), width)
        for total in (2**width - 2, 2**width - 1, 2**width):
            of_b = [min(max(total - a, 0), 2**width - 1) for a in of_a]
            shares = both(carry, (words_of(of_a, width), width), (words_of(of_b, width), width))
            assert opened(shares) == [a + b >> width for a, b in zip(of_a, of_b, strict=True)]


@pytest.mark.parametrize("width", [1, 4, 5, 6, 10, 11, 25, 26, 63, 64])
def test_carry_of_words_that_differ_from_the_border_in_one_bit(width: int) -> None:
    of_a = random_for(width).words(1) & mask(width)
    flipped = (~of_a & mask(width)) ^ (np.uint64(1) << np.arange(width, dtype=np.uint64))
    expected = [int(of_a[0]) + b >> width for b in flipped.tolist()]
    assert opened(both(carry, (of_a.repeat(width), width), (flipped, width))) == expected


def test_carry_of_every_pair_of_small_words() -> None:
    for width in (1, 2, 3, 5):
        a, b = np.meshgrid(np.arange(1 << width), np.arange(1 << width))
        of_a, of_b = a.reshape(-1).astype(np.uint64), b.reshape(-1).astype(np.uint64)
        shares = both(carry, (of_a, width), (of_b, width))
        assert opened(shares) == ((of_a + of_b) >> np.uint64(width)).tolist()


@given(words_and_width(SIGNED), SEEDS)
def test_negative_is_the_sign(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    of_a, of_b = additive(words_of(words, width), width, number)
    shares = both(negative, (of_a, width), (of_b, width))
    assert opened(shares) == [word >> (width - 1) for word in words]


@given(st.data(), SIGNED, SEEDS)
def test_less_compares_words_whose_difference_fits(data: st.DataObject, width: int, number: int) -> None:
    differences = data.draw(st.lists(words_below(width), min_size=1, max_size=9))
    ys = [data.draw(words_below(width)) for _ in differences]
    xs = [(y + d) % 2**width for y, d in zip(ys, differences, strict=True)]
    x_a, x_b = additive(words_of(xs, width), width, number)
    y_a, y_b = additive(words_of(ys, width), width, number + 1)
    shares = both(less, (x_a, y_a, width), (x_b, y_b, width))
    assert opened(shares) == [int(signed(d, width) < 0) for d in differences]


@pytest.mark.parametrize("width", [*range(1, 67), 127, 128, 129, 130])
def test_sign_around_zero_and_at_the_ends(width: int) -> None:
    half = 1 << (width - 1)
    words = [word % (1 << width) for word in (-half, 1 - half, -2, -1, 0, 1, half - 2, half - 1)]
    of_a, of_b = additive(words_of(words, width), width, width)
    assert opened(both(negative, (of_a, width), (of_b, width))) == [word // half for word in words]


@pytest.mark.parametrize("width", [1, 2, 31, 64, 65, 129])
def test_sign_for_every_way_to_share_it(width: int) -> None:
    """One share at a border of the ring, the other what is left."""
    borders = [n % (1 << width) for n in (0, 1, -1, 1 << (width - 1), (1 << (width - 1)) - 1)]
    pairs = [(a, word) for a in borders for word in borders]
    of_a = words_of([a for a, _ in pairs], width)
    of_b = words_of([(word - a) % 2**width for a, word in pairs], width)
    expected = [word >> (width - 1) for _, word in pairs]
    assert opened(both(negative, (of_a, width), (of_b, width))) == expected


@pytest.mark.parametrize("width", [5, 64])
def test_shares_of_a_carry_are_bits_and_fresh(width: int) -> None:
    """Of those whose digits a party offered, and of those for which it asked; 5 bits are one digit."""
    of_a, of_b = (random_for(i).words(400) & mask(width) for i in (1, 2))
    first, second = (both(carry, (of_a, width), (of_b, width)) for _ in range(2))
    assert opened(first) == opened(second)
    for once, again in zip(first, second, strict=True):
        for half in (slice(0, 200), slice(200, 400)):
            assert set(once.tolist()) == {0, 1}
            assert 60 < int(once[half].sum()) < 140
            assert once[half].tolist() != again[half].tolist()


@pytest.mark.parametrize(
    ("count", "width", "rounds"),
    [
        (1, 5, 2),
        (1, 10, 3),
        (1, 40, 3),
        (1, 64, 4),
        (50, 40, 4),
        (500, 10, 3),
        (500, 20, 4),
        (500, 40, 5),
        (500, 64, 6),
    ],
)
def test_rounds_grow_with_the_logarithm_of_the_digits_and_few_words_take_fewer(
    count: int, width: int, rounds: int
) -> None:
    traffic = shared_pair().talk.first.traffic
    before = traffic.rounds
    both(carry, (random_for(1).words(count) & mask(width), width))
    assert traffic.rounds - before == rounds


@pytest.mark.parametrize("count", [1, 2, 50, 500])
def test_carry_of_few_words_and_of_many(count: int) -> None:
    """However many digits are joined at once: words that are equal above one digit, and random ones."""
    a = random_for(count).words(count) & mask(40)
    b = ~a & mask(40) ^ (np.uint64(1) << (random_for(count + 1).words(count) % np.uint64(40)))
    for of_b in (b, random_for(count + 2).words(count) & mask(40)):
        assert opened(both(carry, (a, 40), (of_b, 40))) == ((a + of_b) >> np.uint64(40)).tolist()
