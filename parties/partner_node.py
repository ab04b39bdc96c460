"""A hospital's node where there are no mixers: the two hospitals are the computing parties themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from mixbayes.node.admission import Admission
from mixbayes.node.conversations import Conversations
from mixbayes.node.database import Database
from mixbayes.node.dialling import dial
from mixbayes.node.follower import Follower
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.rounds import SCHEMA, Rounds
from mixbayes.node.server import Server
from mixbayes.parties.applications import serve_applications
from mixbayes.parties.contributor import keep_going
from mixbayes.parties.loopback import refuse_elsewhere
from mixbayes.parties.node import Party
from mixbayes.parties.partner_dialling import Dialler, Listening
from mixbayes.parties.partner_hospital import PartnerHospital, Standing
from mixbayes.parties.partner_listening import PairService
from mixbayes.parties.partner_store import PartnerStore
from mixbayes.parties.settings import Settings
from mixbayes.protocol.errors import LocalError
from mixbayes.transport.peer import Peer
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2_grpc import add_PairServicer_to_server

PAIR = "mixbayes.wire.v1.Pair"
_TICK = 0.25


@contextmanager
def running(settings: Settings, log: Log, clock: Callable[[], float] = time.time) -> Iterator[Party]:
    """One of two hospitals at work: in front its own applications, behind the other hospital."""
    federation, name = settings.federation, settings.name
    title = federation.title(federation.party(name).name)
    refuse_elsewhere(settings.listen)
    with ExitStack() as stack:
        identity = Identity(settings.keys, name, log)
        database = stack.enter_context(
            Database.open(settings.state, SCHEMA, identity.seal, f"{title} of {federation.name}")
        )
        store = PartnerStore(Rounds(database, federation, title, clock, partial(_say, log)), name, settings.vector)
        stack.callback(store.close)
        store.contribute()
        standing, watch = Standing(), Watch()
        conversations = Conversations(federation.policy.timeout, log)
        steps: list[Callable[[], object]] = []
        peer: Peer | None = None
        if federation.party(name).address:
            follower = Follower(store.rounds)
            hospital = PartnerHospital(
                store, standing, lambda: "", lambda n, who: follower.open(n, who), lambda n, who: follower.close(n, who)
            )
            pair = PairService(store, follower, conversations, standing, watch)
            _serve_partner(stack, settings, identity, pair, log)
        else:
            peer = stack.enter_context(dial(federation, identity, store.other, watch))
            dialler = Dialler(store, Listening(peer, store), standing, log)
            leader = dialler.leader
            hospital = PartnerHospital(store, standing, lambda: dialler.waiting, leader.open, leader.close)
            steps = [dialler.lead, dialler.ask, dialler.answer]
        server = serve_applications(stack, settings, identity, hospital, log)
        stack.callback(conversations.close)
        stopped = threading.Event()
        threads = [
            threading.Thread(target=keep_going, args=(step, stopped, log, _TICK), daemon=True)
            for step in (*steps, store.contribute, hospital.keep_warm)
        ]
        for thread in threads:
            stack.callback(thread.join, 5.0)
        if peer:
            stack.callback(peer.close)  # ends what waits for the other hospital
        stack.callback(standing.leave)
        stack.callback(stopped.set)
        if settings.protection:
            store.rounds.write_down(title, "protected", "own table", settings.noted_of_table)
        log.info("ready", port=server.port, rows=settings.rows)
        for thread in threads:
            thread.start()
        yield Party(server.port, (peer.meter,) if peer else ())


def _say(log: Log, number: int, state: str) -> None:
    log.info(state, round=number)


def _serve_partner(stack: ExitStack, settings: Settings, identity: Identity, pair: PairService, log: Log) -> None:
    """At the agreed address, for the other hospital's certificate alone."""
    federation, name = settings.federation, settings.name
    address = settings.listen_partner or federation.party(name).address
    if not address:
        raise LocalError("A hospital without an address was to listen.")
    admission = Admission(federation.title(name), federation, lambda caller, service: caller != name, log)
    service = partial(add_PairServicer_to_server, pair)
    stack.enter_context(Server(address, identity.credentials, admission, [service], [PAIR]))
