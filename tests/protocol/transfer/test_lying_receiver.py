"""A receiver of transfers that lies about its choices: without the check it learns Δ, with it it is caught."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Bytes, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import CheatingReceiver
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer import pool
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent
from mixbayes.protocol.transfer.extension import (
    CHECK,
    CORRECTIONS,
    HASH_KEY,
    PAIRS,
    TREES,
    Challenges,
    Grouping,
    ReceiverExtension,
    SenderExtension,
    StartedStretch,
)
from tests.protocol.adversary import TappedEnds
from tests.protocol.pairs import Ends, Pair, converse, random_for, seed

GROUP, GROUPS = PAIRS.size, PAIRS.count


def dealt_base(number: int) -> tuple[BaseSent, BaseReceived]:
    """Base transfers without the group: only what is built on them is attacked here."""
    random = random_for(number)
    keys, choices = random.words(2, COUNT, 2), random.bits(COUNT)
    return BaseSent(keys), BaseReceived(choices, keys[choices, np.arange(COUNT)].copy())


class Liar(ReceiverExtension):
    """In the transfers where bit j of `lies[group]` is set, that group of columns gets the other choice.

    `guess` is what it believes of Δ in those groups when it makes the proof.
    """

    def __init__(self, base: BaseSent, channel: Channel, random: Randomness, lies: Words, guess: Bits) -> None:
        super().__init__(base, channel, random)
        self.fresh = copy.copy(self._hash)
        self.lies, self.guess = lies, guess

    def start(self, count: int) -> StartedStretch:
        known = copy.copy(self._challenges)
        started = super().start(count)
        self.t = started.columns.copy()
        false = (started.corrections.view(np.uint64).reshape(GROUPS, -1) ^ self.lies).reshape(-1).view(np.uint8)
        self._challenges = known
        proof = self._proof(known.next(false), self.t ^ self._difference(self.guess), started.choices)
        return replace(started, corrections=false, proof=proof)

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


def one_lie_each() -> Words:
    """Of 128 transfers and the spare ones: in transfer g of the first 64, group g lies."""
    lies = np.zeros((GROUPS, 4), np.uint64)
    lies[:, 0] = np.uint64(1) << np.arange(GROUPS, dtype=np.uint64)
    return lies


class Trusting(SenderExtension):
    """A sender that leaves out the check."""

    def _verify(self, peer: str, key: bytes, q: Words, proof: Bytes) -> None:
        pass


def extend(
    number: int, lies: Words, guess: Bits, kind: type[SenderExtension] = SenderExtension
) -> tuple[SenderExtension, Liar, Words, Bits, Words]:
    """128 transfers with a liar: both ends, the sender's pads, the liar's choices and pads."""
    sent, received = dealt_base(number)
    ends = Ends("mixer a", "party va")
    pads = np.empty((2, COUNT + 1, 2), np.uint64)
    choices, mine = np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64)

    def sender() -> SenderExtension:
        extension = kind(received, ends.first, random_for(number + 1))
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
    sender, liar, pads, choices, _ = extend(400, one_lie_each(), nothing_guessed(), Trusting)
    delta = extracted(liar, pads, choices)
    assert np.array_equal(delta, sender._delta_bits)


def test_whoever_knows_delta_reads_every_table() -> None:
    """The stake of the check: with Δ the hospital opens the entries that it did not choose."""
    sender, liar, pads, choices, _ = extend(400, one_lie_each(), nothing_guessed(), Trusting)
    delta = np.packbits(extracted(liar, pads, choices), bitorder="little").view(np.uint64)
    rows, other = np.empty((COUNT + 1, 2), np.uint64), np.empty((COUNT + 1, 2), np.uint64)
    liar._transposer.block((liar.t ^ liar._difference(sender._delta_bits))[:, :2], rows[:-1])
    copy.copy(liar.fresh).absorb([(rows ^ delta, other)])
    assert np.array_equal(other[:-1], pads[1 - choices, np.arange(COUNT)])


def test_the_same_liar_is_caught_by_the_check() -> None:
    with pytest.raises(CheatingReceiver) as caught:
        extend(400, one_lie_each(), nothing_guessed())
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
    key = trees = b""

    def receive(self, step: str, size: int) -> Bytes:
        message = super().receive(step, size)
        self.key = message.tobytes()
        return message

    def send(self, step: str, payload: Any) -> None:
        if step == TREES:
            payload = np.frombuffer(bytes(payload), np.uint8).copy()
            payload.view(np.uint64).reshape(GROUP - 1, 2, GROUPS, 2)[0, self.side, self.group] ^= np.uint64(1)
            self.trees = payload.tobytes()
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
        extension = SenderExtension(received, ends.first, random_for(number + 1))
        try:
            extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))
        except CheatingReceiver:
            return False
        return True

    def receiver() -> None:
        extension = ReceiverExtension(sent, false, random_for(number + 2))
        extension._challenges = Challenges(false.key, np.frombuffer(false.trees, np.uint8))
        extension.make(false, COUNT, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    passes, _ = converse([ends], sender, receiver)
    return bool(passes)


def test_key_of_the_check_depends_on_all_that_the_receiver_has_sent() -> None:
    """Else it could choose lies that cancel under a key that it knows."""
    trees, corrections = np.arange(4, dtype=np.uint8), np.arange(64, dtype=np.uint8)

    def keys(key: bytes, trees: Bytes, *stretches: Bytes) -> list[bytes]:
        challenges = Challenges(key, trees)
        return [challenges.next(stretch) for stretch in stretches]

    usual = keys(bytes(16), trees, corrections, corrections)
    assert len(set(usual)) == 2
    for at in range(64):
        changed = corrections.copy()
        changed[at] ^= 1
        assert keys(bytes(16), trees, changed)[0] != usual[0]
        assert keys(bytes(16), trees, changed, corrections)[1] != usual[1]
    assert keys(bytes(16), trees[::-1].copy(), corrections)[0] != usual[0]
    assert keys(bytes([1] + 15 * [0]), trees, corrections)[0] != usual[0]


def test_both_ends_check_under_the_same_keys_and_neither_waits_for_an_answer() -> None:
    sent, received = dealt_base(500)
    ends = TappedEnds("mixer a", "party va")
    keys: dict[str, list[bytes]] = {"sender": [], "receiver": []}

    class Sender(SenderExtension):
        def _verify(self, peer: str, key: bytes, q: Words, proof: Bytes) -> None:
            keys["sender"].append(key)
            super()._verify(peer, key, q, proof)

    class Receiver(ReceiverExtension):
        def _proof(self, key: bytes, t: Words, packed: Words) -> Bytes:
            keys["receiver"].append(key)
            return super()._proof(key, t, packed)

    def sender() -> None:
        extension = Sender(received, ends.first, random_for(501))
        for _ in range(3):
            extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))

    def receiver() -> None:
        extension = Receiver(sent, ends.second, random_for(502))
        for _ in range(3):
            extension.make(ends.second, COUNT, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    converse([ends], sender, receiver)
    assert [step for step, _ in ends.first.said] == [HASH_KEY]
    assert [step for step, _ in ends.first.heard] == [TREES, *3 * [CORRECTIONS, CHECK]]
    assert keys["sender"] == keys["receiver"]
    assert len(set(keys["sender"])) == 3


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
        extension = SenderExtension(received, ends.first, random_for(601))
        extension.make(ends.first, COUNT, np.empty((2, COUNT + 1, 2), np.uint64))

    def receiver() -> None:
        extension = ReceiverExtension(sent, ends.second, ZeroThenSpare(session))
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


class InEveryGroup(ReceiverExtension):
    """It makes the first choice of each stretch otherwise in every group but the first."""

    def start(self, count: int) -> StartedStretch:
        known = copy.copy(self._challenges)
        started = super().start(count)
        false = started.corrections.copy()
        false.view(np.uint64).reshape(GROUPS, -1)[1:, 0] ^= np.uint64(1)
        self._challenges = known
        return replace(
            started, corrections=false, proof=self._proof(known.next(false), started.columns, started.choices)
        )


@pytest.mark.parametrize("liar", ["party A", "party B"])
def test_each_computing_party_checks_the_other(liar: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B's lie shows in the transfers that serve as base transfers of the other direction, A's in the first stretch."""

    def receiver(base: BaseSent, channel: Channel, random: Randomness, grouping: Grouping) -> ReceiverExtension:
        kind = ReceiverExtension if channel.peer == liar else InEveryGroup
        return kind(base, channel, random, grouping)

    monkeypatch.setattr(pool, "ReceiverExtension", receiver)
    with pytest.raises(CheatingReceiver) as caught:
        Pair(1).run(lambda me: me.pool.take(1))
    assert caught.value.peer == liar
