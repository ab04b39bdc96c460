from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.look_up import all_masks, chosen_masks, look_up, pad_words
from mixbayes.protocol.transfer.pads import FixedKeyHash
from tests.protocol.pairs import SEEDS, WIDTHS, both, integers, random_for, shared_pair, xored

HASH = FixedKeyHash(bytes(range(16)))


def table_of(entries: int, widths: list[int], number: int) -> Words:
    columns = [random_for(number + i).words(entries) & mask(width) for i, width in enumerate(widths)]
    return np.stack(columns, axis=1)


def assert_looked_up(entries: int, widths: list[int], index: Words, number: int) -> None:
    table = table_of(entries, widths, number)
    index_a, index_b = xored(index, entries.bit_length() - 1, number + 1)
    row_a, row_b = both(look_up, (index_a, table, widths), (index_b, table, widths))
    assert row_a.shape == row_b.shape == (index.size, len(widths))
    assert (row_a ^ row_b).tolist() == [table[i].tolist() for i in index.tolist()]
    assert not (row_a & ~np.array([mask(width) for width in widths])).any()


@given(st.integers(1, 9), st.lists(WIDTHS, min_size=1, max_size=4), st.integers(1, 9), SEEDS)
@settings(max_examples=50)
def test_look_up_is_the_table_at_the_index(bits: int, widths: list[int], count: int, number: int) -> None:
    assert_looked_up(1 << bits, widths, random_for(number + 2).words(count) & mask(bits), number)


@pytest.mark.parametrize("bits", range(1, 10))
def test_every_entry_is_found(bits: int) -> None:
    assert_looked_up(1 << bits, [64, 16], np.arange(1 << bits, dtype=np.uint64), bits)


def test_more_elements_than_are_masked_at_a_time() -> None:
    assert_looked_up(512, [64, 16], random_for(1).words(301) & mask(9), 1)


def test_share_of_a_row_is_fresh() -> None:
    """The same index twice does not give the same shares, nor does an entry of zeros give shares of zeros."""
    index, table = np.zeros(50, np.uint64), np.zeros((4, 2), np.uint64)
    rows = [both(look_up, (index, table, (64, 64)))[0] for _ in range(2)]
    assert np.unique(np.stack(rows)).size == 200


def test_two_rounds_and_no_more_bytes_than_the_entries_need() -> None:
    traffic = shared_pair().talk.first.traffic
    rounds, sent = traffic.rounds, traffic.sent
    widths = [64, 14, 1]
    both(look_up, (np.arange(7, dtype=np.uint64), table_of(16, widths, 1), widths))
    assert traffic.rounds - rounds == 2
    entries = 4 * 16
    assert traffic.sent - sent == 2 * 16 + 4 * 4 // 8 + entries * 8 + entries * 2 + entries // 8


@given(st.integers(2, 70), st.integers(1, 5), st.integers(1, 6), SEEDS)
def test_chosen_mask_is_the_sender_s_and_the_others_differ(entries: int, words: int, count: int, number: int) -> None:
    """For any number of entries, as a question has them; pads and choices here are dealt."""
    bits = (entries - 1).bit_length()
    random = random_for(number)
    pads, choices = random.words(2, bits, count, 2), random.bits(bits, count)
    index = random.words(count) % np.uint64(entries)
    received = np.where(choices[..., None] == 1, pads[1], pads[0])
    wanted = (index >> np.arange(bits, dtype=np.uint64)[:, None]) & np.uint64(1)
    flips = wanted.astype(np.uint8) ^ choices
    masks = all_masks(HASH, pads, flips, entries, words)
    chosen = chosen_masks(HASH, received, index, words)
    assert masks.shape == (entries, count, words)
    assert chosen.tolist() == masks[index.astype(np.intp), np.arange(count)].tolist()
    assert np.unique(masks).size == masks.size


def guesses_that_fit(masks_of: Callable[[Words], Words], seen: Words, pad: Words, candidates: list[int]) -> list[int]:
    """An attack on a long pad that begins with the pad itself.

    Who knows p_0 and the difference on the wire, word − (p_1 − p_0) modulo 2^192, turns a guess of the word's low 128
    bits into a guess of p_1, and sees if the rest fits.
    """
    zero, wire = integers(masks_of(pad), 192)[0], integers(seen, 192)[0]
    fitting = []
    for word in candidates:
        low = (word - wire + zero) % 2**128
        one = integers(masks_of(np.array([[low % 2**64, low >> 64]], np.uint64)), 192)[0]
        if (one - zero) % 2**192 == (word - wire) % 2**192:
            fitting.append(word)
    return fitting


def pad_and_its_hash(pads: Words) -> Words:
    """The broken variant: the pad's own two words, and behind them a hash of it."""
    return np.concatenate([pads.T, HASH(pads ^ np.uint64(1)).T])[:3]


@pytest.mark.parametrize("broken", [True, False])
def test_words_under_a_long_pad_cannot_be_guessed(broken: bool) -> None:
    def masks_of(pads: Words) -> Words:
        return pad_and_its_hash(pads) if broken else pad_words(HASH, pads, 3)

    words = random_for(5).words(4)
    pads = words[:2].reshape(1, 2), words[2:].reshape(1, 2)
    secret, others = 5 << 150, [n << 150 for n in (0, 1, 77)]
    zero, one = (integers(masks_of(pad), 192)[0] for pad in pads)
    wire = ring.constant([secret - one + zero], 192)
    assert guesses_that_fit(masks_of, wire, pads[0], [*others, secret]) == ([secret] if broken else [])
