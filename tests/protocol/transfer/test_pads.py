"""The hash of oblivious transfer, and the masks that are made of pads with it."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.transfer import pads as pads_module
from mixbayes.protocol.transfer.pads import FixedKeyHash, SessionHash, all_masks, chosen_masks, pad_words
from tests.protocol.pairs import SEEDS, Pair, connect_asker, integers, random_for

HASH = FixedKeyHash(bytes(range(16)))


def test_tweak_never_repeats_under_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same block is hashed differently every time: the number runs on, and starts anew with a new key only."""
    monkeypatch.setattr(pads_module, "KEY_LIFETIME", 10)
    hashing = SessionHash(bytes(16))
    numbers, hashes = [], []
    for size in [4, 6, 1, 9, 3, 7]:
        blocks = np.zeros((size, 2), np.uint64)
        hashing.tweak(blocks)
        numbers += blocks[:, 0].tolist()
        hashes += hashing.current(blocks).tolist()
    assert numbers == [*range(10), *range(10), *range(10)]
    assert np.unique(hashes, axis=0).shape == (30, 2)


def test_long_hashes_are_the_same_at_both_ends_and_not_the_extension_s() -> None:
    pair = Pair(3)
    blocks = np.arange(20, dtype=np.uint64).reshape(10, 2)
    a, b = pair.pools
    assert a.sent_hash(blocks).tolist() == b.received_hash(blocks).tolist()
    assert a.received_hash(blocks).tolist() == b.sent_hash(blocks).tolist()
    assert a.sent_hash(blocks).tolist() != a.received_hash(blocks).tolist()
    asker, answerer, _ = connect_asker(3)
    assert asker.hash(blocks).tolist() == answerer.hash(blocks).tolist()


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
