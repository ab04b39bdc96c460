"""The hash of oblivious transfer, and the masks that are made of pads with it."""

from collections.abc import Callable
from hashlib import sha256

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.transfer import pads as pads_module
from mixbayes.protocol.transfer.pads import (
    FixedKeyHash,
    TransferHash,
    all_masks,
    chosen_masks,
    long_hash,
    pad_words,
    tree_hash,
)
from tests.protocol.pairs import SEEDS, Pair, connect_asker, integers, random_for

HASH = FixedKeyHash(bytes(range(16)))


def hashed(hashing: TransferHash, *sides: Words) -> list[Words]:
    """The hashes of the rows of each side, which are left as they are."""
    rooms = [(np.vstack([rows, rows[:1]]), np.empty((len(rows) + 1, 2), np.uint64)) for rows in sides]
    hashing.absorb(rooms)
    return [pads[:-1] for _, pads in rooms]


def permuted(key: bytes, block: int) -> int:
    raw = Cipher(AES(key), ECB()).encryptor().update(block.to_bytes(16, "little"))
    return int.from_bytes(raw, "little")


def derived(use: str, key: bytes) -> bytes:
    return sha256(f"mixbayes {use}".encode() + b"\0" + key).digest()[:16]


def test_rows_are_hashed_by_tmmo() -> None:
    """π(π(x) ⊕ i) ⊕ π(x), computed block by block; equal places of both sides have the same i."""
    key = bytes(range(16))
    hashing, sides = TransferHash(key), [random_for(1).words(5, 2), random_for(2).words(5, 2)]
    found = hashed(hashing, *sides), hashed(hashing, *sides)
    for first in (0, 1):
        for rows, pads in zip(sides, found[first], strict=True):
            for place, (low, high) in enumerate(rows.tolist()):
                once = permuted(derived("transfers", key), low | high << 64)
                due = permuted(derived("transfers", key), once ^ (5 * first + place)) ^ once
                assert pads[place].tolist() == [due & (1 << 64) - 1, due >> 64]


def test_tweak_never_repeats_under_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same row is hashed differently every time, also where a new key begins to count anew."""
    monkeypatch.setattr(pads_module, "KEY_LIFETIME", 10)
    hashing = TransferHash(bytes(16))
    hashes = [hashed(hashing, np.zeros((size, 2), np.uint64))[0] for size in [4, 6, 1, 9, 3, 7]]
    assert np.unique(np.vstack(hashes), axis=0).shape == (30, 2)


def test_a_related_row_under_a_related_number_is_hashed_otherwise() -> None:
    """Where the number is only XORed into the row, whoever chooses rows x and x ⊕ 1 makes two transfers hash alike."""
    rows = random_for(1).words(2, 2)
    rows[1] = rows[0]
    rows[1, 0] ^= np.uint64(1)
    alike = HASH(np.stack([rows[0], rows[1] ^ np.array([1, 0], np.uint64)]))
    assert alike[0].tolist() == alike[1].tolist()
    (pads,) = hashed(TransferHash(bytes(16)), rows)
    assert pads[0].tolist() != pads[1].tolist()


def test_transfers_trees_and_long_masks_have_keys_of_their_own() -> None:
    key, block = bytes(range(16)), random_for(1).words(1, 2)
    number = int(block[0, 0]) | int(block[0, 1]) << 64
    for hashing, use in [(tree_hash(key), "trees"), (long_hash(key), "long masks")]:
        due = permuted(derived(use, key), number) ^ number
        assert hashing(block)[0].tolist() == [due & (1 << 64) - 1, due >> 64]
    assert len({derived(use, key) for use in ("transfers", "next transfers", "trees", "long masks")}) == 4


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


@given(st.integers(3, 9), st.integers(1, 6), SEEDS)
def test_no_word_of_a_long_mask_comes_twice_or_is_one_of_the_pad(words: int, count: int, number: int) -> None:
    """Else the words under it would show where they agree."""
    pads = random_for(number).words(count, 2)
    masks = pad_words(HASH, pads, words)
    assert masks.shape == (words, count)
    assert np.unique([*masks.reshape(-1), *pads.reshape(-1)]).size == (words + 2) * count


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
