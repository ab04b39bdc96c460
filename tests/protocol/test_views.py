"""What a party hears of the steps of the protocol and of a training tells nothing of what it may not know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Bytes, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.training import train
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.circuits import addition, comparison, look_up, normal
from mixbayes.protocol.circuits.addition import to_bits
from mixbayes.protocol.circuits.argmax import all_pairs, tournament
from mixbayes.protocol.circuits.bounded import Cut, times
from mixbayes.protocol.circuits.choice import Slots, choose_slots
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.look_up import one_hot
from mixbayes.protocol.circuits.normal import normalise
from mixbayes.protocol.circuits.products import cross, gate, nested, scale, select
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.extension import Received, Sent
from mixbayes.protocol.transfer.pads import FixedKeyHash
from mixbayes.protocol.transfer.pool import PairPool
from tests.protocol.adversary import (
    LAYOUT,
    PLAIN,
    TappedPair,
    bias,
    bits_heard,
    bound_together,
    counts_of,
    difference,
    varying,
)
from tests.protocol.pairs import random_for
from tests.protocol.views import LIMIT, RUNS, TOP, WIDTH, N, as_bits, bits, dealt, pairs_seen_by, tells_nothing, words


@dataclass(frozen=True)
class Step:
    """A step, its least and its greatest input, and how many bits of padding a party hears."""

    run: Callable[..., Any]
    zeros: tuple[Any, ...]
    ones: tuple[Any, ...]
    padding: int


STEPS = {
    "carry": Step(lambda me, w: carry(me, w, WIDTH), (words(0),), (words(TOP),), 0),
    "gate": Step(lambda me, b, w: gate(me, b, w, 8), (bits(0), bits(0)), (bits(1), bits(255)), 0),
    "nested": Step(
        lambda me, b, w: nested(me, b, w, 2), (bits(0, 3, N), bits(0, 4, N)), (bits(1, 3, N), bits(3, 4, N)), 0
    ),
    "select": Step(
        lambda me, b, w, h: select(me, b, w, WIDTH, h, 8),
        (bits(0), words(0), words(0)),
        (bits(1), words(TOP), words(255)),
        0,
    ),
    "and": Step(lambda me, b, w: gate(me, b, w, 1), (bits(0), bits(0)), (bits(1), bits(1)), 0),
    "cross": Step(lambda me, b, w: cross(me, b, w, WIDTH), (bits(0), words(0)), (bits(1), words(TOP)), 0),
    "wide cross": Step(
        lambda me, b, w: cross(me, b, w, 192), (bits(0), words(0, 3, N)), (bits(1), words(2**64 - 1, 3, N)), 0
    ),
    "scale": Step(lambda me, b, w: scale(me, b, w, WIDTH), (bits(0), words(0)), (bits(1), words(TOP)), 0),
    "times": Step(
        lambda me, w, x: times(me, Cut(WIDTH, w, w.astype(np.uint8) & np.uint8(1)), x, WIDTH + 8),
        (words(0), words(0)),
        (words(TOP), words(TOP)),
        0,
    ),
    "one hot": Step(lambda me, i: one_hot(me, i, 2), (words(0),), (words(63),), -1),
    "to bits": Step(lambda me, w: to_bits(me, w, WIDTH), (words(0),), (words(TOP),), -1),
    "normalise": Step(lambda me, w: normalise(me, w, WIDTH), (words(0),), (words(TOP),), -1),
    "tournament": Step(lambda me, s: tournament(me, s, WIDTH), (words(0, 3, N),), (words(TOP, 3, N),), -1),
    "all pairs": Step(lambda me, s: all_pairs(me, s, WIDTH), (words(0, 3, N),), (words(TOP, 3, N),), -1),
}


class Watched(PairPool):
    """A pool that keeps the last transfers it handed out."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))
        self.taken: list[tuple[Sent, Received]] = []

    def take(self, count: int) -> tuple[Sent, Received]:
        self.taken.append(super().take(count))
        return self.taken[-1]


def heard_by(role: int, step: Step, own: tuple[Any, ...], other: tuple[Any, ...]) -> Bits:
    """The bits heard by the role, run by run."""
    views = []
    for pair in pairs_seen_by(role):
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(step.run, *((own, other) if role == A else (other, own)))
        views.append(bits_heard(tap.heard))
    return np.stack(views)


@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
@pytest.mark.parametrize("name", STEPS)
@dealt
def test_what_a_party_hears_in_a_step_is_uniform_whatever_the_other_holds(name: str, role: int) -> None:
    step = STEPS[name]
    views = [heard_by(role, step, step.zeros, other) for other in (step.zeros, step.ones)]
    tells_nothing(views, step.padding if step.padding >= 0 else None)


@pytest.mark.parametrize("name", ["carry", "gate", "cross", "scale", "times", "one hot"])
@dealt
def test_what_a_party_hears_is_not_bound_to_the_transfers_it_knows(name: str) -> None:
    """Messages, its own pads and choices, together: a mask that the receiver could compute would show here."""
    step, views = STEPS[name], []
    for run in range(RUNS):
        pair = TappedPair(7, 900 + run)
        pair.with_pools(Watched)
        pair.run(step.run, step.zeros, step.ones)
        watched = pair.a.pool
        assert isinstance(watched, Watched)
        known = [array for sent, received in watched.taken for array in (sent.pads, received.pads)]
        flat = np.concatenate([np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in known])
        heard = bits_heard(pair.talk.first.heard)[:2500]
        views.append(np.concatenate([heard, np.unpackbits(flat)[:3500]]))
    together = np.stack(views)
    assert bound_together(together[:, varying(together)], 6000) == 0


@dealt
@pytest.mark.parametrize(
    ("name", "module"),
    [("carry", comparison), ("to bits", addition), ("normalise", normal), ("one hot", look_up)],
    ids=["carry", "to bits", "normalise", "one hot"],
)
def test_entry_that_a_party_chooses_is_under_the_share_of_whoever_offered_it(
    name: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What A unmasks along the way, and no message shows."""
    step, chosen = STEPS[name], []

    def spy(me: ComputingParty, parts: list[Slots]) -> list[Bits]:
        got = choose_slots(me, parts)
        if me.role == A:
            chosen.append(np.unpackbits(np.concatenate(got).reshape(-1)))
        return got

    monkeypatch.setattr(module, "choose_slots", spy)
    for other in (step.zeros, step.ones):
        for pair in pairs_seen_by(A):
            pair.run(step.run, step.zeros, other)
    tells_nothing([np.stack(chosen[:RUNS]), np.stack(chosen[RUNS:])])


class Simulated(Channel):
    """A peer that knows nothing: it says uniform bits, in the places where messages have any."""

    def __init__(self, random: Randomness, coins: list[tuple[str, Bytes]]) -> None:
        self.peer = "nobody"
        self._random = random
        self._coins = iter(coins)
        self.heard: list[tuple[str, Bytes]] = []

    def send(self, step: str, payload: Buffer) -> None:
        """Nobody listens."""

    def receive(self, step: str, size: int) -> Bytes:
        name, places = next(self._coins)
        assert (name, places.size) == (step, size)
        said = np.frombuffer(self._random.bytes(size), np.uint8) & places
        self.heard.append((step, said))
        return said.copy()

    def start_swap(self, step: str, payload: Buffer, size: int | None = None) -> Callable[[], Bytes]:
        sending = payload.nbytes if isinstance(payload, np.ndarray | memoryview) else len(payload)
        return lambda: self.receive(step, sending if size is None else size)


class IdealPool(PairPool):
    """Random transfers as one party has them, from nobody."""

    def __init__(self, random: Randomness) -> None:
        self._random = random
        self._hash = FixedKeyHash(bytes(16))

    @property
    def sent_hash(self) -> FixedKeyHash:
        return self._hash

    @property
    def received_hash(self) -> FixedKeyHash:
        return self._hash

    def take(self, count: int) -> tuple[Sent, Received]:
        random = self._random
        return Sent(random.words(2, count, 2)), Received(random.bits(count), random.words(count, 2))


def places_of_coins(heard: list[list[tuple[str, Bytes]]]) -> list[tuple[str, Bytes]]:
    """For every message of some runs, which bits ever are set."""
    return [
        (messages[0][0], np.bitwise_or.reduce([message for _, message in messages]))
        for messages in zip(*heard, strict=True)
    ]


@pytest.mark.parametrize("name", ["carry", "gate", "scale", "times", "one hot"])
@dealt
def test_a_view_can_be_simulated_without_the_other_party(name: str) -> None:
    """A's code, run against a peer that knows no input, hears the same steps, lengths and distribution as in truth.

    The output is part of the view: it too must be distributed as in truth.
    """
    step, real, outputs, heard = STEPS[name], [], [], []
    for pair in pairs_seen_by(A):
        pair.talk.first.forget()
        output, _ = pair.run(step.run, step.zeros, step.ones)
        heard.append(list(pair.talk.first.heard))
        real.append(bits_heard(heard[-1]))
        outputs.append(as_bits(output))
    simulated, simulated_outputs = [], []
    for run in range(RUNS):
        nobody = Simulated(random_for(8000 + run), places_of_coins(heard))
        output = step.run(ComputingParty(A, nobody, IdealPool(random_for(9000 + run)), random_for(7)), *step.zeros)
        simulated.append(bits_heard(nobody.heard))
        simulated_outputs.append(as_bits(output))
    views = np.stack(real), np.stack(simulated)
    places = varying(*views)
    assert abs(difference(views[0][:, places], views[1][:, places])) < LIMIT
    ends = np.stack(outputs), np.stack(simulated_outputs)
    places = varying(ends[0])  # the rest is A's own draws
    assert np.array_equal(places, varying(ends[1]))
    assert abs(difference(ends[0][:, places], ends[1][:, places])) < LIMIT


def training_views(role: int, layout: Layout, counts: Words, runs: int = RUNS) -> Bits:
    """What a mixer hears while it trains, its own share fixed."""
    own = random_for(40).words(layout.size)
    shares = (own, counts - own) if role == A else (counts - own, own)
    views = []
    for pair in pairs_seen_by(role)[:runs]:
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(lambda me, share: train(me, layout, share), (shares[0],), (shares[1],))
        heard = bits_heard(tap.heard)
        views.append(heard[:: max(1, heard.size // 200_000)])
    return np.stack(views)


@dealt
@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
def test_what_a_mixer_hears_in_training_is_uniform_whatever_was_counted(role: int) -> None:
    counts = np.zeros(PLAIN.size, np.uint64), counts_of(PLAIN, 200, 8)
    tells_nothing([training_views(role, PLAIN, each) for each in counts])


@dealt
@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
def test_so_it_is_where_numbers_are_counted(role: int) -> None:
    """Few runs of a long training, so that some coins fall the same way in all of them."""
    counts = np.zeros(LAYOUT.size, np.uint64), counts_of(LAYOUT, 200, 9)
    views = [training_views(role, LAYOUT, each, runs=16) for each in counts]
    coins = varying(*views)
    assert coins.sum() > 100_000
    assert all(abs(bias(view[:, coins])) < LIMIT for view in views)
    assert abs(difference(views[0][:, coins], views[1][:, coins])) < LIMIT


def coins(number: int, positions: int = 400) -> Bits:
    return np.random.default_rng(number).integers(0, 2, (RUNS, positions)).astype(np.uint8)


def test_statistics_let_coins_pass_and_notice_what_is_none() -> None:
    fair = coins(1)
    loaded, bound = coins(2), fair.copy()
    loaded[:, :60] |= coins(3)[:, :60]
    bound[:, 7] = 1 - bound[:, 311]
    assert abs(bias(fair)) < 4
    assert bias(loaded) > LIMIT
    assert bound_together(fair) == 0
    assert bound_together(bound) == 1
    assert abs(difference(fair, coins(4))) < 4
    assert difference(fair, loaded) > LIMIT
    with pytest.raises(AssertionError):
        tells_nothing([fair, loaded])
