"""Coins that two parties toss: what honest parties get, what liars get, and what comes of a draw that breaks off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, chi2

from mixbayes.privacy import checking
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.bayes import tossing
from mixbayes.protocol.bayes.tossing import COINS, HALF, OPENED, Draw, Notes, Order, Turn, toss, toss_in_clear
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.circuits.products import cross, weighted
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import CheatingToss, OutOfRange, PeerError, PeerGone, PeerSilent
from mixbayes.protocol.packing import pack_bits
from mixbayes.protocol.randomness import Randomness
from tests.protocol.cheats import all_of_them, another_choice, cancelling, lying
from tests.protocol.pairs import SEEDS, Pair, both, converse, forget_pair, random_for, seed, shared_pair

FEW = Coins((4, 2, 3))
WORD = 64
roles = pytest.mark.parametrize("cheat", [A, B], ids=["A lies", "B lies"])


def tossed(
    me: ComputingParty, numbers: int = 3, first_seed: int = 1, notes: Notes | None = None, turn: Turn | None = None
) -> Words:
    own = random_for(first_seed + me.role)
    return toss(me, FEW, numbers, own, Draw(b"", {} if notes is None else notes, turn or nullcontext()))


# What honest parties get


@given(
    number=SEEDS, numbers=st.integers(1, 40), lowest=st.integers(1, 5), others=st.lists(st.integers(0, 6), max_size=4)
)
@settings(max_examples=20)
def test_shares_add_up_to_the_same_coins_in_the_clear(
    number: int, numbers: int, lowest: int, others: list[int]
) -> None:
    coins = Coins((2 * lowest, *others))
    of_a, of_b = both(lambda me: toss(me, coins, numbers, random_for(number + me.role), Draw(b"")), ())
    clear = toss_in_clear(coins, numbers, random_for(number), random_for(number + 1))
    assert (of_a + of_b).tolist() == clear.tolist()
    assert clear.max() <= 2 * coins.bound


@pytest.mark.parametrize("numbers", [1, 50])
def test_at_least_half_of_the_coins_are_opened_and_none_of_them_is_dealt(numbers: int) -> None:
    order = tossing._ordered(seed(1), seed(2), checking.tosses(FEW, numbers))
    dealt, opened = np.split(order, [FEW.each * numbers])
    assert sorted(order.tolist()) == list(range(order.size))
    assert opened.size >= dealt.size


def test_every_party_changes_the_order_alone() -> None:
    orders = [tossing._ordered(seed(a), seed(b), 500).tolist() for a, b in [(1, 2), (1, 3), (4, 2), (2, 1)]]
    assert len({tuple(order) for order in orders}) == 4


def test_whatever_coins_somebody_aims_at_fall_into_every_number_and_every_weight_alike() -> None:
    numbers, all_coins = 20, checking.tosses(FEW, 20)
    aimed_at = np.arange(8)
    slots = np.concatenate(
        [
            np.flatnonzero(np.isin(tossing._ordered(seed(number), seed(0), all_coins), aimed_at))
            for number in range(3000)
        ]
    )
    dealt = slots[slots < FEW.each * numbers]
    assert 1e-9 < binom.cdf(dealt.size, slots.size, FEW.each * numbers / all_coins) < 1 - 1e-9
    for places, kinds in ((dealt % numbers, numbers), (dealt // numbers, FEW.each)):
        seen = np.bincount(places, minlength=kinds)
        expected = dealt.size / kinds
        assert chi2.sf(((seen - expected) ** 2 / expected).sum(), kinds - 1) > 1e-9


# What liars get


def caught(step: Callable[[ComputingParty], Any], kind: type[PeerError] = CheatingToss) -> list[str | None]:
    """Whom A names, and whom B names. Who names somebody hangs up."""
    pair = shared_pair()

    def watched(me: ComputingParty) -> str | None:
        try:
            step(me)
        except kind as error:
            pair.talk.cut()
            return error.peer
        except PeerGone:
            pass
        return None

    named = list(pair.run(watched))
    forget_pair()
    return named


@roles
def test_who_sends_its_coins_without_the_others_bits_knew_half_of_the_noise(cheat: int) -> None:
    """The construction of before, in which coins had weights and were not checked: its sums, less what A sent."""
    numbers, weights = 2000, FEW.weights[::2] + FEW.weights[1::2]

    def party(me: ComputingParty) -> tuple[Bits, Words]:
        bits = random_for(1 + me.role).bits(len(weights), numbers)
        if me.role != cheat:
            return bits, weighted(me, bits, weights, WORD)
        _, asks = me.halves(bits.reshape(-1))
        each = np.repeat(np.array(weights, np.uint64), numbers)
        factors = me.halves(each)[0] * np.uint64(2**WORD - 1)
        as_sender, as_receiver = cross(me, asks, factors[None], WORD)
        products = me.whole(as_sender, as_receiver, bits.size).reshape(bits.shape)
        return bits, bits * np.array(weights, np.uint64)[:, None] + products

    results = both(party, ())
    sums = (results[A][1] + results[B][1]).sum(axis=0, dtype=np.uint64).astype(np.float64)
    own = results[cheat][0].reshape(-1).astype(np.float64) * np.repeat(weights, numbers)
    sent = np.arange(own.size) < own.size // 2 if cheat == A else np.arange(own.size) >= own.size // 2
    known = (own * sent).reshape(len(weights), numbers).sum(axis=0)
    assert (sums - known).std() < 0.8 * FEW.deviation
    assert sums.std() > 0.95 * FEW.deviation


@roles
def test_who_sends_its_coins_without_the_others_bits_is_named(cheat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with lying(cheat, cancelling(all_of_them), monkeypatch):
        named = caught(tossed)
    assert named[1 - cheat] == ("party A", "party B")[cheat]


@roles
def test_who_chooses_by_other_bits_is_named(cheat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with lying(cheat, another_choice, monkeypatch):
        named = caught(tossed)
    assert named[1 - cheat] == ("party A", "party B")[cheat]


@pytest.mark.parametrize("bad", [1, 2, 5])
def test_a_liar_in_few_coins_escapes_as_seldom_as_the_bound_says(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws with all messages; whoever is not caught has been lucky with every opened coin, or had none opened."""
    draws, numbers = 600, 14
    dealt = FEW.each * numbers / checking.tosses(FEW, numbers)
    chance = ((1 + dealt) / 2) ** bad

    def escapes(me: ComputingParty) -> int:
        free = 0
        for draw in range(draws):
            try:
                tossed(me, numbers, 10 + 2 * draw)
                free += 1
            except CheatingToss:
                pass
        return free

    with lying(A, cancelling(lambda count: np.arange(bad)), monkeypatch):
        _, seen = both(escapes, ())
    assert binom.sf(seen - 1, draws, chance) > 1e-9
    assert binom.cdf(seen, draws, chance) > 1e-9


class Rushing:
    """The liar's end of a channel: at one step it hears the other party before it says what it likes."""

    def __init__(self, channel: Channel, step: str, say: Callable[[Buffer, bytes], bytes]) -> None:
        self._channel, self._at, self._say = channel, step, say

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def swap(self, step: str, payload: Any, size: int | None = None) -> Any:
        if step != self._at:
            return self._channel.swap(step, payload, size)
        theirs = self._channel.receive(step, len(bytes(payload)))
        self._channel.send(step, self._say(payload, theirs.tobytes()))
        return theirs


def rushing(me: ComputingParty, cheat: int, step: str, say: Callable[[Buffer, bytes], bytes]) -> ComputingParty:
    return replace(me, channel=cast(Channel, Rushing(me.channel, step, say))) if me.role == cheat else me


@roles
@pytest.mark.parametrize("step", ["order of the coins", "opened coins"])
def test_who_says_something_else_once_it_has_heard_the_other_is_named(cheat: int, step: str) -> None:
    def other(mine: Buffer, theirs: bytes) -> bytes:
        return bytes(a ^ b for a, b in zip(bytes(mine), theirs, strict=True))

    named = caught(lambda me: tossed(rushing(me, cheat, step, other)))
    assert named[1 - cheat] == ("party A", "party B")[cheat]


def opened_of(numbers: int) -> NDArray[np.int64]:
    """The coins that are opened if both draw by the usual seeds."""
    count, own = checking.tosses(FEW, numbers), (random_for(1), random_for(2))
    for one in own:
        one.bits(count)
    return tossing._ordered(own[A].bytes(32), own[B].bytes(32), count)[FEW.each * numbers :]


@roles
def test_who_fits_its_bits_to_what_the_other_has_shown_is_named(cheat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled coin shows the liar's bit. It would pass with that bit less the other's."""
    opened, count = opened_of(3), checking.tosses(FEW, 3)
    sent = opened < count // 2 if cheat == A else opened >= count // 2

    def fitting(mine: Buffer, theirs: bytes) -> bytes:
        bits, others = (np.unpackbits(np.frombuffer(bytes(one), np.uint8), count=opened.size) for one in (mine, theirs))
        return pack_bits(bits ^ others & sent).tobytes()

    with lying(cheat, cancelling(all_of_them), monkeypatch):
        named = caught(lambda me: tossed(rushing(me, cheat, "opened coins", fitting)))
    assert named[1 - cheat] == ("party A", "party B")[cheat]


def test_the_others_commitment_is_not_ones_own() -> None:
    steps = []

    def told(me: ComputingParty) -> None:
        liar = rushing(rushing(me, B, HALF, lambda mine, theirs: theirs), B, "order of the coins", lambda _, half: half)
        try:
            tossed(liar)
        except CheatingToss as error:
            steps.append((me.role, error.step))
            raise

    assert caught(told)[A] == "party B"
    assert (A, "order of the coins") in steps


# What comes of a draw that breaks off


class PowerCut(Exception):
    """The machine stops here."""


class Paper(dict[str, bytes]):
    """Notes that survive, and a machine that stops before or after one of them is written."""

    def __init__(self, at: str = "", *, after: bool = False) -> None:
        super().__init__()
        self.at, self.after = at, after

    def __setitem__(self, name: str, value: bytes) -> None:
        stops, self.at = name == self.at, "" if name == self.at else self.at
        if stops and not self.after:
            raise PowerCut
        super().__setitem__(name, value)
        if stops:
            raise PowerCut


def again_until_done(of_a: Paper, of_b: Paper) -> list[Words]:
    papers = of_a, of_b
    for _ in range(4):
        try:
            return list(both(lambda me: tossed(me, notes=papers[me.role]), ()))
        except (PowerCut, PeerGone):
            continue
    raise AssertionError("the draw never came to an end")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("of_a", ["", COINS, HALF, OPENED])
@pytest.mark.parametrize("of_b", ["", COINS, HALF, OPENED])
def test_killed_at_any_write_the_draw_goes_on_to_the_same_noise(of_a: str, of_b: str, after: bool) -> None:
    done = again_until_done(Paper(of_a, after=after), Paper(of_b, after=after))
    clear = toss_in_clear(FEW, 3, random_for(1), random_for(2))
    assert sum(done).tolist() == clear.tolist()  # type: ignore[union-attr]


def test_a_draw_that_was_finished_gives_the_same_noise_and_tosses_nothing() -> None:
    papers: tuple[Paper, Paper] = Paper(), Paper()
    first = again_until_done(*papers)

    def repeated(me: ComputingParty) -> tuple[Words, int]:
        before = me.pool.left
        return tossed(me, notes=papers[me.role]), before - me.pool.left

    (of_a, used), (of_b, _) = both(repeated, ())
    assert [of_a.tolist(), of_b.tolist()] == [share.tolist() for share in first]
    assert used == 0


@roles
def test_who_hangs_up_after_it_has_seen_the_order_finds_the_same_order_again(
    cheat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[Order] = []

    def noted(*halves: Any) -> Any:
        orders.append(found := ordered(*halves))
        return found

    ordered = tossing._ordered
    monkeypatch.setattr(tossing, "_ordered", noted)
    papers = [Paper(), Paper()]
    papers[cheat] = Paper(OPENED)
    again_until_done(*papers)
    assert len(orders) == 4
    assert all(np.array_equal(order, orders[0]) for order in orders)


@roles
@pytest.mark.parametrize("forgotten", [[COINS], [COINS, HALF, OPENED]])
def test_who_wants_new_coins_after_it_has_committed_itself_is_named(cheat: int, forgotten: list[str]) -> None:
    papers = Paper(), Paper()
    again_until_done(*papers)
    for name in forgotten:
        del papers[cheat][name]
    named = caught(lambda me: tossed(me, notes=papers[me.role]), OutOfRange)
    assert named[1 - cheat] == ("party A", "party B")[cheat]


@roles
def test_before_anybody_is_committed_coins_are_tossed_anew(cheat: int) -> None:
    papers = Paper(), Paper()
    papers[cheat][COINS] = b"\1" * (32 + 8 * checking.tosses(FEW, 3))
    done = again_until_done(*papers)
    assert sum(done).tolist() == toss_in_clear(FEW, 3, random_for(1), random_for(2)).tolist()  # type: ignore[union-attr]
    assert papers[A][COINS][:32] == papers[B][COINS][:32]


class AnotherHalf(Randomness):
    """The same bits, and another half of the order."""

    def bytes(self, count: int) -> bytes:
        return bytes(count)


@roles
def test_who_chooses_another_order_in_a_repeated_draw_is_named(cheat: int) -> None:
    papers = Paper(), Paper()
    again_until_done(*papers)

    def repeated(me: ComputingParty) -> Words:
        own = AnotherHalf(seed(1 + me.role)) if me.role == cheat else random_for(1 + me.role)
        return toss(me, FEW, 3, own, Draw(b"", papers[me.role]))

    assert caught(repeated)[1 - cheat] == ("party A", "party B")[cheat]


@roles
def test_a_liar_that_was_caught_is_caught_again_with_the_share_that_would_have_passed(cheat: int) -> None:
    """What it claims of the opened coins is in writing before it hears the other's bits."""
    papers = Paper(), Paper()
    again_until_done(*papers)
    del papers[1 - cheat][OPENED], papers[cheat][OPENED]
    right = papers[cheat][COINS]
    for told in (right[:32] + bytes(len(right) - 32), right):
        papers[cheat][COINS] = told
        named = caught(lambda me: tossed(me, notes=papers[me.role]))
        assert named[1 - cheat] == ("party A", "party B")[cheat]


@pytest.mark.parametrize(("written", "shown"), [(HALF, "order of the coins"), (OPENED, "opened coins")])
def test_nothing_is_shown_before_the_others_commitment_is_in_writing(
    written: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, str]] = []
    start = Channel.start_swap

    def noted(channel: Channel, step: str, *message: Any) -> Any:
        said.append((channel.peer, step))
        return start(channel, step, *message)

    monkeypatch.setattr(Channel, "start_swap", noted)
    papers = Paper(written), Paper()
    with pytest.raises(PowerCut):
        both(lambda me: tossed(me, notes=papers[me.role]), ())
    assert ("party B", written) in said
    assert ("party B", shown) not in said


def test_no_bit_of_a_coin_that_is_dealt_is_shown() -> None:
    shown: list[bytes] = []

    def heard(mine: Buffer, theirs: bytes) -> bytes:
        shown.append(theirs)
        return bytes(mine)

    both(lambda me: tossed(rushing(me, A, "opened coins", heard)), ())
    forget_pair()
    bits_of_b = random_for(2).bits(checking.tosses(FEW, 3))
    assert shown == [pack_bits(bits_of_b[opened_of(3)]).tobytes()]


# Two draws at once


def test_draws_at_once_come_to_the_same_noise_and_name_nobody() -> None:
    """As when two hospitals ask for the joint test at the same time."""
    pairs, papers, turns = (Pair(1), Pair(2)), (Paper(), Paper()), (threading.Lock(), threading.Lock())

    def party(me: ComputingParty) -> Words:
        return tossed(me, notes=papers[me.role], turn=turns[me.role])

    ends = [end for pair in pairs for end in (pair.talk, pair.ahead)]
    found = converse(ends, *(lambda me=me: party(me) for pair in pairs for me in (pair.a, pair.b)))
    clear = toss_in_clear(FEW, 3, random_for(1), random_for(2))
    assert [(found[0] + found[1]).tolist(), (found[2] + found[3]).tolist()] == [clear.tolist()] * 2


@roles
def test_while_coins_are_tossed_in_one_conversation_no_order_is_heard_in_another(cheat: int) -> None:
    """Whoever heard it would toss by it, and know every coin that it has sent and that is dealt."""
    one, two, notes, turn, begun = Pair(1, deadline=0.5), Pair(2), Paper(), threading.Lock(), threading.Event()

    def honest(pair: Pair) -> None:
        if pair is one:
            begun.wait()
        with pytest.raises(PeerGone):
            tossed((pair.b, pair.a)[cheat], notes=notes, turn=turn)

    def liar() -> None:
        channel = (two.a, two.b)[cheat].channel
        channel.send("draw of noise", bytes(48))
        channel.receive("draw of noise", 48)
        begun.set()
        try:
            with pytest.raises(PeerSilent):  # it would stop once it has heard the order
                tossed((one.a, one.b)[cheat], notes=Paper(OPENED, after=False))
        finally:
            for end in ends:
                end.cut()

    ends = [one.talk, one.ahead, two.talk, two.ahead]
    converse(ends, lambda: honest(one), lambda: honest(two), liar)
