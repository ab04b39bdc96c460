"""A hospital's node where there are no mixers: the two hospitals are the computing parties themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.earlier_agreements import tell_what_begins_anew
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.observed import Observed, RoundSeen
from mixbayes.node.rounds.follower import Follower
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import OVER
from mixbayes.node.serving.admission import Admission
from mixbayes.node.serving.conversations import Conversations
from mixbayes.node.serving.dialling import dial
from mixbayes.node.serving.own_call import refuse_silent
from mixbayes.node.serving.server import Server, refuse_taken
from mixbayes.node.tallies import Tallies
from mixbayes.node.witnessing import Witnessing
from mixbayes.parties.alone.dialling import Dialler, ListeningHospital
from mixbayes.parties.alone.hospital import PartnerHospital, StandingTalk
from mixbayes.parties.alone.listening import PairService
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.applications import refuse_elsewhere, serve_applications
from mixbayes.parties.asking import numbering
from mixbayes.parties.background import keep_going
from mixbayes.parties.settings import RunningHospital, Settings
from mixbayes.protocol.errors import LocalError
from mixbayes.transport.meter import Meter
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2_grpc import add_PairServicer_to_server

PAIR = "mixbayes.wire.v1.Pair"
_TICK, _FAREWELL = 0.25, 5.0


@dataclass(frozen=True)
class _Part:
    """What differs between the hospital that listens and the one that dials."""

    hospital: PartnerHospital
    hang_up: Callable[[], None]
    """Ends the calls that wait for the other hospital."""
    steps: tuple[Callable[[], object], ...] = ()
    meters: tuple[Meter, ...] = ()
    threads: tuple[threading.Thread, ...] = ()
    answers: tuple[Callable[[], None], ...] = ()
    """Raise unless the server for the other hospital answers a call of this node's own."""
    waiting: Callable[[], str] = lambda: ""
    """What the round waits for."""


@contextmanager
def running(settings: Settings, log: Log, clock: Callable[[], float] = time.time) -> Iterator[RunningHospital]:
    """One of two hospitals at work, as long as the block lasts. It serves its applications and the other hospital."""
    federation, name = settings.federation, settings.name
    title = federation.title(federation.party(name).name)
    refuse_elsewhere(settings.listen)
    with ExitStack() as stack:
        identity = Identity(settings.keys, name, log, federation.key_of(name))
        identity.tell_soon()
        owner = f"{title} of {federation.name}"
        database = stack.enter_context(Database.open(settings.state, COMPUTING_PARTY, identity.seal, owner))
        for address in filter(None, (settings.listen, settings.listen_partner or federation.party(name).address)):
            refuse_taken(address)
        rounds = Rounds(database, federation, title, clock)
        witnessing = Witnessing(database, title, clock, rounds.last_sealed, log)
        tallies = Tallies()
        store = PartnerStore(rounds, name, settings.vector, witnessing, tallies, settings.own_release)
        rounds.when_changed(partial(_changed, store, log))
        tell_what_begins_anew(log, federation, settings.state, rounds.replaced)
        stack.callback(store.close)
        store.contribute()
        standing = StandingTalk()
        join = _listen if federation.party(name).address else _dial
        part = join(stack, settings, identity, store, standing, log)
        server = serve_applications(stack, settings, identity, part.hospital, tallies, log)
        if settings.protection:
            store.rounds.write_down(title, "protected", "own table", settings.audited_protection)
        own_call = partial(refuse_silent, settings.listen, server.port, identity)
        own_call()
        log.info("ready", port=server.port, rows=settings.rows)
        steps = *part.steps, store.contribute, part.hospital.keep_warm
        threads = _go_on(stack, steps, (standing.leave, part.hang_up), log)
        observed = Observed(
            federation,
            name,
            identity,
            settings.state,
            tallies,
            round=partial(_seen, store, part),
            given_away=rounds.given_away,
            trails=witnessing.findings,
            answers=partial(_each, (own_call, *part.answers)),
        )
        at_work = (*server.threads, *part.threads, *threads)
        yield RunningHospital(server.port, observed, part.hospital.seen, part.meters, at_work)


def _listen(
    stack: ExitStack, settings: Settings, identity: Identity, store: PartnerStore, standing: StandingTalk, log: Log
) -> _Part:
    """The hospital with an address: it answers the other hospital's certificate there, and no other."""
    follower, conversations = Follower(store.rounds), Conversations(store.federation.policy.timeout, log)
    pair = PairService(store, follower, conversations, standing, Watch())
    server, answers = _serve_partner(stack, settings, identity, pair, store.tallies, log)
    numbered, own = numbering(identity.seal), settings.own_patients
    hospital = PartnerHospital(store, own, standing, lambda: "", numbered, follower.open, follower.close)
    return _Part(hospital, conversations.close, threads=tuple(server.threads), answers=(answers,))


def _dial(
    stack: ExitStack, settings: Settings, identity: Identity, store: PartnerStore, standing: StandingTalk, log: Log
) -> _Part:
    """The hospital without an address: it dials the other one and leads."""
    traffic = store.tallies.traffic
    peer = stack.enter_context(dial(store.federation, identity, store.other, Watch(), traffic=traffic))
    dialler = Dialler(store, ListeningHospital(peer, store), standing, log)
    leader = dialler.leader
    numbered, own = numbering(identity.seal), settings.own_patients
    hospital = PartnerHospital(store, own, standing, lambda: dialler.waiting, numbered, leader.open, leader.close)
    steps = dialler.lead, dialler.ask, dialler.answer
    return _Part(hospital, peer.close, steps, (peer.meter,), waiting=lambda: dialler.waiting)


def _go_on(
    stack: ExitStack, steps: Iterable[Callable[[], object]], ending: Sequence[Callable[[], None]], log: Log
) -> list[threading.Thread]:
    """Repeat each step in a thread of its own, until the stack unwinds."""
    stopped = threading.Event()
    threads = [threading.Thread(target=keep_going, args=(step, stopped, log, _TICK), daemon=True) for step in steps]
    for thread in threads:
        stack.callback(_wait_for, thread)
    for end in reversed(ending):
        stack.callback(end)
    stack.callback(stopped.set)
    for thread in threads:
        thread.start()
    return threads


def _wait_for(thread: threading.Thread) -> None:
    if thread.is_alive():  # not if the system had no more threads
        thread.join(_FAREWELL)


def _changed(store: PartnerStore, log: Log, number: int, state: str) -> None:
    log.info(state, round=number)
    if state in OVER:
        store.close()


def _seen(store: PartnerStore, part: _Part) -> RoundSeen:
    return store.rounds.seen(store.name, store.apart() or part.waiting())


def _each(looks: Iterable[Callable[[], None]]) -> None:
    for look in looks:
        look()


def _serve_partner(
    stack: ExitStack, settings: Settings, identity: Identity, pair: PairService, tallies: Tallies, log: Log
) -> tuple[Server, Callable[[], None]]:
    """At the agreed address, for the other hospital's certificate alone; and a look whether it answers."""
    federation, name = settings.federation, settings.name
    address = settings.listen_partner or federation.party(name).address
    if not address:
        raise LocalError("A hospital without an address was to listen.")
    title, admit = federation.title(name), lambda caller, service: caller != name
    admission = Admission(title, federation, admit, log, identity.revoked, tallies=tallies)
    service = partial(add_PairServicer_to_server, pair)
    server = stack.enter_context(Server(address, identity.credentials, admission, [service], [PAIR]))
    answers = partial(refuse_silent, address, server.port, identity)
    answers()
    return server, answers
