"""The traps of transfers: pads without slots, used twice or for several words, and stretched from their own key.

Each attack succeeds against ours with one piece replaced, and fails on ours: the attack is the same code in both cases.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Bytes, Words, mask
from mixbayes.protocol.circuits import choice, products, ring
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.circuits.comparison import _digit_tables
from mixbayes.protocol.circuits.products import gate, product_of_bits, scale
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.packing import unpack_bits, unpack_words, words_bytes
from mixbayes.protocol.transfer.extension import Received, Sent
from mixbayes.protocol.transfer.pads import FixedKeyHash
from mixbayes.protocol.transfer.pool import PairPool
from tests.protocol.adversary import TappedPair
from tests.protocol.pairs import random_for

pytestmark = pytest.mark.usefixtures("dealt_base_transfers")  # no trap here concerns how they are made
WIDTH = 40


def unslotted(part: Slots, pads: Words, flips: Bits) -> Words:
    """Every entry masked by the same bits of the pads that it names: `choice._slot_masks` without its slots."""
    pads = pads.reshape(2, part.bits, -1, 2)[..., 0] & mask(part.slot)
    total = np.zeros(pads.shape[-1], np.uint64)
    columns = np.arange(pads.shape[-1])
    for v in range(1 << part.bits):
        entry = np.zeros_like(total)
        for j, flip in enumerate(flips.reshape(part.bits, -1)):
            entry ^= pads[(v >> j & 1) ^ flip, j, columns]
        total |= entry << np.uint64(v * part.slot)
    return total[None]


def second_differences(tables: Words, bits: int) -> Words:
    """entry(v) ⊕ entry(v ⊕ 1) ⊕ entry(v ⊕ 2) ⊕ entry(v ⊕ 3): masks that are sums over the bits of v cancel."""
    places = 2 * np.arange(1 << bits, dtype=np.uint64)
    entries = (tables[..., None] >> places) & np.uint64(3)
    at = np.arange(1 << bits)
    return entries ^ entries[..., at ^ 1] ^ entries[..., at ^ 2] ^ entries[..., at ^ 3]


def guessed_digits(seen: Words, bits: int) -> list[list[int]]:
    """Which digits of the sender fit what the receiver has seen of its masked comparison tables."""
    of_digits = second_differences(_digit_tables(bits), bits)
    return [np.flatnonzero((of_digits == one).all(axis=1)).tolist() for one in second_differences(seen, bits)]


def receive_comparison_tables(digits: Bits, number: int) -> Words:
    """B asks for one entry each of A's tables, as in a comparison; returns all that it received."""
    pair = TappedPair(10 * number, 10 * number + 1)
    shares = random_for(number).words(digits.size) & mask(2)
    offered = (_digit_tables(5)[digits] ^ in_every_slot(5, 2)[shares])[None]
    nothing = np.zeros_like(offered)
    index = np.arange(digits.size, dtype=np.uint8) % 32
    pair.run(choose_slots, ([Slots(5, 2, offered, index)],), ([Slots(5, 2, nothing, index)],))
    return pair.talk.second.heard[-1][1].view(np.uint64)


def test_pad_without_slots_shows_the_whole_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = random_for(4).bits(64) + 2 * random_for(5).bits(64) + 4 * random_for(6).bits(64) * np.uint8(7)
    secret = digits.tolist()
    ours = guessed_digits(receive_comparison_tables(digits, 1), 5)
    monkeypatch.setattr(choice, "_slot_masks", unslotted)
    broken = guessed_digits(receive_comparison_tables(digits, 2), 5)
    assert [digit in guess for digit, guess in zip(secret, broken, strict=True)] == [True] * 64
    assert all(len(guess) <= 4 for guess in broken)  # digits that agree but for their last two bits look alike
    assert ours == [[]] * 64


class HandsOutTwice(PairPool):
    """Puts everything back."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))

    def take(self, count: int) -> tuple[Sent, Received]:
        self.reserve(count)
        stocks = copy.copy(self._sent), copy.copy(self._received)
        taken = super().take(count)
        self._sent, self._received = stocks
        return taken


class HandsOutOneForAll(PairPool):
    """One transfer serves all words of a step."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))

    def take(self, count: int) -> tuple[Sent, Received]:
        sent, received = super().take(1)
        pads = Sent(np.broadcast_to(sent.pads, (2, count, 2)))
        return pads, Received(np.broadcast_to(received.choices, (count,)), np.broadcast_to(received.pads, (count, 2)))


def opened_by_a(pair: TappedPair, step: str, count: int, width: int) -> list[tuple[Bits, Words]]:
    """What B hears of A's masked bits and words."""
    heard = [raw for name, raw in pair.talk.second.heard if name == step]
    size = -(-count // 8)
    return [
        (unpack_bits(raw[:size], count, "A", step), unpack_words(raw[size:], count, width, "A", step)) for raw in heard
    ]


def differences_by_reuse(kind: Callable[[PairPool], PairPool], number: int) -> tuple[Bits, Words]:
    """A uses two secrets in two gates; B xors what A sent."""
    pair = TappedPair(number, number + 1)
    pair.with_pools(kind)
    zero_bits, zero_words = np.zeros(16, np.uint8), np.zeros(16, np.uint64)
    for bits, words in secrets_of_a():
        pair.run(lambda me, b, w: gate(me, b, w, WIDTH), (bits, words), (zero_bits, zero_words))
    (bits, words), (more_bits, more_words) = opened_by_a(pair, "bit and word", 16, WIDTH)
    return bits ^ more_bits, words ^ more_words


def secrets_of_a() -> list[tuple[Bits, Words]]:
    return [(random_for(n).bits(16), random_for(n + 10).words(16) & mask(WIDTH)) for n in (31, 32)]


def ours(plain: PairPool) -> PairPool:
    return plain


def test_transfers_handed_out_twice_show_differences_of_secrets() -> None:
    (bits, words), (more_bits, more_words) = secrets_of_a()
    broken_bits, broken_words = differences_by_reuse(HandsOutTwice, 300)
    assert np.array_equal(broken_bits, bits ^ more_bits)
    assert np.array_equal(broken_words, words ^ more_words)
    our_bits, our_words = differences_by_reuse(ours, 300)
    assert not np.array_equal(our_bits, bits ^ more_bits)
    assert not (our_words == words ^ more_words).any()


def test_no_transfer_is_handed_out_twice() -> None:
    pair = TappedPair(310, 311)
    taken = [pair.run(lambda me, count=count: me.pool.take(count), (), ()) for count in (1, 7, 128, 40000, 3)]
    for role in (A, B):
        sent = np.concatenate([results[role][0].pads for results in taken], axis=1).reshape(-1, 2)
        received = np.concatenate([results[role][1].pads for results in taken])
        assert len(np.unique(sent, axis=0)) == len(sent) == 2 * 40139
        assert len(np.unique(received, axis=0)) == len(received)


def score_differences(kind: Callable[[PairPool], PairPool], scores: Words) -> Words:
    """B's view of A's shares of the scores being selected: differences between neighbours."""
    pair = TappedPair(320, 321)
    pair.with_pools(kind)
    nothing = np.zeros_like(scores)
    bits = np.zeros(scores.size, np.uint8)
    pair.run(lambda me, w: scale(me, bits, w, WIDTH), (scores,), (nothing,))
    (_, words), *_ = opened_by_a(pair, "bit times word", scores.size, WIDTH)
    return (words[1:] - words[:-1]) & mask(WIDTH)


def test_one_mask_for_several_scores_shows_their_differences() -> None:
    scores = random_for(33).words(12) & mask(WIDTH)
    secret = (scores[1:] - scores[:-1]) & mask(WIDTH)
    assert np.array_equal(score_differences(HandsOutOneForAll, scores), secret)
    assert not (score_differences(ours, scores) == secret).any()


class Remembers(PairPool):
    """Ours, with the last transfers kept for the test."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))

    def take(self, count: int) -> tuple[Sent, Received]:
        self.last = super().take(count)
        return self.last


def key_first(hashing: FixedKeyHash, pads: Words, words: int) -> Words:
    """A long mask that begins with the pad of which the hash makes the rest."""
    more = [hashing(pads ^ np.uint64(number)).T for number in range(1, -(-words // 2))]
    return np.concatenate([pads.T, *more])[:words]


class WideView:
    """What B has after a step on words of several limbs: A's masked words, its own pads and choices."""

    def __init__(self, step: Callable[..., Any], of_a: tuple[Any, ...], of_b: tuple[Any, ...], width: int) -> None:
        pair = TappedPair(330, 331)
        pair.with_pools(Remembers)
        pair.run(step, of_a, of_b)
        transfers = pair.b.pool
        assert isinstance(transfers, Remembers)
        self.width, self._hashing, self._transfers = width, transfers.received_hash, transfers.last[1]
        raw = next(raw for name, raw in pair.talk.second.heard if name == "bit times word")
        self.words = wide_words(raw[-(-self._transfers.choices.size // 8) :], self._transfers.choices.size, width)

    def if_begins(self, i: int, word: int) -> int:
        """A's word i, if its lowest 128 bits are those of `word`: these give the pad that B lacks, which gives all."""
        known, received = self._stretched(self._transfers.pads[i]), self.words[i]
        sign = 1 if self._transfers.choices[i] else -1  # received = word − (pad₁ − pad₀)
        lacking = known + sign * (received - word)
        pad = np.array([lacking % 2**64, (lacking >> 64) % 2**64], np.uint64)
        return (received - sign * (self._stretched(pad) - known)) % 2**self.width

    def _stretched(self, pad: Words) -> int:
        """A pad as the protocol makes a long mask of it."""
        limbs = products.pad_words(self._hashing, pad[None].copy(), -(-self.width // 64))[:, 0].tolist()
        return sum(limb << 64 * i for i, limb in enumerate(limbs))


def wide_words(raw: Bytes, count: int, width: int) -> list[int]:
    sizes = [min(64, width - 64 * limb) for limb in range(-(-width // 64))]
    rows, at = [], 0
    for size in sizes:
        end = at + words_bytes(count, size)
        rows.append(unpack_words(raw[at:end], count, size, "A", "test").tolist())
        at = end
    return [sum(limb << 64 * i for i, limb in enumerate(limbs)) for limbs in zip(*rows, strict=True)]


def private_bits_that_fit(width: int) -> list[list[int]]:
    """B guesses A's bits where A's words are bit · 12345: is what follows from either guess's beginning that word?"""
    bits = secret_bits()
    view = WideView(lambda me, b: product_of_bits(me, b, [12345], width), (bits,), (np.zeros_like(bits),), width)
    return [[bit for bit in (0, 1) if view.if_begins(i, bit * 12345) == bit * 12345] for i in range(16)]


def secret_bits() -> Bits:
    return random_for(34).bits(32)


def low_bits_of_a_factor(width: int) -> list[int]:
    """B looks at x · 2^128, which begins with zeros; above them stand the low bits of A's share of x."""
    x = secret_factor(width)
    bits = np.zeros(x.shape[1], np.uint8)
    view = WideView(lambda me, x: scale(me, bits, ring.shifted(x, 128, width), width), (x,), (np.zeros_like(x),), width)
    return [view.if_begins(i, 0) >> 128 for i in range(x.shape[1])]


def secret_factor(width: int) -> Words:
    x = random_for(35).words(3, 4)
    x[2] &= mask(width - 128)
    return x


def test_long_mask_that_begins_with_its_key_confirms_guesses_of_private_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = private_bits_that_fit(192)
    monkeypatch.setattr(products, "pad_words", key_first)
    assert private_bits_that_fit(192) == [[bit] for bit in secret_bits()[:16].tolist()]
    assert ours == [[]] * 16


def test_long_mask_that_begins_with_its_key_shows_the_factors_of_wide_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So did a training with numbers: 166 bits were the width of its moments, and each mixer could read counts."""
    width, ours = 166, low_bits_of_a_factor(166)
    monkeypatch.setattr(products, "pad_words", key_first)
    secret = (secret_factor(width)[0] & mask(width - 128)).tolist()
    assert low_bits_of_a_factor(width) == secret
    assert all(shown != low for shown, low in zip(ours, secret, strict=True))


def test_mask_of_two_limbs_is_all_of_the_pad_and_confirms_nothing() -> None:
    assert private_bits_that_fit(128) == [[0, 1]] * 16
