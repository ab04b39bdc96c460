"""Everything that can keep a node from working, looked at in order; nothing is changed, and every wait ends soon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.keys.checks import KeyFolder
from mixbayes.node.disk.datastore import COMPUTING_PARTY as OF_COMPUTING_PARTY
from mixbayes.node.disk.datastore import HOSPITAL as OF_HOSPITAL
from mixbayes.node.disk.sqlite import FILE
from mixbayes.node.doctor.finding import Finding, Trouble, Verdict, fine, looking_at
from mixbayes.node.doctor.keys import checked, credentials, key_findings, state_key
from mixbayes.node.doctor.listening import port_finding, refuse_unhealthy
from mixbayes.node.doctor.machine import open_files, proxy_variables, room, software
from mixbayes.node.doctor.peers import Answer, clock_findings, dialled, peer_findings
from mixbayes.node.doctor.pins import pin_findings
from mixbayes.node.doctor.revoked import revoked_findings
from mixbayes.node.doctor.state import holder_of, promise_findings, standing_finding, state_findings
from mixbayes.node.doctor.trails import trail_findings
from mixbayes.node.serving.dialling import address_of
from mixbayes.parties.doctor import asked_round, table_findings
from mixbayes.parties.node_address import recalled
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.sources.how import How
from mixbayes.transport.tls import Credentials

ANY_PORT = ":0"


@dataclass(frozen=True)
class Patient:
    """The node that is looked at."""

    file: Path
    name: str
    keys: Path
    data: str | None
    how: How
    state: Path | None
    listen: str | None


def examined(patient: Patient) -> Iterator[Finding]:
    """One look after the other. What an earlier problem makes impossible to look at is left out."""
    now = datetime.now(UTC)
    agreed = None
    try:
        with looking_at("agreement"):
            agreed = read_federation(patient.file)
    except Trouble as trouble:
        yield trouble.finding
    else:
        _refuse_stranger(agreed, patient)
        yield fine("agreement", f"{patient.file} reads; its digest is {agreed.digest()}")
    yield software()
    yield open_files()
    files = KeyFolder(patient.keys, patient.name)
    of_keys = list(key_findings(files, now))
    yield from of_keys
    own, usable = None, not any(finding.verdict is Verdict.PROBLEM for finding in of_keys)
    if usable:
        listed = list(revoked_findings(files, now))
        yield from listed
        own = None if any(finding.verdict is Verdict.PROBLEM for finding in listed) else credentials(files)
    if agreed:
        yield from pin_findings(agreed, patient.name, files if usable else None)
    yield proxy_variables()
    answers: list[Answer] = []
    if agreed:
        yield from _peers(agreed, patient, own, answers)
    yield from clock_findings(now, answers)
    if agreed:
        yield from _own_port(agreed, patient, own)
    yield from _state(agreed, patient)
    if agreed and patient.data:
        yield from table_findings(agreed, patient.data, patient.how)
    if agreed:
        yield from _round(agreed, patient, answers)


def _refuse_stranger(agreed: Federation, patient: Patient) -> None:
    """Nothing can be said of a node that the agreement does not list, or of a mixer's table."""
    if agreed.role_of(patient.name) is None:
        agreed.party(patient.name)
    if patient.data and agreed.role_of(patient.name) == "mixer":
        raise Unsupported("A mixer has no table: leave --data out.")


def _peers(agreed: Federation, patient: Patient, own: Credentials | None, answers: list[Answer]) -> Iterator[Finding]:
    names = dialled(agreed, patient.name)
    if not names:
        yield fine("other nodes", f"{agreed.title(patient.name)} dials nobody; those who dial it look from their side")
    elif own is None:
        yield fine("other nodes", "not dialled, because the keys above would not do")
        return
    for name in names:
        if own and (answer := (yield from peer_findings(agreed, patient.name, name, address_of(agreed, name), own))):
            answers.append(answer)


def _own_port(agreed: Federation, patient: Patient, own: Credentials | None) -> Iterator[Finding]:
    holder = holder_of(patient.state) if patient.state else None
    for address in _listening(agreed, patient):
        yield port_finding(agreed.title(patient.name), patient.name, address, own, holder)


def _listening(agreed: Federation, patient: Patient) -> Iterator[str]:
    """Where the node listens: a mixer, the hospital that the other one dials, and a hospital's own applications."""
    role, listen = agreed.role_of(patient.name), patient.listen
    if agreed.listener and agreed.listener.name == patient.name:
        yield address_of(agreed, patient.name)
    if listen:
        yield from [] if listen.endswith(ANY_PORT) else [listen]
    elif role == "mixer":
        yield address_of(agreed, patient.name)


def _state(agreed: Federation | None, patient: Patient) -> Iterator[Finding]:
    if not patient.state:
        return
    if agreed:
        owner = f"{agreed.title(patient.name)} of {agreed.name}"
        key = state_key(patient.keys, patient.name)
        yield from state_findings(patient.state, _kind(agreed, patient.name), owner, key)
        if os.path.isfile(patient.state / FILE):
            yield from trail_findings(patient.state, agreed.title(patient.name))
            yield from promise_findings(patient.state, agreed)
    yield room(patient.state)


def _kind(agreed: Federation, name: str) -> str:
    """What the node's tables are called in its state folder."""
    hospital_of_mixers = not agreed.two_party and agreed.role_of(name) == "party"
    return (OF_HOSPITAL if hospital_of_mixers else OF_COMPUTING_PARTY).kind


def _round(agreed: Federation, patient: Patient, answers: list[Answer]) -> Iterator[Finding]:
    """By what the mixers say; a computing party has its own books."""
    if not agreed.two_party and agreed.role_of(patient.name) == "party":
        yield from asked_round(agreed, patient.name, answers)
    elif patient.state and os.path.isfile(patient.state / FILE):
        yield standing_finding(patient.state, agreed.names)


def ask_health(patient: Patient) -> None:
    agreed = read_federation(patient.file)
    _refuse_stranger(agreed, patient)
    own = checked(KeyFolder(patient.keys, patient.name), datetime.now(UTC))
    refuse_unhealthy(agreed.title(patient.name), patient.name, _own_address(agreed, patient), own)


def _own_address(agreed: Federation, patient: Patient) -> str:
    """Where the node is asked on its own machine."""
    if patient.listen and not patient.listen.endswith(ANY_PORT):
        return patient.listen
    if agreed.role_of(patient.name) == "mixer":
        return address_of(agreed, patient.name)
    return recalled(patient.keys, patient.name, agreed.digest())
