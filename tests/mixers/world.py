"""A federation in memory: real nodes on real disks, and between them a network that loses, repeats and delays.

A `Fuse` ends a node at one side of a commit, as a power cut would; `World.start` opens it again from the same folder.
Clocks stand still until they are moved.
"""

from __future__ import annotations

import io
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.sqlite import looking
from mixbayes.node.log import Log, logger
from mixbayes.node.questions import ID_BYTES, Kind
from mixbayes.node.rounds.record import COUNTED, LEFT_OUT
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.serving.conversations import Channels
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.node.witnessing import Witnessing
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.contributing import Messages, messages
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer import pool
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent
from mixbayes.transport.conversation import AHEAD, NOW, TRAINING
from mixbayes.transport.errors import Unreachable
from tests.mixers.misfortune import Cut, Fate, Fuse, Killed
from tests.mixers.nodes import HospitalNode, MixerNode, Node
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, NOON, agreement, one_hot
from tests.mixers.wires import Caller, Method, Wire, linked, reported


@dataclass
class OnDisk:
    """One round as it lies on a mixer's disk."""

    state: str
    reason: str
    run: bytes | None
    held: dict[str, tuple[bytes, bytes, str]] = field(default_factory=dict)
    """By hospital: id, digest and verdict."""
    verdicts: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """By hospital: how often the verdict on its contribution was opened, and what it is."""
    questions: dict[bytes, tuple[str, int]] = field(default_factory=dict)
    """By id: who asked, and how many rows."""
    noise: dict[str, bytes | None] = field(default_factory=dict)
    """By set of contributions, the sealed seed of this mixer's coins, until the round needs it no more."""
    spent: dict[str, int] = field(default_factory=dict)
    """By hospital."""

    @property
    def sealed_set(self) -> dict[str, bytes]:
        return {name: id for name, (id, _, verdict) in self.held.items() if verdict != LEFT_OUT}

    @property
    def counted(self) -> frozenset[str]:
        return frozenset(name for name, (_, _, verdict) in self.held.items() if verdict == COUNTED)


def as_it_is(id: bytes, part: int, kind: Kind, codes: Values) -> bytes:
    """Ids that the promises know again."""
    return (int.from_bytes(id, "little") + part).to_bytes(ID_BYTES, "little")


class World:
    """All nodes of a federation, the network between them, and what a person may do to both."""

    def __init__(self, folder: Path, federation: Federation | None = None, old: Sequence[str] = ()) -> None:
        self.folder = folder
        self.old = set(old)
        self.federation = federation or agreement()
        self.layout = self.federation.layout
        self.vectors = {name: one_hot(self.layout, name) for name in HOSPITALS}
        self.said = io.StringIO()
        self.log: Log = logger("world", self.said)
        self.clock: dict[str, float] = dict.fromkeys((*MIXERS, *HOSPITALS), NOON)
        self.fuses: dict[str, Fuse] = {name: Fuse() for name in self.clock}
        self.fates: deque[Fate] = deque()
        self.late: list[Callable[[], object]] = []
        self.cut: Cut | None = None
        self.nodes: dict[str, Node] = {}
        self._dying: set[str] = set()
        self._joining: dict[tuple[str, str], dict[str, Wire]] = {}
        self.seeds: dict[tuple[str, int, str], set[bytes]] = {}
        self._numbers = count()
        self._working: dict[str, list[threading.Thread]] = {}
        self._mistakes: list[BaseException] = []
        for name in self.clock:
            self.start(name)

    # What a person may do.

    def start(self, name: str) -> bool:
        """Start a node from its folder. False if it is killed while it starts."""
        if name in self.nodes:
            return True
        try:
            self.nodes[name] = (MixerNode if name in MIXERS else HospitalNode)(self, name, self.fuses[name])
        except Killed:
            return False
        return True

    def kill(self, name: str) -> None:
        if node := self.nodes.pop(name, None):
            node.held.close()

    def close(self) -> None:
        for name in list(self.nodes):
            self.kill(name)

    def deliver_late(self, index: int) -> None:
        """One of the calls that were held up arrives now; nobody waits for its answer any more."""
        with suppress(MixbayesError):
            self.late.pop(index)()

    @property
    def a(self) -> MixerNode:
        return cast("MixerNode", self.nodes["a"])

    @property
    def b(self) -> MixerNode:
        return cast("MixerNode", self.nodes["b"])

    def hospital(self, name: str) -> HospitalNode:
        return cast("HospitalNode", self.nodes[name])

    def lead(self) -> bool:
        """One step of the leader."""
        return bool(self._guarded("a", lambda: self.a.leader.step()))

    def visit(self, hospital: str) -> None:
        """One step of a hospital's node."""
        self._guarded(hospital, lambda: self.hospital(hospital).contributor.step())

    def everybody(self) -> None:
        """Every node that is up takes its steps."""
        for name in HOSPITALS:
            self.visit(name)
        for _ in range(4):
            if not self.lead():
                return

    def open_round(self, hospital: str, number: int) -> bool:
        return self._told(hospital, lambda: self.hospital(hospital).mixers.open_round(number))

    def close_round(self, hospital: str, number: int) -> bool:
        return self._told(hospital, lambda: self.hospital(hospital).mixers.close_round(number))

    def asked(
        self, hospital: str, number: int, codes: Values, *, private: bool, id: bytes, recipe: Recipe = JOINT
    ) -> Labels:
        """The labels, in a conversation of its own; or the error."""
        with self.asking(hospital) as asking:
            return joined(list(asking.labels(number, codes, private=private, id=id, recipe=recipe)))

    @contextmanager
    def asking(self, hospital: str) -> Iterator[Asking]:
        """A conversation of a hospital with both mixers."""
        asking = Asking(self.hospital(hospital).mixers, self.layout, as_it_is)
        try:
            yield asking
        finally:
            asking.close()
            self.bury()

    # What they stand on.

    def key(self, name: str) -> bytes:
        return name.encode().ljust(32, b"-")

    def time(self, name: str) -> float:
        return self.clock[name]

    def witnessing(
        self, name: str, database: Database, title: str, clock: Callable[[], float], sealed: Callable[[], int]
    ) -> Unwitnessed:
        """A node's part in witnessing; nodes that are named in `old` are of a version without it."""
        return UNWITNESSED if name in self.old else Witnessing(database, title, clock, sealed, self.log)

    def made(self, hospital: str, number: int) -> Messages:
        """A new contribution of the same table."""
        vector, digest = self.vectors[hospital], self.federation.digest()
        return messages(hospital, digest, number, vector, Randomness.from_system())

    def expected(self, hospitals: frozenset[str], codes: Values, number: int = 1) -> list[int]:
        """The labels of the pooled classifier in the clear, with the round's noise if there is any."""
        model = fixed_model(self.layout, self.noisy(number, hospitals))
        return fixed_labels(self.layout, model, codes).tolist()

    def pooled(self, hospitals: frozenset[str]) -> Words:
        return sum((self.vectors[name] for name in hospitals), np.zeros(self.layout.size, np.uint64))

    def noisy(self, number: int, counted: frozenset[str]) -> Words:
        """The joint counts of these hospitals with the noise that both mixers have charged for them."""
        pooled = self.pooled(counted)
        if not self.layout.terms.coins:
            return pooled
        of_a, of_b = (Randomness(self._seed(mixer, number, counted)) for mixer in MIXERS)
        return blurred_in_clear(self.layout, pooled, of_a, of_b)

    def _seed(self, mixer: str, number: int, counted: frozenset[str]) -> bytes:
        ids = {name: id for name, (id, _, _) in self.on_disk(mixer)[number].held.items() if name in counted}
        chosen = set_digest(number, ids)
        assert chosen in self.on_disk(mixer)[number].noise, "noise was drawn that nobody paid for"
        seeds = self.seeds[mixer, number, chosen]
        assert len(seeds) == 1, "noise of one set from different coins"
        return next(iter(seeds))

    def noted(self, mixer: str, rounds: Rounds) -> Callable[[int, Mapping[str, bytes]], Draw]:
        """The mixer's charge of noise, and a note of the seed, which the mixer deletes."""

        def charge(number: int, counted: Mapping[str, bytes]) -> Draw:
            drawn, chosen = Rounds.charge_noise(rounds, number, counted), set_digest(number, counted)
            with rounds.datastore.read() as tables:
                kept = tables.coin_seed(self.federation.digest(), number, chosen)
            assert kept, "nothing was charged"
            self.seeds.setdefault((mixer, number, chosen), set()).add(kept)
            return drawn

        return charge

    def on_disk(self, mixer: str) -> dict[int, OnDisk]:
        """Every round that a mixer knows of, whether it is up or not."""
        with ExitStack() as stack:
            node = self.nodes.get(mixer)
            reading = node.database.read() if node else looking(self.folder / mixer)
            connection = stack.enter_context(reading)
            found = {
                number: OnDisk(state, reason, run)
                for number, state, reason, run in connection.execute("SELECT number, state, reason, run FROM round")
            }
            for number, name, *about in connection.execute(
                "SELECT round, hospital, id, digest, verdict FROM contribution"
            ):
                found[number].held[name] = tuple(about)
            for number, name, *about in connection.execute("SELECT round, hospital, openings, holds FROM contribution"):
                found[number].verdicts[name] = tuple(about)
            for id, number, name, rows in connection.execute("SELECT id, round, hospital, rows FROM question"):
                found[number].questions[id] = name, rows
            for number, contributions, seed in connection.execute("SELECT round, contributions, seed FROM noise"):
                found[number].noise[contributions] = seed
            for number, name, rows in connection.execute("SELECT round, hospital, rows FROM spent"):
                found[number].spent[name] = rows
            return found

    def call(
        self, caller: str, target: str, method: Method, request: Any, step: str, deadline: float | None = None
    ) -> Any:
        """One call over the network, as fate has it."""
        fate = self.fates.popleft() if self.fates else Fate.ANSWERED
        pieces = list(request) if method.streamed else [request]
        kind = type(pieces[0])
        raws = [method.serialise(piece) for piece in pieces]
        deliver = partial(self._deliver, caller, target, method, kind, raws, step)
        silent = PeerSilent(self.federation.title(target), step, "no answer came in time")
        if fate is Fate.LATE:
            self.late.append(deliver)
        if fate in (Fate.LOST, Fate.LATE):
            raise silent
        if fate is Fate.TWICE:
            deliver()
        reply = deliver()
        if fate is Fate.REPLY_LOST:
            raise silent
        return reply

    def _deliver(self, caller: str, target: str, method: Method, kind: Any, raws: list[bytes], step: str) -> Any:
        title = self.federation.title(target)
        if target not in self.nodes:
            raise Unreachable(title, step, "nothing listens there")
        received = [kind.FromString(raw) for raw in raws]
        handler = getattr(self.nodes[target].services[method.service], method.name)
        try:
            reply = handler(iter(received) if method.streamed else received[0], Caller(caller))
        except Killed:
            self.kill(target)
            raise PeerGone(title, step, "the connection broke") from None
        except MixbayesError as error:
            raise reported(error, title, step) from None
        return method.deserialise(reply.SerializeToString())

    @contextmanager
    def talk(self, purpose: str, whose: str, key: str) -> Iterator[tuple[Channel, ...]]:
        """Mixer a's ends of a conversation with mixer b, which works in a thread of its own."""
        titles = self.federation.title("a"), self.federation.title("b")
        if "b" not in self.nodes or "b" in self._dying:
            raise Unreachable(titles[1], "opening a stream", "nothing listens there")
        (here, there), (here_ahead, there_ahead) = linked(*titles), linked(*titles)
        self._apply_cut("a", "b", here, there)
        if purpose == TRAINING:
            wires, work = {NOW: there, AHEAD: there_ahead}, self.b.pair._training(int(whose))
        else:
            wires = {"mixer now": there, "mixer ahead": there_ahead, **self._joining.pop((whose, key))}
            work = self.b.led.work(whose, key)
        peers = {NOW: "party " + whose} if purpose != TRAINING else {}
        self._work(key, "b", wires, {name: peers.get(name, titles[0]) for name in wires}, work)
        try:
            yield Channel(titles[1], here), Channel(titles[1], here_ahead)
        finally:
            here.close()
            here_ahead.close()
            if purpose == TRAINING:
                self._until_they_end(key)

    @contextmanager
    def conversation(self, hospital: str) -> Iterator[tuple[Channel, Channel]]:
        """A hospital's ends of a conversation with both mixers."""
        key, title = f"conversation {next(self._numbers)}", self.federation.title(hospital)
        for name in MIXERS:
            if name not in self.nodes or name in self._dying:
                raise Unreachable(self.federation.title(name), "opening a stream", "nothing listens there")
        ends = {name: linked(title, self.federation.title(name)) for name in MIXERS}
        for name in MIXERS:
            self._apply_cut(hospital, name, *ends[name])
        at_a, at_b = ({NOW: there} for _, there in ends.values())
        self._joining[hospital, key] = at_b
        work = self.a.leading.work(hospital, key)

        def lead_in(channels: Channels) -> None:
            try:
                work(channels)
            finally:
                for wire in self._joining.pop((hospital, key), {}).values():
                    wire.fail(PeerSilent(self.federation.title("a"), "joining a conversation", "it did not join"))

        self._work(key, "a", at_a, {NOW: title}, lead_in)
        try:
            to_a, to_b = (Channel(self.federation.title(name), here) for name, (here, _) in ends.items())
            yield to_a, to_b
        finally:
            for here, _ in ends.values():
                here.close()
            self._until_they_end(key)

    def _work(
        self, key: str, name: str, wires: Mapping[str, Wire], peers: Mapping[str, str], work: Callable[[Channels], None]
    ) -> None:
        """A node begins to work on its ends of a conversation, in a thread of its own."""

        def run() -> None:
            try:
                work({channel: Channel(peers[channel], wire) for channel, wire in wires.items()})
            except MixbayesError as error:
                for wire in wires.values():
                    wire.fail(error)
            except Killed:
                self._dying.add(name)
            except BaseException as error:  # noqa: BLE001 - the test sees it where the conversation ends
                self._mistakes.append(error)
            finally:
                for wire in wires.values():
                    wire.close()

        thread = threading.Thread(target=run, name=f"mixer {name}")
        thread.start()
        self._working.setdefault(key, []).append(thread)

    def _until_they_end(self, key: str) -> None:
        """Whoever opened a conversation has closed its ends, so everybody else ends too."""
        while threads := self._working.get(key):
            threads.pop().join()
        self._working.pop(key, None)
        if self._mistakes:
            raise self._mistakes.pop()

    def bury(self) -> None:
        """Nodes that were killed in a conversation are gone."""
        for name in list(self._dying):
            self.kill(name)
        self._dying.clear()

    def _apply_cut(self, caller: str, callee: str, here: Wire, there: Wire) -> None:
        if self.cut and {self.cut.source, self.cut.target} == {caller, callee}:
            (here if self.cut.source == caller else there).left = self.cut.after
            self.cut = None

    def _guarded(self, name: str, step: Callable[[], object]) -> object:
        if name not in self.nodes:
            return None
        try:
            return step()
        except Killed:
            self.kill(name)
        except MixbayesError:
            pass
        finally:
            self.bury()
        return None

    def _told(self, hospital: str, order: Callable[[], object]) -> bool:
        if hospital not in self.nodes:
            return False
        try:
            order()
        except MixbayesError:
            return False
        finally:
            self.bury()
        return True


def deal_base_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    """All conversations begin with the same 128 base transfers: they cost more than all the rest of a tiny round."""
    random = Randomness(bytes(32))
    keys, choices = random.words(2, COUNT, 2), random.bits(COUNT)
    chosen = keys[choices, np.arange(COUNT)]
    monkeypatch.setattr(pool, "send_base", partial(already_sent, BaseSent(keys)))
    monkeypatch.setattr(pool, "receive_base", lambda channel, random: BaseReceived(choices, chosen))


def already_sent(
    dealt: BaseSent, channel: Channel, random: Randomness, meanwhile: Callable[[], None] | None = None
) -> BaseSent:
    """In place of `send_base`: nothing is sent but what goes on meanwhile."""
    if meanwhile:
        meanwhile()
    return dealt
