"""What the attacks need: ears at a channel, statistics, and whole jobs whose roles can be run alone against a script.

A role is deterministic by its seed, so what its peers sent it in an honest run, written down, can be sent to it again
with one message changed. It then runs alone, without threads, and everything it will read already lies in its inbox.
"""

from __future__ import annotations

import queue
import select
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from nacl import bindings

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Bytes, Values, Words, mask
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.classification import answer_private, answer_public, ask_private, ask_public
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.label import blinding_for, common_blinding
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import TableHolder, TableReader
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.training import train
from mixbayes.protocol.bayes.two_hospitals import answer_partner, ask_partner, see_partner, show_partner
from mixbayes.protocol.channel import Buffer, Channel, Wire
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.memory import MemoryWire
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent
from mixbayes.protocol.transfer.pool import (
    Marks,
    PairPool,
    ReceivedPool,
    SentPool,
    connect_answerer,
    connect_asker,
    connect_pair,
)
from mixbayes.transport import local
from tests.protocol.pairs import Ends, converse, layout_of, random_for

# Ears


class Tap(Channel):
    """A channel that writes down what passes: (step, message)."""

    def __init__(self, peer: str, wire: Wire) -> None:
        super().__init__(peer, wire)
        self.heard: list[tuple[str, Bytes]] = []
        self.said: list[tuple[str, Bytes]] = []

    def send(self, step: str, payload: Buffer) -> None:
        self.said.append((step, _copied(payload)))
        super().send(step, payload)

    def receive(self, step: str, size: int) -> Bytes:
        body = super().receive(step, size)
        self.heard.append((step, body.copy()))
        return body

    def start_swap(self, step: str, payload: Buffer, size: int | None = None) -> Callable[[], Bytes]:
        self.said.append((step, _copied(payload)))
        finish = super().start_swap(step, payload, size)

        def heard() -> Bytes:
            body = finish()
            self.heard.append((step, body.copy()))
            return body

        return heard

    def forget(self) -> None:
        self.heard.clear()
        self.said.clear()


class TappedEnds(Ends):
    """A conversation with an ear at each end."""

    def __init__(self, first: str = "party A", second: str = "party B", deadline: float = 30.0) -> None:
        super().__init__(first, second, deadline)
        self.first: Tap = Tap(second, self.wires[0])
        self.second: Tap = Tap(first, self.wires[1])


class TappedPair:
    """A and B as in `pairs.Pair`, each with a seed of its own and an ear at what they say to each other."""

    def __init__(self, seed_a: int, seed_b: int) -> None:
        self.talk, self.ahead = TappedEnds(), TappedEnds()
        self.a, self.b = self._both(lambda: self._party(A, seed_a), lambda: self._party(B, seed_b))

    def _party(self, role: int, number: int) -> ComputingParty:
        random = random_for(number)
        talk, ahead = (self.talk.first, self.ahead.first) if role == A else (self.talk.second, self.ahead.second)
        return ComputingParty(role, talk, connect_pair(role, ahead, random), random)

    def run(self, step: Callable[..., Any], of_a: tuple[Any, ...], of_b: tuple[Any, ...]) -> tuple[Any, Any]:
        return self._both(lambda: step(self.a, *of_a), lambda: step(self.b, *of_b))

    def _both(self, of_a: Callable[[], Any], of_b: Callable[[], Any]) -> tuple[Any, Any]:
        first, second = converse([self.talk, self.ahead], of_a, of_b)
        return first, second

    def with_pools(self, kind: Callable[[PairPool], PairPool]) -> None:
        """Replace both pools by what `kind` makes of them."""
        self.a, self.b = replace(self.a, pool=kind(self.a.pool)), replace(self.b, pool=kind(self.b.pool))


def _copied(payload: Buffer) -> Bytes:
    raw = payload.tobytes() if isinstance(payload, np.ndarray | memoryview) else bytes(payload)
    return np.frombuffer(raw, np.uint8)


def dealt_send(channel: Channel, random: Randomness) -> BaseSent:
    """In place of `send_base` where what is built on base transfers is watched many times: no group, no secrecy."""
    keys = random.words(2, COUNT, 2)
    channel.send("dealt", keys.reshape(-1).view(np.uint8))
    return BaseSent(keys)


def dealt_receive(channel: Channel, random: Randomness) -> BaseReceived:
    """In place of `receive_base`."""
    keys = channel.receive("dealt", 2 * COUNT * 16).view(np.uint64).reshape(2, COUNT, 2)
    choices = random.bits(COUNT)
    return BaseReceived(choices, keys[choices, np.arange(COUNT)].copy())


# Statistics. Samples are bits (runs, positions). Honest messages stay far below every threshold used with these.


def bits_heard(messages: Sequence[tuple[str, Bytes]]) -> Bits:
    """All bits of these messages in a row."""
    return np.unpackbits(np.concatenate([message for _, message in messages]))


def varying(*samples: Bits) -> np.ndarray:
    """Where a bit is not the same in all runs of all samples."""
    together = np.concatenate(samples)
    return together.min(axis=0) != together.max(axis=0)


def bias(samples: Bits) -> float:
    """By how many standard deviations the chi-square of all positions exceeds that of fair coins."""
    runs, positions = samples.shape
    ones = samples.sum(axis=0, dtype=np.int64)
    chi_square = float((((2 * ones - runs) ** 2) / runs).sum())
    return (chi_square - positions) / (2 * positions) ** 0.5


def difference(first: Bits, second: Bits) -> float:
    """The same for the frequencies of two samples of as many runs, against those of equal distributions."""
    runs, positions = first.shape
    apart = first.sum(axis=0, dtype=np.int64) - second.sum(axis=0, dtype=np.int64)
    chi_square = float((apart**2 / (runs / 2)).sum())
    return (chi_square - positions) / (2 * positions) ** 0.5


def bound_together(samples: Bits, most: int = 6000) -> int:
    """How many pairs of positions are equal in all runs, or opposite in all runs."""
    chosen = np.random.default_rng(1).permutation(samples.shape[1])[:most]
    signs = 2 * samples[:, chosen].astype(np.float32) - 1
    sums = np.abs(signs.T @ signs)
    return int((np.count_nonzero(sums == len(samples)) - len(chosen)) // 2)


# Whole jobs

PLAIN = layout_of(3, [2, 3], max_rows=200)
LAYOUT = Layout(
    Dictionary.model_validate(
        {
            "class_column": "class",
            "classes": PLAIN.dictionary.classes,
            "attributes": [*PLAIN.dictionary.attributes, Gaussian(name="number", low=0.0, high=1.0)],
            "max_rows": 200,
        }
    )
)
ROWS = 3
MARKS = Marks(low=1 << 10, high=1 << 12)
"""So low that the pools are filled several times within a job."""

Lines = dict[str, Channel]
Pools = dict[str, PairPool | SentPool | ReceivedPool]
"""The pools a role has connected, by the line on which they are filled."""
Role = Callable[[Lines, Pools], Any]


@dataclass(frozen=True)
class Job:
    """Who talks with whom, and what each role does with its ends."""

    conversations: dict[str, tuple[str, str]]
    roles: dict[str, Role]

    def lines_of(self, role: str) -> dict[str, str]:
        """The role's conversations, each with the name of its peer."""
        return {name: ends[1 - ends.index(role)] for name, ends in self.conversations.items() if role in ends}


def counts_of(layout: Layout, rows: int, number: int) -> Words:
    """Counts of that many random patients."""
    rng = np.random.default_rng(number)
    codes = [rng.integers(0, attribute.codes, (attribute.columns, rows)) for attribute in layout.dictionary.attributes]
    labels = rng.integers(0, layout.classes, rows).astype(np.int32)
    return count(layout, Codes(np.concatenate(codes).astype(np.int32), labels))


@lru_cache
def vector_shares(layout: Layout) -> tuple[Words, Words]:
    of_a = random_for(51).words(layout.size)
    return of_a, counts_of(layout, 100, 5) - of_a


@lru_cache
def model_shares() -> tuple[Model, Model]:
    return share_model(fixed_model(LAYOUT, counts_of(LAYOUT, 100, 5)), 52)


def share_model(model: Model, number: int) -> tuple[Model, Model]:
    """Fresh shares of a model in the clear."""
    random, low = random_for(number), mask(model.width)

    def of_a(cells: Words) -> Words:
        # The words of a missing cell are zero at both, as training leaves them.
        named = cells.any(axis=-1, keepdims=True)
        return random.words(*cells.shape) & np.where(named, low, np.uint64(0))

    first = replace(model, prior=of_a(model.prior), tables=tuple(map(of_a, model.tables)))
    rest = tuple((whole - part) & low for whole, part in zip(model.tables, first.tables, strict=True))
    return first, replace(model, prior=(model.prior - first.prior) & low, tables=rest)


def some_codes() -> Values:
    """An instance of first values, one of others, one of nothing."""
    return np.array([[0, 1, 2], [0, 2, 3], [0, 12345678, ABSENT_CODE]], np.int32)


def _connected(role: int, lines: Lines, pools: Pools) -> ComputingParty:
    random = random_for(60 + role)
    pool = connect_pair(role, lines["pair ahead"], random, MARKS)
    pools["pair ahead"] = pool
    return ComputingParty(role, lines["pair"], pool, random)


def _blinding(me: ComputingParty) -> Randomness:
    return blinding_for(b"a question", common_blinding(me))


def _training(role: int, layout: Layout) -> Role:
    def run(lines: Lines, pools: Pools) -> Model:
        me = _connected(role, lines, pools)
        return train(me, layout, vector_shares(layout)[role])

    return run


def _public_mixer(role: int, to: str) -> Role:
    def run(lines: Lines, pools: Pools) -> None:
        me = _connected(role, lines, pools)
        answer_public(me, lines[to], LAYOUT, model_shares()[role], ROWS, _blinding(me))

    return run


def _private_mixer(role: int, to: str) -> Role:
    def run(lines: Lines, pools: Pools) -> None:
        me = _connected(role, lines, pools)
        holder = TableHolder(lines[to], random_for(80 + role))
        answer_private(me, holder, LAYOUT, model_shares()[role], ROWS, _blinding(me))

    return run


def _public_asker(lines: Lines, pools: Pools) -> Any:
    return ask_public((lines["to a"], lines["to b"]), LAYOUT, model_shares()[0].width, some_codes())


def _private_asker(lines: Lines, pools: Pools) -> Any:
    mixers = lines["to a"], lines["to b"]
    return ask_private(mixers, LAYOUT, model_shares()[0].width, some_codes(), TableReader(mixers, random_for(70)))


def _partner_asker(lines: Lines, pools: Pools) -> Any:
    me = _connected(A, lines, pools)
    return ask_partner(me, TableReader([lines["question"]], random_for(70)), LAYOUT, model_shares()[A], some_codes())


def _partner(lines: Lines, pools: Pools) -> None:
    me = _connected(B, lines, pools)
    answer_partner(me, TableHolder(lines["question"], random_for(80)), LAYOUT, model_shares()[B], ROWS)


def _receiver(lines: Lines, pools: Pools) -> Words:
    pool = connect_asker(lines["ahead"], random_for(71), MARKS)
    pools["ahead"] = pool
    return pool.take(1 << 11).pads


def _sender(lines: Lines, pools: Pools) -> Words:
    pool = connect_answerer(lines["ahead"], random_for(81), MARKS)
    pools["ahead"] = pool
    return pool.take(1 << 11).pads


def _showing_asker(lines: Lines, pools: Pools) -> Any:
    return show_partner(_connected(A, lines, pools), LAYOUT, model_shares()[A], some_codes())


def _seeing_partner(lines: Lines, pools: Pools) -> None:
    see_partner(_connected(B, lines, pools), LAYOUT, model_shares()[B], ROWS)


_MIXERS = {"pair": ("mixer a", "mixer b"), "pair ahead": ("mixer a", "mixer b")}
_HOSPITALS = {"pair": ("party va", "party vb"), "pair ahead": ("party va", "party vb")}
_TO_MIXERS = {"to a": ("party va", "mixer a"), "to b": ("party va", "mixer b")}

JOBS = {
    "training": Job(_MIXERS, {"mixer a": _training(A, PLAIN), "mixer b": _training(B, PLAIN)}),
    "training with numbers": Job(_MIXERS, {"mixer a": _training(A, LAYOUT), "mixer b": _training(B, LAYOUT)}),
    "public": Job(
        _MIXERS | _TO_MIXERS,
        {"mixer a": _public_mixer(A, "to a"), "mixer b": _public_mixer(B, "to b"), "party va": _public_asker},
    ),
    "private": Job(
        _MIXERS | _TO_MIXERS,
        {"mixer a": _private_mixer(A, "to a"), "mixer b": _private_mixer(B, "to b"), "party va": _private_asker},
    ),
    "two hospitals": Job(
        _HOSPITALS | {"question": ("party va", "party vb")},
        {"party va": _partner_asker, "party vb": _partner},
    ),
    "transfers": Job({"ahead": ("party va", "party vb")}, {"party va": _receiver, "party vb": _sender}),
    "two hospitals, shown": Job(_HOSPITALS, {"party va": _showing_asker, "party vb": _seeing_partner}),
}
EVERY_ROLE = [(name, role) for name, job in JOBS.items() for role in job.roles]


# Scripts

_HEADER = struct.Struct("<IIQ")


@dataclass(frozen=True)
class Frame:
    """One message as it travels."""

    step: str
    number: int
    payload: bytes

    def encoded(self) -> bytes:
        return _HEADER.pack(zlib.crc32(self.step.encode()), self.number, len(self.payload)) + self.payload


Script = list[bytes | None]
"""What a role finds in its inbox; None: the peer hangs up."""


class _Ear:
    """A wire that writes down what is read."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._reads: list[tuple[str, bytes]] = []

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        self._wire.write(parts, step)

    def read(self, into: memoryview, step: str) -> None:
        self._wire.read(into, step)
        self._reads.append((step, bytes(into)))

    def close(self) -> None:
        self._wire.close()

    def frames(self) -> list[Frame]:
        """A channel reads a header, then the message."""
        headers, payloads = self._reads[::2], self._reads[1::2]
        return [
            Frame(step, _HEADER.unpack(header)[1], payload)
            for (step, header), (_, payload) in zip(headers, payloads, strict=True)
        ]


@dataclass(frozen=True)
class Record:
    """An honest run: what every role heard on every line, and what it returned."""

    heard: dict[str, dict[str, list[Frame]]]
    results: dict[str, Any]


@lru_cache
def honest(name: str) -> Record:
    """Run a job, all roles at once."""
    job = JOBS[name]
    ends = {line: Ends(*who) for line, who in job.conversations.items()}
    ears: dict[str, dict[str, _Ear]] = {role: {} for role in job.roles}
    for line, who in job.conversations.items():
        for role, wire in zip(who, ends[line].wires, strict=True):
            ears[role][line] = _Ear(wire)

    def run(role: str) -> Any:
        peers = job.lines_of(role)
        return job.roles[role]({line: Channel(peers[line], ear) for line, ear in ears[role].items()}, {})

    results = converse(list(ends.values()), *(lambda role=role: run(role) for role in job.roles))
    heard = {role: {line: ear.frames() for line, ear in lines.items()} for role, lines in ears.items()}
    return Record(heard, dict(zip(job.roles, results, strict=True)))


def scripts_of(name: str, role: str) -> dict[str, Script]:
    """What the role hears on its lines when all goes well."""
    heard = honest(name).heard[role]
    return {line: [frame.encoded() for frame in frames] for line, frames in heard.items()}


def alone(
    name: str,
    role: str,
    scripts: dict[str, Script],
    pools: Pools,
    lines: Lines | None = None,
) -> Any:
    """Run one role of a job against scripts, in memory. `pools` and `lines` are what it then has of these."""
    peers = JOBS[name].lines_of(role)
    lines = {} if lines is None else lines
    lines |= {line: Channel(peers[line], _said(peers[line], parts)) for line, parts in scripts.items()}
    return JOBS[name].roles[role](lines, pools)


class _Said:
    """All that a peer says. After that its silence needs no waiting for."""

    def __init__(self, parts: Script) -> None:
        self._parts = list(parts)[::-1]

    def get(self, timeout: float) -> bytes | None:
        if not self._parts:
            raise queue.Empty
        return self._parts.pop()


def _said(peer: str, parts: Script) -> MemoryWire:
    return MemoryWire(peer, cast("queue.SimpleQueue[bytes | None]", _Said(parts)), queue.SimpleQueue(), memory.DEADLINE)


def alone_over_sockets(
    name: str, role: str, scripts: dict[str, Script], pools: Pools, silent: str = "", dead: str = ""
) -> Any:
    """The same over local socket pairs. The line `silent` says no more than its script; on `dead` there is nobody."""
    peers, over = JOBS[name].lines_of(role), {line: threading.Event() for line in scripts}
    with _reciting(scripts, over, dead) as ends:
        lines = {line: local.channel(peers[line], end) for line, end in ends.items()}
        if silent:
            lines[silent] = Channel(peers[silent], _Impatient(peers[silent], ends[silent], over[silent]))
        return JOBS[name].roles[role](lines, pools)


class _Impatient(local.SocketWire):
    """Its deadline is met when the other end has said all that it will say, and not by the clock."""

    def __init__(self, peer: str, end: socket.socket, over: threading.Event) -> None:
        super().__init__(peer, end)
        self._over = over

    def _await_more(self, until: float, step: str) -> int:
        while not self._over.is_set():
            if local._ready(self._end, select.POLLIN, 0.01):
                return 0
        return super()._await_more(0.0, step)


@contextmanager
def _reciting(
    scripts: dict[str, Script], over: dict[str, threading.Event], dead: str
) -> Iterator[dict[str, socket.socket]]:
    """The role's ends of socket pairs; at the others, a thread each says its script and listens until the end."""
    pairs = {line: socket.socketpair() for line in scripts}
    if dead:
        pairs[dead][1].close()
    threads = [
        threading.Thread(target=_recite, args=(pairs[line][1], parts, over[line]))
        for line, parts in scripts.items()
        if line != dead
    ]
    for thread in threads:
        thread.start()
    try:
        yield {line: pair[0] for line, pair in pairs.items()}
    finally:
        for mine, _ in pairs.values():
            mine.close()
        for thread in threads:
            thread.join()


def _recite(end: socket.socket, parts: Script, over: threading.Event) -> None:
    with end:
        try:
            for part in parts:
                if part is None:
                    end.shutdown(socket.SHUT_WR)
                else:
                    end.sendall(part)
            over.set()
            while end.recv(1 << 16):
                pass
        except OSError:
            return  # the role has ended


class RememberedGroup:
    """The group's operations, each computed once for the same arguments: replays repeat them many times."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(bindings, name)
        if callable(value):
            value = lru_cache(maxsize=None)(value)
            setattr(self, name, value)
        return value


@contextmanager
def tapped_memory(taps: list[Tap]) -> Iterator[None]:
    """Within, `run_training` and `run_classification` talk over tapped channels, in the order of their making."""
    plain = memory.channels

    def channels(first: str, second: str, deadline: float = memory.DEADLINE) -> tuple[Channel, Channel]:
        ends = TappedEnds(first, second, deadline)
        taps.extend((ends.first, ends.second))
        return ends.first, ends.second

    memory.channels = channels
    try:
        yield
    finally:
        memory.channels = plain
