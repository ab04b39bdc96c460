"""Dialling another node of the federation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mixbayes.agreement.agreement import Federation
from mixbayes.node.identity import Identity
from mixbayes.node.serving.greeting import greeting
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.peer import Endpoint, Peer
from mixbayes.transport.probe import explain
from mixbayes.transport.traffic import Traffic
from mixbayes.transport.watch import Watch


def address_of(federation: Federation, name: str) -> str:
    """The address at which this node listens by the agreement."""
    member = federation.mixer(name) if federation.role_of(name) == "mixer" else federation.party(name)
    if not member.address:
        raise Unsupported(f"{federation.title(name)} has no address in the agreement: nobody dials it.")
    return member.address


@contextmanager
def dial(
    federation: Federation,
    identity: Identity,
    name: str,
    watch: Watch,
    address: str = "",
    traffic: Traffic | None = None,
) -> Iterator[Peer]:
    """The other node, as long as the block lasts. The connection is made at the first call."""
    address = address or address_of(federation, name)
    endpoint = Endpoint(federation.title(name), name, address, federation.key_of(name))
    header, deadline = greeting(federation), federation.policy.timeout
    peer = Peer(endpoint, identity.credentials, header, deadline, watch, explain, traffic)
    try:
        yield peer
    finally:
        peer.close()
