"""A training and a question of a federation, run in this process over links that take virtual time.

Both mixers and one hospital do what their nodes do, on disks of their own, over links in memory that count bytes and
delays (`virtual_time`). The size of no message depends on what patients have, so all cells are missing here.

Left out are connecting, and what gRPC and TLS add to each message. Computing is that of this machine, with a processor
for every node.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.mixers.answering import converse
from mixbayes.mixers.store import Store
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.parties.with_mixers.contributing import messages
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import MOST_ROWS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.simulation.slow_link import SlowLink
from mixbayes.simulation.virtual_time import Clock, TimedLink
from mixbayes.transport.conversation import MODEL_KEPT

_ROUND = 1
_OPENS, _CONFIRM = "opening a conversation", "confirming the model"
Ends = tuple[Sequence[Channel], Sequence[Channel]]
Stores = tuple[Store, Store]


@dataclass(frozen=True)
class Cost:
    """Bytes on all links in both directions; one-way delays, each after the one before; and seconds of both."""

    bytes: int
    delays: int
    seconds: float


@contextmanager
def stores(federation: Federation) -> Iterator[Stores]:
    """Both mixers' disks, with the contributions of all hospitals in a sealed round. The budget is the largest."""
    policy = federation.policy.model_copy(update={"budget": MOST_ROWS})
    federation = federation.model_copy(update={"policy": policy})
    with tempfile.TemporaryDirectory(prefix="mixbayes-") as folder, ExitStack() as stack:
        both = tuple(stack.enter_context(_store(federation, name, Path(folder, name))) for name in "ab")
        _contribute(federation, both)
        yield both[0], both[1]


@contextmanager
def _store(federation: Federation, name: str, folder: Path) -> Iterator[Store]:
    folder.mkdir()
    title = federation.title(name)
    with closing(Database.open(folder, COMPUTING_PARTY, Seal(secrets.token_bytes(SEED_BYTES)), title)) as database:
        yield Store(Rounds(database, federation, title, time.time), name)


def _contribute(federation: Federation, both: Sequence[Store]) -> None:
    ids = {}
    for name in federation.names:
        made = messages(name, federation.digest(), _ROUND, _counts(federation), Randomness.from_system())
        for store, message in zip(both, (made.to_a, made.to_b), strict=True):
            store.receive(name, message)
        ids[name] = made.id
    for store in both:
        store.rounds.seal(_ROUND, ids)


def _counts(federation: Federation) -> Words:
    """Of as many patients as each hospital needs, all in the first fold."""
    layout, rows = federation.layout, federation.policy.min_rows
    vector = np.zeros(layout.contributed, np.uint64)
    vector[: layout.size] = count(layout, Codes(_unknown(layout, rows), np.zeros(rows, np.int32)))
    return vector


def _unknown(layout: Layout, rows: int) -> Values:
    """Patients all of whose cells are missing."""
    columns = [np.full((a.columns, rows), a.codes - 1, np.int32) for a in layout.dictionary.attributes]
    return np.concatenate(columns)


def training(both: Stores, link: SlowLink) -> Cost:
    """From the sealed set to the model that serves, as mixer a sees it."""
    clock = Clock()
    between = TimedLink(link, clock, Clock())
    (now_a, now_b), (ahead_a, ahead_b) = (between.channels("mixer a", "mixer b") for _ in range(2))

    def lead() -> Cost:
        clock.now()
        now_a.send(_OPENS, b"")
        trained = both[0].train(_ROUND, (now_a, ahead_a))
        now_a.receive(MODEL_KEPT, 0)
        both[0].keep(_ROUND, trained)
        now_a.swap(_CONFIRM, trained.run)
        both[0].rounds.serve(_ROUND, trained.run)
        return Cost(between.bytes, clock.delays, clock.now())

    def follow() -> None:
        now_b.receive(_OPENS, 0)
        trained = both[1].train(_ROUND, (now_b, ahead_b))
        both[1].keep(_ROUND, trained)
        now_b.send(MODEL_KEPT, b"")
        run = now_b.receive(_CONFIRM, len(trained.run))
        both[1].rounds.serve(_ROUND, trained.run)
        now_b.send(_CONFIRM, run)

    cost: Cost = memory.together(_closing(lead, now_a, ahead_a), _closing(follow, now_b, ahead_b))[0]
    return cost


class _Mixers(BothMixers):
    """Both mixers, over channels that are open."""

    def __init__(self, to_a: Channel, to_b: Channel) -> None:
        super().__init__({})
        self._channels = to_a, to_b

    @contextmanager
    def conversation(self) -> Iterator[tuple[Channel, Channel]]:
        yield self._channels


def question(both: Stores, link: SlowLink, rows: int, *, private: bool) -> Cost:
    """From the question to the labels, in a conversation in which one was asked about a single row."""
    clock, clock_a, clock_b = Clock(), Clock(), Clock()
    to_a, to_b, between = (TimedLink(link, *ends) for ends in ((clock, clock_a), (clock, clock_b), (clock_a, clock_b)))
    (asker_a, a_asker), (asker_b, b_asker) = to_a.channels("asker", "mixer a"), to_b.channels("asker", "mixer b")
    a_other, b_other = _pair(between, "mixer a", "mixer b")
    hospital, layout = both[0].federation.names[0], both[0].layout
    asking = Asking(_Mixers(asker_a, asker_b), layout, numbering(Seal(secrets.token_bytes(SEED_BYTES))))

    def ask() -> Cost:
        clock.now()
        list(asking.labels(_ROUND, _unknown(layout, 1), private=private))
        moved, delays, began = to_a.bytes + to_b.bytes + between.bytes, clock.delays, clock.now()
        list(asking.labels(_ROUND, _unknown(layout, rows), private=private))
        found = Cost(to_a.bytes + to_b.bytes + between.bytes - moved, clock.delays - delays, clock.now() - began)
        asking.close()
        return found

    def answer(store: Store, other: Sequence[Channel], asker: Channel) -> None:
        page, personal, test = store.page(hospital), store.personal(hospital), store.joint_test(hospital)
        converse(store.role, other, asker, layout, page, personal, test, Randomness.from_system(), store.supply)

    cost: Cost = memory.together(
        _closing(ask, asker_a, asker_b),
        _closing(lambda: answer(both[0], a_other, a_asker), *a_other, a_asker),
        _closing(lambda: answer(both[1], b_other, b_asker), *b_other, b_asker),
    )[0]
    return cost


def _closing(role: Callable[[], Any], *channels: Channel) -> Callable[[], Any]:
    """A role that hangs up when it ends: if it fails, the others do not wait for it."""

    def run() -> Any:
        try:
            return role()
        finally:
            for channel in channels:
                channel.close()

    return run


def _pair(link: TimedLink, first: str, second: str) -> Ends:
    """Both ends of two channels: for the protocol, and for transfers made ahead."""
    now, ahead = link.channels(first, second), link.channels(first, second)
    return (now[0], ahead[0]), (now[1], ahead[1])
