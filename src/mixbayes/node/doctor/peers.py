"""The nodes that this one dials: whether they answer, agree with this one, and have the same time."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import datetime

from mixbayes.agreement.agreement import Federation
from mixbayes.node.doctor.finding import Finding, Trouble, fine, looking_at, problem, warning
from mixbayes.node.doctor.route import route_findings
from mixbayes.node.rounds.status import spoken_with
from mixbayes.node.serving.greeting import SOFTWARE, greeting
from mixbayes.site_time import shown
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.peer import Endpoint, Peer
from mixbayes.transport.probe import explain
from mixbayes.transport.tls import Credentials
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import ReportRequest, RoundReport
from mixbayes.wire.v1.node_pb2_grpc import MixerStub, PairStub

PATIENCE = 10.0
NOTABLE, TOO_FAR = 30.0, 300.0
"""Seconds between two clocks: above the first a warning, above the second a problem."""


@dataclass(frozen=True)
class Answer:
    """What a peer reported, and how many seconds its clock is ahead of this one."""

    title: str
    report: RoundReport
    ahead: float


def dialled(federation: Federation, name: str) -> list[str]:
    """The nodes that this one dials."""
    if federation.two_party:
        listener = federation.listener
        return [listener.name] if listener and listener.name != name else []
    if federation.role_of(name) == "party":
        return [mixer.name for mixer in federation.mixers]
    return ["b"] if name == "a" else []


def peer_findings(
    federation: Federation, me: str, name: str, address: str, own: Credentials
) -> Generator[Finding, None, Answer | None]:
    """Check the way to the peer step by step, until one step fails. Returns what the peer reported, if it did."""
    title = federation.title(name)
    try:
        yield from route_findings(title, name, address, own)
        answer = _asked(federation, me, name, address, own)
    except Trouble as trouble:
        yield trouble.finding
        return None
    theirs = answer.report.software
    version = f"mixbayes {theirs}" if theirs == SOFTWARE else f"mixbayes {theirs} (here {SOFTWARE}, which fit together)"
    spoken = f"protocol {spoken_with(answer.report) or 'unknown'}"
    yield fine(f"agreement and version of {title}", f"the same agreement; {version}; {spoken}")
    return answer


def clock_findings(now: datetime, answers: list[Answer]) -> Iterator[Finding]:
    """This machine's clock against the clock of every node that answered."""
    here = shown(now)
    if not answers:
        yield fine("clock", f"{here}; no other node told its own, so compare it with a watch")
    for answer in answers:
        yield _compared(here, answer)


def _compared(here: str, answer: Answer) -> Finding:
    off = abs(answer.ahead)
    said = f"{here}; that of {answer.title} is {off:.0f} s {'ahead' if answer.ahead > 0 else 'behind'}"
    remedy = "Have both machines keep time by NTP: deadlines of rounds and certificates depend on it"
    if off > TOO_FAR:
        return problem("clock", said, remedy, Unreachable)
    return warning("clock", said, remedy) if off > NOTABLE else fine("clock", said)


def _asked(federation: Federation, me: str, name: str, address: str, own: Credentials) -> Answer:
    """Ask for the report. A hospital asks mixers; a computing party that leads asks the other one."""
    title = federation.title(name)
    deadline = min(PATIENCE, federation.policy.timeout)
    endpoint = Endpoint(title, name, address, federation.key_of(name))
    peer = Peer(endpoint, lambda: own, greeting(federation), deadline, Watch(), explain)
    hospital_of_mixers = not federation.two_party and federation.role_of(me) == "party"
    stub = MixerStub(peer.channel) if hospital_of_mixers else PairStub(peer.channel)
    try:
        with looking_at(f"agreement and version of {title}"):
            asked = time.time()
            report = peer.call(stub.Report, ReportRequest(), "asking for the status")
            return Answer(title, report, report.clock - (asked + time.time()) / 2)
    finally:
        peer.close()
