"""The whole protocol of a round in one function for each setting, from tables to labels, all roles in memory.

`run_federation` plays any number of hospitals and two mixers, `run_two_hospitals` two hospitals alone. Nodes run the
same steps in the same order. What only nodes have is not here: connections, disks, deadlines, and the proposal of a
set by one computing party to the other.

A training and a question are two conversations. Each has channels, transfers and randomness of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.agreed_set import start_agreeing
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.label import Labels, start_blinding
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.noise import blurred
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.training import train, transfers_at_first
from mixbayes.protocol.bayes.two_hospitals import run_partner_classification
from mixbayes.protocol.bayes.validity import joint, judged, start_nonce
from mixbayes.protocol.bayes.verdicts import VerdictsInMemory, start_comparing
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.pool import connect_pair

ROUND = 1
ID_BYTES = 16


@dataclass(frozen=True, slots=True, repr=False)
class Contribution:
    """What one mixer has received of a hospital: the id, and its share of the counts of all folds."""

    id: bytes
    share: Words


Received = Mapping[str, Contribution]
"""By hospital, what one mixer has received."""


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """Rows (columns, n) about which a hospital asks."""

    asker: str
    codes: Values
    private: bool = True

    @property
    def rows(self) -> int:
        return int(self.codes.shape[1])


@dataclass(frozen=True, slots=True, repr=False)
class Trained:
    """What one computing party has after a training: whom the model counts, and its shares of counts and model."""

    counted: tuple[str, ...]
    refused: tuple[str, ...]
    counts: Words
    """Of the joint counts, or of N~."""
    model: Model
    run: bytes
    """What both have drawn to name this training."""


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What came of a round: whom the model does not count, and the labels of every question."""

    refused: tuple[str, ...]
    labels: tuple[Labels | None, ...]
    """None where the question was refused, because it asked for more rows than its hospital had left."""
    parties: tuple[Trained, Trained]
    """What A and B have. No other role sees it."""


def contribute(tables: Mapping[str, Words], random: Randomness) -> tuple[Received, Received]:
    """Every hospital splits its counts, and sends one share to each mixer under one id."""
    ids = {name: random.bytes(ID_BYTES) for name in tables}
    shares = {name: split(vector, random.bytes(SEED_BYTES)) for name, vector in tables.items()}
    of_a = {name: Contribution(ids[name], share.for_a()) for name, share in shares.items()}
    of_b = {name: Contribution(ids[name], share.for_b()) for name, share in shares.items()}
    return of_a, of_b


def run_federation(
    layout: Layout,
    received: tuple[Received, Received],
    questions: Sequence[Question],
    budget: int,
    seeds: tuple[bytes, bytes, bytes],
    coins: tuple[bytes, bytes] | None = None,
) -> Outcome:
    """Hospitals and the mixers A and B, from what both mixers have received (`contribute`) to the labels.

    Seeds: of the hospitals, of A and of B; and where noise is agreed, of A's and of B's coins. `budget` is the number
    of rows that each hospital may ask about.
    """
    hospitals, *mixers = (Randomness(seed) for seed in seeds)

    def mixer(role: int, other: Channel, ahead: Channel) -> Trained:
        random = mixers[role].branch()
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # All that depends on no other message travels at once, while the first transfers are made.
        book, names = VerdictsInMemory(), sorted(received[role])
        agree = start_agreeing(other, ROUND, ((name, one.id) for name, one in received[role].items()))
        kept, nonce, run = start_comparing(other, book, names), start_nonce(me), start_blinding(me)
        me.pool.reserve(transfers_at_first(layout))
        # Both hold the same contributions, or nothing is computed.
        agree()
        # Is each of them the counts of some table? Whether it is, is written down and opened, and once more of what
        # fails, which does not count.
        shares = {name: partial(attrgetter("share"), received[role][name]) for name in names}
        verdicts = judged(me, layout, shares, book, kept(), nonce)
        counted = tuple(name for name in names if verdicts[name])
        refused = tuple(name for name in names if name not in counted)
        # Sums of shares are shares of the sums.
        accepted = (joint(layout, received[role][name].share) for name in counted)
        counts = sum(accepted, np.zeros(layout.size, np.uint64))
        # The joint counts get the noise of coins that each mixer knows one half of; then both turn them into θ.
        return _trained(me, layout, counts, coins, run, counted, refused)

    trained = _both("mixer a", "mixer b", mixer)
    model_a, model_b = (one.model for one in trained)

    def asked(question: Question) -> Labels:
        seed, of_a, of_b = (one.bytes(SEED_BYTES) for one in (hospitals, *mixers))
        models = model_a, model_b
        return run_classification(layout, models, question.codes, (seed, of_a, of_b), private=question.private)

    # Each mixer charges a question before it answers. Here both come to the same verdict; nodes compare theirs.
    return Outcome(trained[A].refused, within(budget, questions, asked), trained)


def run_two_hospitals(
    layout: Layout,
    tables: Mapping[str, Words],
    known: tuple[Mapping[str, bytes], Mapping[str, bytes]],
    questions: Sequence[Question],
    budget: int,
    seeds: tuple[bytes, bytes],
    coins: tuple[bytes, bytes] | None = None,
) -> Outcome:
    """Hospitals A and B alone, in the order of their tables, from the counts of all folds to the labels.

    `known` has the ids of both contributions, as A and as B know them. Counts do not leave their hospital, so nobody
    checks them. Seeds: of A and of B; and where noise is agreed, of A's and of B's coins.
    """
    names = list(tables)
    randoms = [Randomness(seed) for seed in seeds]

    def hospital(role: int, other: Channel, ahead: Channel) -> Trained:
        random = randoms[role].branch()
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # Both mean the same two contributions, or nothing is computed.
        agree, run = start_agreeing(other, ROUND, known[role].items()), start_blinding(me)
        agree()
        # The counts of each are its share of the sum. They get noise as with mixers; then both turn them into θ.
        return _trained(me, layout, joint(layout, tables[names[role]]), coins, run, tuple(names))

    trained = _both("party A", "party B", hospital)
    model_a, model_b = (one.model for one in trained)

    def asked(question: Question) -> Labels:
        of_a, of_b = (one.bytes(SEED_BYTES) for one in randoms)
        asker, models = names.index(question.asker), (model_a, model_b)
        return run_partner_classification(
            layout, models, question.codes, (of_a, of_b), private=question.private, asker=asker
        )

    # The hospital that answers charges the question to the one that asks.
    return Outcome((), within(budget, questions, asked), trained)


def _trained(
    me: ComputingParty,
    layout: Layout,
    counts: Words,
    coins: tuple[bytes, bytes] | None,
    run: Callable[[], bytes],
    counted: tuple[str, ...],
    refused: tuple[str, ...] = (),
) -> Trained:
    if coins:
        counts = blurred(me, layout, counts, Draw(coins[me.role]))
    return Trained(counted, refused, counts, train(me, layout, counts), run())


def _both(first: str, second: str, role: Callable[[int, Channel, Channel], Trained]) -> tuple[Trained, Trained]:
    """Both computing parties in one conversation. Random transfers are made on a channel of their own."""
    to_b, to_a = memory.channels(first, second)
    ahead_b, ahead_a = memory.channels(first, second)
    of_a, of_b = memory.together(lambda: role(A, to_b, ahead_b), lambda: role(B, to_a, ahead_a))
    return of_a, of_b


def within(
    budget: int, questions: Sequence[Question], asked: Callable[[Question], Labels]
) -> tuple[Labels | None, ...]:
    """The labels of the questions, one after the other, of those that the hospital's budget allows."""
    spent: Counter[str] = Counter()
    labels: list[Labels | None] = []
    for question in questions:
        allowed = spent[question.asker] + question.rows <= budget
        spent[question.asker] += question.rows if allowed else 0
        labels.append(asked(question) if allowed else None)
    return tuple(labels)
