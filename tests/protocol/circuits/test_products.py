from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.products import (
    all_of,
    cross,
    cross_xor,
    fold,
    gate,
    narrow_weighted,
    nested,
    product_of_bits,
    scale,
    select,
    times_number,
    to_arithmetic,
    weighted,
)
from tests.protocol.pairs import (
    ALL_WIDTHS,
    SEEDS,
    WIDTHS,
    added,
    additive,
    bits_of,
    both,
    integers,
    opened,
    random_for,
    shared_pair,
    words_and_width,
    words_of,
    xored,
    xored_bits,
)

Ring = tuple[int, list[list[int]]]


@given(words_and_width(ALL_WIDTHS, columns=2))
def test_ring_arithmetic_is_that_of_integers(example: Ring) -> None:
    width, (xs, ys) = example
    x, y, top = words_of(xs, width), words_of(ys, width), 2**width
    pairs = list(zip(xs, ys, strict=True))
    assert integers(ring.add(x, y, width), width) == [(a + b) % top for a, b in pairs]
    assert integers(ring.subtract(x, y, width), width) == [(a - b) % top for a, b in pairs]
    assert integers(ring.multiply(x, y, width), width) == [a * b % top for a, b in pairs]
    assert integers(ring.negate(x, width), width) == [-a % top for a in xs]
    signs = bits_of(odd(ys))
    assert integers(ring.signed(signs, x, width), width) == [(a - 2 * (b % 2) * a) % top for a, b in pairs]
    rows = np.stack([x, y, x], axis=x.ndim - 1)
    assert integers(ring.total(rows, width), width) == [(2 * a + b) % top for a, b in pairs]
    assert (integers(x, width), integers(y, width)) == (xs, ys)


@given(words_and_width(ALL_WIDTHS), st.data())
def test_ring_words_are_shifted_and_cut_like_integers(example: Ring, data: st.DataObject) -> None:
    width, (xs,) = example
    x = words_of(xs, width)
    places = data.draw(st.integers(0, width))
    assert integers(ring.shifted(x, places, width), width) == [(a << places) % 2**width for a in xs]
    keep = data.draw(st.integers(1, width))
    assert integers(ring.low_bits(x, width, keep), keep) == [a % 2**keep for a in xs]
    assert ring.bits(x, width).tolist() == [[a >> i & 1 for a in xs] for i in range(width)]
    for size in (1, 4, 5, 8):
        count = -(-width // size)
        digits = ring.digits(x, 0, size, count)
        assert digits.tolist() == [[a >> size * i & 2**size - 1 for a in xs] for i in range(count)]
        if size != 5:
            assert integers(ring.joined(digits, size, width), width) == xs


@given(words_and_width(ALL_WIDTHS))
def test_ring_words_come_from_integers_of_either_sign(example: Ring) -> None:
    width, (xs,) = example
    assert integers(ring.constant([*xs, *(-x for x in xs)], width), width) == xs + [-x % 2**width for x in xs]


@pytest.mark.parametrize("width", [64, 65, 128, 129, 192, 256])
def test_ring_carries_run_through_all_limbs(width: int) -> None:
    zero, one, most = (words_of([number], width) for number in (0, 1, 2**width - 1))
    assert integers(ring.add(most, one, width), width) == [0]
    assert integers(ring.add(most, most, width), width) == [2**width - 2]
    assert integers(ring.negate(zero, width), width) == [0]
    assert integers(ring.subtract(zero, one, width), width) == [2**width - 1]


def odd(words: list[int]) -> list[int]:
    return [word & 1 for word in words]


@given(words_and_width(ALL_WIDTHS, columns=4))
def test_cross_shares_each_choice_times_the_other_s_word(example: tuple[int, list[list[int]]]) -> None:
    width, (chosen_a, chosen_b, word_a, word_b) = example
    (kept_a, got_a), (kept_b, got_b) = both(
        cross,
        (bits_of(odd(chosen_a)), words_of(word_a, width), width),
        (bits_of(odd(chosen_b)), words_of(word_b, width), width),
    )
    assert added((kept_a, got_b), width) == [c % 2 * w for c, w in zip(chosen_b, word_a, strict=True)]
    assert added((got_a, kept_b), width) == [c % 2 * w for c, w in zip(chosen_a, word_b, strict=True)]


@given(words_and_width(WIDTHS, columns=4))
def test_cross_xor_shares_both_products_in_one_word(example: tuple[int, list[list[int]]]) -> None:
    width, (chosen_a, chosen_b, word_a, word_b) = example
    shares = both(
        cross_xor,
        (bits_of(odd(chosen_a)), words_of(word_a), width),
        (bits_of(odd(chosen_b)), words_of(word_b), width),
    )
    cells = zip(chosen_a, chosen_b, word_a, word_b, strict=True)
    assert opened(shares) == [(ca % 2 * wb) ^ (cb % 2 * wa) for ca, cb, wa, wb in cells]


@given(words_and_width(WIDTHS, columns=2), SEEDS)
def test_gate_is_bit_times_word(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (chosen, words) = example
    bit_a, bit_b = xored_bits(bits_of(odd(chosen)), number)
    word_a, word_b = xored(words_of(words), width, number + 1)
    shares = both(gate, (bit_a, word_a, width), (bit_b, word_b, width))
    assert opened(shares) == [c % 2 * w for c, w in zip(chosen, words, strict=True)]


@given(words_and_width(st.integers(1, 8), columns=2), SEEDS)
def test_gate_takes_words_in_bytes(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (chosen, words) = example
    bit_a, bit_b = xored_bits(bits_of(odd(chosen)), number)
    word_a, word_b = xored(words_of(words), width, number + 1)
    shares = both(gate, (bit_a, word_a.astype(np.uint8), width), (bit_b, word_b.astype(np.uint8), width))
    assert shares[0].dtype == shares[1].dtype == np.uint8
    assert opened(shares) == [c % 2 * w for c, w in zip(chosen, words, strict=True)]


@given(words_and_width(ALL_WIDTHS, columns=2), SEEDS)
def test_scale_is_a_shared_bit_times_a_shared_word(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (chosen, words) = example
    bit_a, bit_b = xored_bits(bits_of(odd(chosen)), number)
    word_a, word_b = additive(words_of(words, width), width, number + 1)
    shares = both(scale, (bit_a, word_a, width), (bit_b, word_b, width))
    assert added(shares, width) == [c % 2 * w for c, w in zip(chosen, words, strict=True)]


@given(words_and_width(ALL_WIDTHS, columns=3))
def test_product_of_private_bits_and_public_factors(example: tuple[int, list[list[int]]]) -> None:
    """A factor for each row of three bits, negative ones too."""
    width, (of_a, of_b, factors) = example
    rows_a, rows_b = (np.repeat(bits_of(odd(bits)), 3).reshape(-1, 3) for bits in (of_a, of_b))
    rows_b[:, 1] ^= 1
    signed = [factor - 2 * (i % 2) * factor for i, factor in enumerate(factors)]
    shares = both(product_of_bits, (rows_a, signed, width), (rows_b, signed, width))
    cells = zip((rows_a & rows_b).tolist(), signed, strict=True)
    assert added(shares, width) == [bit * factor % 2**width for bits, factor in cells for bit in bits]


@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 5), SEEDS)
def test_nested_products_are_those_of_the_opened_bits_and_words(k: int, width: int, count: int, number: int) -> None:
    random = random_for(number)
    bits, words = random.bits(k, count), random.small(width, k + 1, count)
    (bits_a, bits_b), mask_of_words = xored_bits(bits, number + 1), random.small(width, k + 1, count)
    before = shared_pair().talk.first.traffic.rounds
    shares = both(nested, (bits_a, mask_of_words, width), (bits_b, words ^ mask_of_words, width))
    assert shared_pair().talk.first.traffic.rounds - before == 1
    expected = words[0]
    for bit, word in zip(bits, words[1:], strict=True):
        expected = word ^ bit * expected
    assert opened(shares) == expected.tolist()


def test_nested_products_of_every_two_bits() -> None:
    """Every way to share them, and a word that shows which products were taken."""
    shared = np.array([[v >> i & 1 for v in range(16)] for i in range(4)], np.uint8)
    words = np.broadcast_to(np.array([[1], [2], [4]], np.uint8), (3, 16))
    shares = both(nested, (shared[:2], words, 3), (shared[2:], words * np.uint8(0), 3))
    b_1, b_2 = shared[:2] ^ shared[2:]
    assert opened(shares) == (4 ^ b_2 * (2 ^ b_1)).tolist()


@given(st.integers(1, 12), st.sampled_from([1, 3, 400]), SEEDS)
@settings(max_examples=30)
def test_fold_of_ands_is_the_and_of_all_rows(rows: int, count: int, number: int) -> None:
    """Few words are joined several at a time, many two at a time."""
    bits = np.maximum.reduce([random_for(number + i).bits(rows, count) for i in range(3)])  # mostly ones
    bits_a, bits_b = xored_bits(bits, number + 3)
    shares = both(lambda me, own: fold(me, own, 1, partial(all_of, me)), (bits_a,), (bits_b,))
    assert opened(shares) == bits.min(axis=0).tolist()


@given(words_and_width(WIDTHS, columns=3), st.integers(1, 64), SEEDS)
def test_select_is_bit_times_both_words(example: tuple[int, list[list[int]]], classes: int, number: int) -> None:
    width, (chosen, words, more) = example
    bits, hot = bits_of(odd(chosen)), words_of(more) & mask(classes)
    bit_a, bit_b = xored_bits(bits, number)
    (word_a, word_b), (hot_a, hot_b) = additive(words_of(words), width, number), xored(hot, classes, number)
    (sum_a, one_a), (sum_b, one_b) = both(
        select, (bit_a, word_a, width, hot_a, classes), (bit_b, word_b, width, hot_b, classes)
    )
    assert added((sum_a, sum_b), width) == [c % 2 * word for c, word in zip(chosen, words, strict=True)]
    assert opened((one_a, one_b)) == (bits * hot).tolist()


@given(words_and_width(ALL_WIDTHS, columns=2), SEEDS)
def test_weighted_is_each_row_of_bits_times_its_weight(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words, weights) = example
    bits = np.stack([bits_of(odd(words)), bits_of(odd(words)) ^ np.uint8(1)], axis=1)
    bit_a, bit_b = xored_bits(bits, number)
    shares = both(weighted, (bit_a, weights, width), (bit_b, weights, width))
    cells = zip(bits.tolist(), weights, strict=True)
    assert added(shares, width) == [bit * weight for row, weight in cells for bit in row]


@given(words_and_width(ALL_WIDTHS), SEEDS)
def test_to_arithmetic_keeps_the_bits(example: tuple[int, list[list[int]]], number: int) -> None:
    width, (words,) = example
    bit_a, bit_b = xored_bits(bits_of(odd(words)), number)
    assert added(both(to_arithmetic, (bit_a, width), (bit_b, width)), width) == odd(words)


@given(words_and_width(ALL_WIDTHS, columns=3), st.integers(1, 70), SEEDS)
@settings(max_examples=60)
def test_times_number_multiplies_all_words_by_the_number(
    example: tuple[int, list[list[int]]], bits: int, number: int
) -> None:
    width, (numbers, xs, ys) = example
    bits = min(bits, width)
    numbers = [n % 2**bits for n in numbers]
    of_bits = np.array([[n >> i & 1 for n in numbers] for i in range(bits)], np.uint8)
    bits_a, bits_b = xored_bits(of_bits, number)
    words = additive(words_of(xs + ys, width), width, number + 1)
    in_rows = [share.reshape(*share.shape[:-1], 2, len(xs)) for share in words]
    shares = both(times_number, (bits_a, in_rows[0], width), (bits_b, in_rows[1], width))
    flat_a, flat_b = (share.reshape(words[0].shape) for share in shares)
    assert added((flat_a, flat_b), width) == [n * x % 2**width for n, x in zip(numbers * 2, xs + ys, strict=True)]


@given(st.integers(2, 150), st.integers(1, 9), SEEDS)
@settings(max_examples=30)
def test_weights_with_zeros_at_their_end_send_less_and_count_as_much(width: int, count: int, number: int) -> None:
    weights = [1, -1, 3, 6, -40, 1 << width // 2, 5 << width - 1, -(1 << width - 2), 1 << width]
    bits = random_for(number).bits(len(weights), count)
    bits_a, bits_b = xored_bits(bits, number)
    shares = both(narrow_weighted, (bits_a, weights, width), (bits_b, weights, width))
    flat_a, flat_b = (share.reshape(*share.shape[:-2], -1) for share in shares)
    expected = [bit * w % 2**width for row, w in zip(bits.tolist(), weights, strict=True) for bit in row]
    assert added((flat_a, flat_b), width) == expected


def test_only_the_bits_that_count_are_sent() -> None:
    traffic, sent = shared_pair().talk.first.traffic, []
    for needed in (None, [64, 40, 24, 8]):
        before = traffic.sent
        both(cross, (np.zeros((4, 10), np.uint8), np.zeros((4, 10), np.uint64), 64, needed))
        sent.append(traffic.sent - before - 16 - 5)
    assert sent == [320, 10 * (8 + 5 + 3 + 1)]


@pytest.mark.parametrize("size", [1, 2, 3, 64, 65])
def test_every_width_and_size(size: int) -> None:
    for width in range(1, 65):
        random = random_for(100 * size + width)
        x, chosen = random.words(size) & mask(width), random.bits(size)
        x_a, x_b = additive(x, width, 1)
        bit_a, bit_b = xored_bits(chosen, 3)
        assert added(both(scale, (bit_a, x_a, width), (bit_b, x_b, width)), width) == (chosen * x).tolist()
        word_a, word_b = xored(x, width, 4)
        assert opened(both(gate, (bit_a, word_a, width), (bit_b, word_b, width))) == (chosen * x).tolist()
        assert added(both(to_arithmetic, (bit_a, width), (bit_b, width)), width) == chosen.tolist()


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 1), (1, 1)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    random = random_for(1)
    word, bit = random.words(*shape), random.bits(*shape)
    for step in (gate, scale, cross_xor):
        one, other = both(step, (bit, word, 64))
        assert one.shape == other.shape == shape
    for one, other in zip(*both(cross, (bit, word, 64)), strict=True):
        assert one.shape == other.shape == shape
    one, _ = both(to_arithmetic, (bit, 64))
    assert one.shape == shape


def swaps_bit_and_word(step: Callable[..., Words]) -> int:
    """Rounds of a step over 100 words of 20 bits, after checking what each end sent."""
    traffic = shared_pair().talk.first.traffic
    sent, received, rounds = traffic.sent, traffic.received, traffic.rounds
    both(step, (random_for(1).bits(100), random_for(2).words(100) & mask(20), 20))
    assert traffic.sent - sent == traffic.received - received == 16 + 13 + 250
    return traffic.rounds - rounds


@pytest.mark.parametrize("step", [cross, cross_xor, gate, scale])
def test_one_round_of_a_bit_and_a_word_an_element(step: Callable[..., Words]) -> None:
    assert swaps_bit_and_word(step) == 1


def test_long_pads_do_not_repeat() -> None:
    """With words of zeros, shares are pads or their negatives, of four words where a transfer gives two."""
    (kept, got), _ = both(cross, (random_for(1).bits(100), np.zeros((4, 100), np.uint64), 256))
    assert np.unique(np.stack([kept, ~kept, got, ~got])).size == 1600


def test_announcements_are_fresh() -> None:
    """The same inputs twice send different bytes and give different shares of the same words."""
    step = (random_for(1).bits(100), random_for(2).words(100) & mask(20), 20)
    once, twice = both(gate, step), both(gate, step)
    assert opened(once) == opened(twice)
    assert once[0].tolist() != twice[0].tolist()
