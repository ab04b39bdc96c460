"""The traps of such protocols: each attack succeeds against a variant that falls into it, and fails on ours.

A broken variant is ours with one piece replaced: randomness that repeats, a pool that hands out twice, a mask without
slots. The attack is the same code in both cases.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol import argmax, choice, label, pool, products
from mixbayes.protocol.arrays import Bits, Bytes, Values, Words, mask
from mixbayes.protocol.base_ot import COUNT, BaseReceived, BaseSent
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.comparison import _compared, negative
from mixbayes.protocol.errors import CheatingReceiver
from mixbayes.protocol.extension import GROUP, GROUPS, Begun, Received, ReceiverExtension, SenderExtension, Sent
from mixbayes.protocol.fixed_key import FixedKeyHash
from mixbayes.protocol.long_choice import chosen_masks
from mixbayes.protocol.model import Model
from mixbayes.protocol.packing import unpack_bits, unpack_words, words_bytes
from mixbayes.protocol.party import A, B, Party
from mixbayes.protocol.pool import PairPool
from mixbayes.protocol.products import gate, multiply, product_of_bits, scale
from mixbayes.protocol.question import Form, Line, Question, answer
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import TappedEnds, TappedPair, bits_heard, dealt_receive, dealt_send, difference, varying
from tests.protocol.pairs import Ends, connect_asker, converse, layout_of, random_for, seed

WIDTH = 40


@pytest.fixture(autouse=True)
def dealt_base_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No trap here concerns how the base transfers are made."""
    monkeypatch.setattr(pool, "send_base", dealt_send)
    monkeypatch.setattr(pool, "receive_base", dealt_receive)


# One ρ for several things


class OneForAttributes(Randomness):
    """Every attribute of a row gets the ρ of the first."""

    def words(self, *shape: int) -> Words:
        return random_for(1).words(*shape)


class OneForClasses(Randomness):
    """Every class gets the ρ of the first."""

    def words(self, *shape: int) -> Words:
        return np.broadcast_to(super().words(1, *shape[1:]), shape).copy()


class OneForRows(Randomness):
    """Every row gets the ρ of the first."""

    def words(self, *shape: int) -> Words:
        return np.broadcast_to(super().words(*shape[:-1], 1), shape).copy()


FORM = Form.of(layout_of(3, [2, 2]), WIDTH)
"""Two attributes of two values, so that an attribute of one query differs from the next only in what is asked."""


def random_model(number: int) -> Model:
    random = random_for(number)
    tables = [np.append(random.words(2, 2) & mask(WIDTH), np.zeros((1, 2), np.uint64), axis=0) for _ in range(2)]
    return Model(WIDTH, random.words(2) & mask(WIDTH), tuple(tables))


def ask(codes: Values, mixer: Model, random: Randomness, number: int = 1) -> Words:
    """What the hospital takes of one mixer's tables: (attributes, K − 1, rows), each entry with its ρ."""
    asker, answerer, _ = connect_asker(number)
    ends = TappedEnds("party va", "mixer a")
    question = Question(FORM, Line(ends.first, asker), codes)

    def hospital() -> Words:
        announced = question.announce()
        announced.receive_and_add_up()
        return announced._received.pads

    rows = codes.shape[1]
    taken, _ = converse([ends], hospital, lambda: answer(FORM, Line(ends.second, answerer), mixer, random, rows))
    tables = [unmasked(raw, rows) for step, raw in ends.first.heard if step == "tables for the question"]
    pads = np.split(taken, len(codes))
    return np.stack(
        [
            table[values, :, np.arange(rows)].T
            - chosen_masks(asker.hash, pad.reshape(2, rows, 2), values.astype(np.uint64), 2).T
            for table, values, pad in zip(tables, codes, pads, strict=True)
        ]
    ) & mask(WIDTH)


def unmasked(raw: Bytes, rows: int) -> Words:
    return unpack_words(raw, 3 * 2 * rows, WIDTH, "mixer a", "test").reshape(3, 2, rows)


def between_attributes(taken: Words) -> Words:
    return taken[0] - taken[1]


def between_classes(taken: Words) -> Words:
    return taken[:, 0] - taken[:, 1]


def between_rows(taken: Words) -> Words:
    return taken[:, :, 0] - taken[:, :, 1]


CODES = np.array([[0, 1], [1, 0]], np.int32)
TRAPS: list[tuple[type[Randomness], Callable[[Words], Words]]] = [
    (OneForAttributes, between_attributes),
    (OneForClasses, between_classes),
    (OneForRows, between_rows),
]


def in_the_clear(model: Model, codes: Values) -> Words:
    """The entries that the hospital takes, without ρ."""
    return np.stack([table[values].T for table, values in zip(model.tables, codes, strict=True)])


@pytest.mark.parametrize(("trap", "attack"), TRAPS, ids=["attributes", "classes", "rows"])
def test_one_rho_for_several_shows_differences_of_the_table(
    trap: type[Randomness], attack: Callable[[Words], Words]
) -> None:
    for number in range(5):
        model = random_model(number)
        secret = attack(in_the_clear(model, CODES)) & mask(WIDTH)
        broken = attack(ask(CODES, model, trap(seed(number)))) & mask(WIDTH)
        ours = attack(ask(CODES, model, Randomness(seed(number)))) & mask(WIDTH)
        assert np.array_equal(broken, secret)
        assert not (ours == secret).any()


def test_one_rho_for_two_queries_shows_differences_of_the_table() -> None:
    first, second = np.array([[0, 1], [1, 2]], np.int32), np.array([[1, 0], [0, 1]], np.int32)
    for number in range(5):
        model = random_model(number)
        secret = (in_the_clear(model, first) - in_the_clear(model, second)) & mask(WIDTH)
        once, again, ours = (Randomness(seed(number)) for _ in range(3))
        broken = ask(first, model, once, 1) - ask(second, model, again, 2)
        fresh = ask(first, model, ours, 1) - ask(second, model, ours, 2)
        assert np.array_equal(broken & mask(WIDTH), secret)
        assert not (fresh & mask(WIDTH) == secret).any()


def test_the_hospital_sees_no_entry_itself() -> None:
    model = random_model(9)
    assert not (ask(CODES, model, random_for(9)) == in_the_clear(model, CODES)).any()


# A pad without slots


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
    of_digits = second_differences(_compared(bits), bits)
    return [np.flatnonzero((of_digits == one).all(axis=1)).tolist() for one in second_differences(seen, bits)]


def receive_comparison_tables(digits: Bits, number: int) -> Words:
    """B asks for one entry each of A's tables, as in a comparison; returns all that it received."""
    pair = TappedPair(10 * number, 10 * number + 1)
    shares = random_for(number).words(digits.size) & mask(2)
    offered = (_compared(5)[digits] ^ in_every_slot(5, 2)[shares])[None]
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


# A transfer used twice, or for several words


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


# A wide word, whose mask is longer than a pad


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
    x, y = secret_factor(width), random_for(36).words(*secret_factor(width).shape) & mask(width - 128)
    view = WideView(lambda me, x, y: multiply(me, x, y, width), (x, x), (y, y), width)
    return [view.if_begins(128 * x.shape[1] + i, 0) >> 128 for i in range(x.shape[1])]


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


# Opening a randomly scaled difference


Compare = Callable[[Party, Words], Any]


def opens_scaled(run: int) -> Compare:
    """The trap: the sign of a shared difference, by opening it times a random positive factor known to both."""
    factor = random_for(run).words(16) & mask(10) | np.uint64(1)
    return lambda me, share: me.channel.swap("opened", share * factor)


def ours_compares(run: int) -> Compare:
    return lambda me, share: negative(me, share, WIDTH)


def seen_while_comparing(compare: Callable[[int], Compare], size: int, runs: int) -> Bits:
    """All that both parties hear while a difference of this size is compared, run by run.

    A's shares are zero, a case as good as any other and the easiest for A.
    """
    views = []
    for run in range(runs):
        pair = TappedPair(4000 + 2 * (size + run), 4001 + 2 * (size + run))
        pair.run(compare(size + run), (np.zeros(16, np.uint64),), (np.full(16, size, np.uint64),))
        views.append(np.concatenate([bits_heard(pair.talk.first.heard), bits_heard(pair.talk.second.heard)]))
    return np.stack(views)


def test_opened_scaled_difference_shows_its_size_and_nothing_of_ours_does() -> None:
    opened = [seen_while_comparing(opens_scaled, size, 16) for size in (1, 1 << 20)]
    assert difference(*opened) > 15
    compared = [seen_while_comparing(ours_compares, size, 48) for size in (1, 1 << 20)]
    coins = varying(*compared)
    assert abs(difference(compared[0][:, coins], compared[1][:, coins])) < 8


# Labels


def label_messages(blinding: Callable[[int], Randomness], runs: int = 64) -> Bytes:
    """What a mixer sends for the same share of a label, run after run."""
    share = np.full(8, 0b101, np.uint64)
    return np.stack([label.blinded(share, 3, blinding(run)) for run in range(runs)])


class NoPad(Randomness):
    def words(self, *shape: int) -> Words:
        return np.zeros(shape, np.uint64)


def test_unblinded_label_shows_the_mixers_share_and_a_blinded_one_does_not() -> None:
    broken = label_messages(lambda run: NoPad(seed(run)))
    assert (broken == 0b101).all()
    blinded = label_messages(random_for)
    counts = np.bincount(blinded.reshape(-1), minlength=8)
    assert counts.sum() == 512
    assert counts.min() > 32  # 64 expected
    assert counts.max() < 96


def test_two_labels_never_share_a_pad() -> None:
    """Else the hospital would see where the mixer's shares differ."""
    blinding = random_for(36)
    share = np.zeros(1000, np.uint64)
    first, second = (label.blinded(share, 63, blinding).view(np.uint8) for _ in range(2))
    assert not np.array_equal(first, second)
    words = unpack_words(first, 1000, 63, "", ""), unpack_words(second, 1000, 63, "", "")
    assert len(np.unique(np.concatenate(words))) == 2000


def test_each_winner_is_shared_under_fresh_masks() -> None:
    """Both raw shares of a label together show one bit of it; each alone, over runs, is uniform in every bit."""
    scores = np.zeros((3, 16), np.uint64)
    shares = []
    for run in range(64):
        pair = TappedPair(5000 + 2 * run, 5001 + 2 * run)
        hot, _ = pair.run(lambda me: argmax.winners(me, scores, WIDTH), (), ())
        shares.append(hot)
    ones = ((np.stack(shares)[..., None] >> np.arange(3, dtype=np.uint64)) & np.uint64(1)).sum(axis=(0, 1))
    assert (abs(ones.astype(int) - 512) < 128).all()  # 16 is one standard deviation


# A receiver of transfers that lies about its choices


def dealt_base(number: int) -> tuple[BaseSent, BaseReceived]:
    """Base transfers without the group: only what is built on them is attacked here."""
    random = random_for(number)
    keys, choices = random.words(2, COUNT, 2), random.bits(COUNT)
    return BaseSent(keys), BaseReceived(choices, keys[choices, np.arange(COUNT)].copy())


class Liar(ReceiverExtension):
    """In the transfers where bit j of `lies[group]` is set, that group of columns gets the other choice.

    `guess` is what it believes of Δ in those groups when it answers the check.
    """

    def __init__(self, base: BaseSent, channel: Channel, random: Randomness, lies: Words, guess: Bits | None) -> None:
        super().__init__(base, channel, random, checked=guess is not None)
        self.fresh = copy.copy(self._hash)
        self.lies, self.guess = lies, guess

    def start(self, count: int) -> Begun:
        begun = super().start(count)
        self.t = begun.columns.copy()
        corrections = begun.corrections.view(np.uint64).reshape(GROUPS, -1) ^ self.lies
        return replace(begun, corrections=corrections.reshape(-1).view(np.uint8))

    def _answer(self, channel: Channel, t: Words, packed: Words) -> None:
        assert self.guess is not None
        super()._answer(channel, t ^ self._difference(self.guess), packed)

    def _difference(self, delta: Bits) -> Words:
        """By how much the sender's columns differ from honest ones if its Δ is this one."""
        return np.repeat(self.lies, GROUP, axis=0) * delta[:, None].astype(np.uint64)

    def candidate(self, delta: Bits, count: int) -> Words:
        """The pads of its choices if the sender's Δ is this one."""
        pads = np.empty((count + 1, 2), np.uint64)
        hashing, self._hash = self._hash, copy.copy(self.fresh)
        self._hash_block((self.t ^ self._difference(delta))[:, : count // 64], pads)
        self._hash = hashing
        return pads[:-1]


def one_lie_each(words: int) -> Words:
    """128 transfers, or twice as many where there is a check; in transfer g of the first 64, group g lies."""
    lies = np.zeros((GROUPS, words), np.uint64)
    lies[:, 0] = np.uint64(1) << np.arange(GROUPS, dtype=np.uint64)
    return lies


def extend(number: int, lies: Words, guess: Bits | None = None) -> tuple[SenderExtension, Liar, Words, Bits, Words]:
    """128 transfers with a liar, checked if it has a guess: both ends, the sender's pads, its choices and pads."""
    sent, received = dealt_base(number)
    ends = Ends("mixer a", "party va")
    pads = np.empty((2, COUNT + 1, 2), np.uint64)
    choices, mine = np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64)

    def sender() -> SenderExtension:
        extension = SenderExtension(received, ends.first, random_for(number + 1), checked=guess is not None)
        extension.make(ends.first, COUNT, pads)
        return extension

    def liar() -> Liar:
        extension = Liar(sent, ends.second, random_for(number + 2), lies, guess)
        extension.make(ends.second, COUNT, choices, mine)
        return extension

    extension, lying = converse([ends], sender, liar)
    return extension, lying, pads[:, :-1], choices, mine[:-1]


def extracted(liar: Liar, pads: Words, choices: Bits) -> Bits:
    """Δ, from which of four pads a later message shows to have been used in each group's transfer."""
    delta = np.full((GROUPS, GROUP), 2, np.uint8)
    shown = pads[choices, np.arange(COUNT)]
    for guess in range(1 << GROUP):
        bits = (guess >> np.arange(GROUP) & 1).astype(np.uint8)
        hit = (liar.candidate(np.tile(bits, GROUPS), COUNT) == shown).all(axis=1)
        # Column i of the first word is transfer 2·i of a block of two words.
        delta[hit[0 : 2 * GROUPS : 2]] = bits
    return delta.reshape(-1)


def nothing_guessed() -> Bits:
    return np.zeros(COUNT, np.uint8)


def test_liar_extracts_all_of_delta_from_64_unchecked_transfers() -> None:
    sender, liar, pads, choices, _ = extend(400, one_lie_each(2))
    delta = extracted(liar, pads, choices)
    assert np.array_equal(delta, sender._delta_bits)


def test_whoever_knows_delta_reads_every_table() -> None:
    """The stake of the check: with Δ the hospital opens the entries that it did not choose."""
    sender, liar, pads, choices, _ = extend(400, one_lie_each(2))
    delta = np.packbits(extracted(liar, pads, choices), bitorder="little").view(np.uint64)
    rows = np.empty((COUNT, 2), np.uint64)
    liar._transposer.block((liar.t ^ liar._difference(sender._delta_bits))[:, :2], rows)
    rows[:, 0] ^= np.arange(COUNT, dtype=np.uint64)
    other = FixedKeyHash(liar.fresh._key)(np.ascontiguousarray(rows ^ delta))
    assert np.array_equal(other, pads[1 - choices, np.arange(COUNT)])


def test_the_same_liar_is_caught_by_the_check() -> None:
    with pytest.raises(CheatingReceiver) as caught:
        extend(400, one_lie_each(4), nothing_guessed())
    assert (caught.value.peer, caught.value.code) == ("party va", "E204")


def test_an_honest_receiver_passes_the_check() -> None:
    _, _, pads, choices, mine = extend(400, np.zeros((GROUPS, 4), np.uint64), nothing_guessed())
    assert np.array_equal(mine, pads[choices, np.arange(COUNT)])


@pytest.mark.parametrize(("groups", "least", "most"), [(1, 30, 70), (2, 4, 24), (4, 0, 4)])
def test_liar_passes_only_if_it_guessed_delta_right(groups: int, least: int, most: int) -> None:
    """Each group at stake holds two bits of Δ: of 200 sessions it survives about 50, 12, 1."""
    lies = np.zeros((GROUPS, 4), np.uint64)
    lies[:groups, 0] = 1
    passed = 0
    for session in range(200):
        guess = np.zeros(COUNT, np.uint8)
        guess[: GROUP * groups] = random_for(session).bits(GROUP * groups)
        delta = 1 - dealt_base(10_000 + 10 * session)[1].choices
        right = np.array_equal(guess[: GROUP * groups], delta[: GROUP * groups])
        assert survives(10_000 + 10 * session, lies, guess) == right
        passed += right
    assert least <= passed <= most


def survives(number: int, lies: Words, guess: Bits) -> bool:
    try:
        extend(number, lies, guess)
    except CheatingReceiver:
        return False
    return True


def test_lie_in_the_spare_transfers_of_the_check_is_caught_too() -> None:
    lies = np.zeros((GROUPS, 4), np.uint64)
    lies[:, 3] = 1 << 63
    assert not survives(400, lies, nothing_guessed())


class FalseTrees(Channel):
    """The trees of a receiver that disturbs one level's sum: the wrong seed arrives only at some senders."""

    side, group = 0, 0

    def send(self, step: str, payload: Any) -> None:
        if step == "OT extension: trees":
            payload = np.frombuffer(bytes(payload), np.uint8).copy()
            payload.view(np.uint64).reshape(GROUP - 1, 2, GROUPS, 2)[0, self.side, self.group] ^= np.uint64(1)
        super().send(step, payload)


@pytest.mark.parametrize("side", [0, 1])
def test_false_tree_is_one_guess_of_one_bit_and_caught_if_wrong(side: int) -> None:
    outcomes = [
        (false_tree_passes(session, side), bool(choice_in_second_level(session) != side)) for session in range(60)
    ]
    assert [passed for passed, _ in outcomes] == [harmless for _, harmless in outcomes]
    assert 15 < sum(passed for passed, _ in outcomes) < 45


def choice_in_second_level(session: int) -> int:
    return int(dealt_base(20_000 + 10 * session)[1].choices[GROUP * 5 + 1])


def false_tree_passes(session: int, side: int) -> bool:
    number = 20_000 + 10 * session
    sent, received = dealt_base(number)
    ends = Ends("mixer a", "party va")
    false = FalseTrees("mixer a", ends.wires[1])
    false.side, false.group = side, 5

    def sender() -> bool:
        extension = SenderExtension(received, ends.first, random_for(number + 1), checked=True)
        try:
            extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))
        except CheatingReceiver:
            return False
        return True

    def receiver() -> None:
        extension = ReceiverExtension(sent, false, random_for(number + 2), checked=True)
        extension.make(false, COUNT, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    passes, _ = converse([ends], sender, receiver)
    return bool(passes)


def test_challenge_comes_only_after_the_corrections() -> None:
    """Whoever knew it before could choose lies that cancel."""
    sent, received = dealt_base(500)
    ends = TappedEnds("mixer a", "party va")

    def sender() -> None:
        extension = SenderExtension(received, ends.first, random_for(501), checked=True)
        extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))
        assert [step for step, _ in ends.first.heard][-2:] == ["OT extension: corrections", "OT extension: check"]
        assert [step for step, _ in ends.first.said] == ["OT extension: hash key", "OT extension: challenge"]

    def receiver() -> None:
        extension = ReceiverExtension(sent, ends.second, random_for(502), checked=True)
        begun = extension.start(COUNT)
        assert [step for step, _ in ends.second.heard] == ["OT extension: hash key"]
        ends.second.send("OT extension: corrections", begun.corrections)
        extension.finish(ends.second, begun, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    converse([ends], sender, receiver)


def test_each_check_has_a_challenge_of_its_own() -> None:
    sent, received = dealt_base(600)
    ends = TappedEnds("mixer a", "party va")

    def sender() -> None:
        extension = SenderExtension(received, ends.first, random_for(601), checked=True)
        for _ in range(4):
            extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))

    def receiver() -> None:
        extension = ReceiverExtension(sent, ends.second, random_for(602), checked=True)
        for _ in range(4):
            extension.make(ends.second, COUNT, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    converse([ends], sender, receiver)
    challenges = [raw.tobytes() for step, raw in ends.first.said if step == "OT extension: challenge"]
    assert len(set(challenges)) == len(challenges) == 4


def test_proof_shows_a_hash_of_the_choices_that_is_itself_uniform() -> None:
    """It would show 128 bits about the choices, but for as many choices more than are used."""
    hashes = np.stack([hash_of_choices(session) for session in range(64)])
    ones = np.unpackbits(hashes, axis=1).sum(axis=0)
    assert ones.min() > 8
    assert ones.max() < 56


def hash_of_choices(session: int) -> Bytes:
    """By a receiver whose used choices are zero: only the spare ones differ from session to session."""
    sent, received = dealt_base(600)
    ends = TappedEnds("mixer a", "party va")

    def sender() -> None:
        extension = SenderExtension(received, ends.first, random_for(601), checked=True)
        extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))

    def receiver() -> None:
        extension = ReceiverExtension(sent, ends.second, ZeroThenSpare(session), checked=True)
        extension.make(ends.second, COUNT, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    converse([ends], sender, receiver)
    return ends.first.heard[-1][1][-16:]


class ZeroThenSpare(Randomness):
    def __init__(self, session: int) -> None:
        super().__init__(seed(session))

    def words(self, *shape: int) -> Words:
        words = super().words(*shape)
        words[: COUNT // 64] = 0
        return words
