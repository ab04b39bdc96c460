"""A mixer's node: its state, its server, its conversations, put together and taken apart."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import grpc

from mixbayes.agreement.agreement import Federation
from mixbayes.mixers.leading import LeadingService, LedMixer, keep_supplied, lead, train_with
from mixbayes.mixers.led import LedService, PairService
from mixbayes.mixers.service import Reception
from mixbayes.mixers.store import Store
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.earlier_agreements import tell_what_begins_anew
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.observed import Observed, RoundSeen
from mixbayes.node.rounds.follower import Follower
from mixbayes.node.rounds.leader import Leader
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import OVER
from mixbayes.node.rounds.status import Status
from mixbayes.node.serving.admission import MOST_CALLS, Admission
from mixbayes.node.serving.conversations import Conversations
from mixbayes.node.serving.dialling import dial
from mixbayes.node.serving.own_call import refuse_silent
from mixbayes.node.serving.server import Server, refuse_taken, threads_for
from mixbayes.node.tallies import Tallies
from mixbayes.node.witnessing import Witnessing
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.meter import Meter
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2_grpc import add_MixerServicer_to_server, add_PairServicer_to_server

MIXER, PAIR = "Mixer", "Pair"
_FAREWELL = 1.0
"""Seconds for the supply of transfers to end in order. Else it ends when the connection to mixer b is closed."""
_FULL_NAMES = {service: f"mixbayes.wire.v1.{service}" for service in (MIXER, PAIR)}


@dataclass(frozen=True)
class Settings:
    """What the operator decides."""

    federation: Federation
    name: str
    keys: Path
    state: Path
    listen: str | None = None
    reflection: bool = False


@dataclass(frozen=True)
class Mixer:
    """A mixer at work. At mixer a, `meter` counts the traffic with mixer b."""

    port: int
    store: Store
    meter: Meter
    observed: Observed
    status: Callable[[str], Status]
    """How the round stands for one hospital."""
    threads: tuple[threading.Thread, ...] = ()
    """If one of them ends, the mixer is of no use."""


@contextmanager
def running(settings: Settings, log: Log, clock: Callable[[], float] = time.time) -> Iterator[Mixer]:
    """A mixer at work, as long as the block lasts."""
    federation, name = settings.federation, settings.name
    if federation.two_party:
        raise Unsupported("This federation has no mixers: its two hospitals compute with each other.")
    address, title = settings.listen or federation.mixer(name).address, federation.title(name)
    with ExitStack() as stack:
        identity = Identity(settings.keys, name, log, federation.key_of(name))
        identity.tell_soon()
        owner = f"{title} of {federation.name}"
        database = stack.enter_context(Database.open(settings.state, COMPUTING_PARTY, identity.seal, owner))
        refuse_taken(address)
        _tell_other_port(address, federation.mixer(name).address, log)
        rounds = Rounds(database, federation, title, clock)
        tallies = Tallies()
        store = Store(rounds, name, Witnessing(database, title, clock, rounds.last_sealed, log), tallies)
        rounds.when_changed(partial(_changed, store, log))
        tell_what_begins_anew(log, federation, settings.state, rounds.replaced)
        reception = Reception(store, Conversations(federation.policy.timeout, log), Watch())
        part = _leading(stack, reception, identity, log) if name == "a" else _led(reception)
        stack.callback(reception.conversations.close)
        stack.callback(store.supply.close)
        admit = partial(_admit, federation)
        admission = Admission(title, federation, admit, log, identity.revoked, tallies=tallies)
        names = list(_FULL_NAMES.values())[: len(part.services)]
        server = Server(
            address,
            identity.credentials,
            admission,
            part.services,
            names,
            reflected=settings.reflection,
            streams=part.streams,
            callers=len(federation.names),
        )
        stack.enter_context(server)
        answers = partial(refuse_silent, address, server.port, identity)
        answers()
        part.begin()
        log.info("ready", address=address, port=server.port, round=store.rounds.current().number)
        observed = Observed(
            federation,
            name,
            identity,
            settings.state,
            tallies,
            round=part.seen(rounds),
            given_away=rounds.given_away,
            trails=store.witnessing.findings,
            answers=answers,
        )
        status = partial(_status, reception, part.waiting)
        yield Mixer(server.port, store, part.meter, observed, status, (*server.threads, *part.threads))


@dataclass(frozen=True)
class _Part:
    """What differs between the two mixers: their services, and the work that they begin by themselves."""

    services: list[Callable[[grpc.Server], None]]
    begin: Callable[[], None] = lambda: None
    meter: Meter = field(default_factory=Meter)
    waiting: Callable[[], str] = lambda: ""
    """What the round waits for."""
    streams: int = 2 * MOST_CALLS
    threads: tuple[threading.Thread, ...] = ()

    def seen(self, rounds: Rounds) -> Callable[[], RoundSeen]:
        return lambda: rounds.seen(waiting=self.waiting())


def _leading(stack: ExitStack, reception: Reception, identity: Identity, log: Log) -> _Part:
    """Mixer a dials mixer b and leads, in a thread of its own."""
    store = reception.store
    peer = dial(store.federation, identity, "b", reception.watch, traffic=store.tallies.traffic)
    led = LedMixer(stack.enter_context(peer), store.witnessing)
    wake, stopped = threading.Event(), threading.Event()
    leader = Leader(store.rounds, led, partial(train_with, led, store), log)
    thread = threading.Thread(target=lead, args=(leader, wake, stopped), name="leader")
    stack.callback(_end, thread)
    stack.callback(wake.set)
    stack.callback(stopped.set)
    service = LeadingService(reception, led, leader, wake)
    supplying = threading.Thread(target=keep_supplied, args=(store.supply, led, log), name="supply", daemon=True)
    stack.callback(_end, supplying, _FAREWELL)

    def begin() -> None:
        thread.start()
        supplying.start()

    return _Part(
        [partial(add_MixerServicer_to_server, service)], begin, led.peer.meter, service.waiting, threads=(thread,)
    )


def _led(reception: Reception) -> _Part:
    """Mixer b answers hospitals, and mixer a."""
    hospitals = LedService(reception)
    pair = PairService(reception, Follower(reception.store.rounds), hospitals)
    return _Part(
        [partial(add_MixerServicer_to_server, hospitals), partial(add_PairServicer_to_server, pair)],
        streams=threads_for(len(reception.store.federation.names)),  # mixer a calls for all over one connection
    )


def _status(reception: Reception, waiting: Callable[[], str], hospital: str) -> Status:
    return reception.status(hospital, waiting())


def _tell_other_port(listens: str, agreed: str, log: Log) -> None:
    """A node that listens elsewhere looks well to itself, and nobody may reach it."""
    if listens.rpartition(":")[2] != agreed.rpartition(":")[2]:
        log.warning(
            "nobody reaches this node unless the agreed address is forwarded here", listens=listens, agreed=agreed
        )


def _changed(store: Store, log: Log, number: int, state: str) -> None:
    log.info(state, round=number)
    if state in OVER:
        store.forget()


def _end(thread: threading.Thread, patience: float = 10.0) -> None:
    if thread.is_alive():  # not if the node could not begin
        thread.join(patience)


def _admit(federation: Federation, name: str, service: str) -> bool:
    """Hospitals call mixers, and mixer a calls mixer b."""
    return federation.role_of(name) == "party" if service == MIXER else name == "a"
