"""A receiver of transfers that lies about its choices: unchecked it learns Δ, checked it is caught."""

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
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent
from mixbayes.protocol.transfer.extension import GROUP, GROUPS, ReceiverExtension, SenderExtension, StartedStretch
from mixbayes.protocol.transfer.pads import FixedKeyHash
from tests.protocol.adversary import TappedEnds
from tests.protocol.pairs import Ends, converse, random_for, seed


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

    def start(self, count: int) -> StartedStretch:
        started = super().start(count)
        self.t = started.columns.copy()
        corrections = started.corrections.view(np.uint64).reshape(GROUPS, -1) ^ self.lies
        return replace(started, corrections=corrections.reshape(-1).view(np.uint8))

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
