import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.fixed_key import FixedKeyHash
from mixbayes.protocol.long_choice import all_masks, chosen_masks, look_up
from tests.protocol.pairs import SEEDS, both, random_for, shared_pair, xored

HASH = FixedKeyHash(bytes(range(16)))


def looked_up(entries: int, words: int, index: Words, number: int) -> None:
    table = random_for(number).words(entries, words)
    index_a, index_b = xored(index, entries.bit_length() - 1, number + 1)
    row_a, row_b = both(look_up, (index_a, table), (index_b, table))
    assert row_a.shape == row_b.shape == (index.size, words)
    assert (row_a ^ row_b).tolist() == [table[i].tolist() for i in index.tolist()]


@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 9), SEEDS)
@settings(max_examples=50)
def test_look_up_is_the_table_at_the_index(bits: int, words: int, count: int, number: int) -> None:
    looked_up(1 << bits, words, random_for(number + 2).words(count) & mask(bits), number)


@pytest.mark.parametrize("bits", range(1, 10))
def test_every_entry_is_found(bits: int) -> None:
    looked_up(1 << bits, 2, np.arange(1 << bits, dtype=np.uint64), bits)


def test_more_elements_than_are_masked_at_a_time() -> None:
    looked_up(512, 2, random_for(1).words(301) & mask(9), 1)


def test_share_of_a_row_is_fresh() -> None:
    """The same index twice does not give the same shares, nor does an entry of zeros give shares of zeros."""
    index, table = np.zeros(50, np.uint64), np.zeros((4, 2), np.uint64)
    rows = [both(look_up, (index, table))[0] for _ in range(2)]
    assert np.unique(np.stack(rows)).size == 200


def test_two_rounds() -> None:
    traffic = shared_pair().talk.first.traffic
    rounds, sent = traffic.rounds, traffic.sent
    both(look_up, (np.arange(7, dtype=np.uint64), random_for(1).words(16, 3)))
    assert traffic.rounds - rounds == 2
    assert traffic.sent - sent == 2 * 16 + 4 * 4 // 8 + 4 * 16 * 3 * 8


@given(st.integers(2, 70), st.integers(1, 5), st.integers(1, 6), SEEDS)
def test_chosen_mask_is_the_sender_s_and_the_others_differ(entries: int, words: int, count: int, number: int) -> None:
    """For any number of entries, as a question has them; pads and choices here are dealt."""
    bits = (entries - 1).bit_length()
    random = random_for(number)
    pads, choices = random.words(2, bits, count, 2), random.bits(bits, count)
    index = random.words(count) % np.uint64(entries)
    received = np.where(choices[..., None] == 1, pads[1], pads[0])
    flips = (index >> np.arange(bits, dtype=np.uint64)[:, None]).astype(np.uint8) & 1 ^ choices
    masks = all_masks(HASH, pads, flips, entries, words)
    chosen = chosen_masks(HASH, received, index, words)
    assert masks.shape == (entries, count, words)
    assert chosen.tolist() == masks[index.astype(np.intp), np.arange(count)].tolist()
    assert np.unique(masks).size == masks.size
