"""Where a hospital's commands ask how the round stands, and begin and end rounds.

What `mixbayes status` needs is here, without the arithmetic of questions, so that it starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from mixbayes.agreement.agreement import Federation
from mixbayes.node.identity import Identity
from mixbayes.node.rounds.state import OVER
from mixbayes.node.rounds.status import STEP, Status, decode
from mixbayes.node.serving.dialling import dial
from mixbayes.parties.node_address import recalled
from mixbayes.parties.with_mixers.rounds_at_both import RoundsAtBoth, rounds_at_both
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.peer import Peer
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1 import node_pb2
from mixbayes.wire.v1.node_pb2_grpc import PartyStub

_LATER = 15.0


class RoundsDesk(Protocol):
    """What a hospital's commands about rounds can have done."""

    def status(self) -> Status: ...

    def last_round(self) -> int: ...

    def next_round(self) -> int: ...

    def open_round(self, number: int) -> object: ...

    def close_round(self, number: int) -> object: ...

    def still_open(self) -> list[str]:
        """The nodes whose round is not over."""
        ...


class RoundsAtMixers:
    """At both mixers, for as long as the command runs."""

    def __init__(self, mixers: RoundsAtBoth, own: Callable[[], Status | None]) -> None:
        self._mixers = mixers
        self._own = own
        self.last_round = mixers.last_round
        self.next_round = mixers.next_round
        self.open_round = mixers.open_round
        self.close_round = mixers.close_round
        self.still_open = mixers.still_open

    def status(self) -> Status:
        """The status at both mixers, and what the own node says of its table, noise and trails, if that node runs.

        The own node asks the mixers too. If one of them is silent it is not asked: that would take as long again.
        """
        found = self._mixers.status()
        if found.unreachable or not (own := self._own()):
            return found
        trails = [*found.trails, *(one for one in own.trails if one not in found.trails)]
        spent = max(found.epsilon_spent, own.epsilon_spent)
        return replace(found, protection=own.protection, epsilon_spent=spent, trails=trails)


class RoundsAtOwnNode:
    """At the hospital's own node."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = PartyStub(peer.channel)

    def status(self) -> Status:
        return decode(self._peer.call(self._stub.Report, node_pb2.ReportRequest(), STEP), self._peer.title)

    def last_round(self) -> int:
        return self.status().round

    def next_round(self) -> int:
        return self.last_round() + 1

    def open_round(self, number: int) -> object:
        return self._peer.call(self._stub.OpenRound, node_pb2.RoundNumber(round=number), "opening a round")

    def close_round(self, number: int) -> object:
        return self._peer.call(self._stub.CloseRound, node_pb2.RoundNumber(round=number), "closing the round")

    def still_open(self) -> list[str]:
        now = self.status()
        return [] if now.state in OVER else [f"{self._peer.title} has round {now.round}, {now.state}"]


@contextmanager
def rounds_desk(federation: Federation, identity: Identity, keys: Path, node: str = "") -> Iterator[RoundsDesk]:
    """At both mixers; without mixers, at the hospital's own node."""
    if federation.two_party:
        with own_node(federation, identity, keys, node) as peer:
            yield RoundsAtOwnNode(peer)
        return
    with rounds_at_both(federation, identity, Watch()) as mixers:
        yield RoundsAtMixers(mixers, partial(own_status, federation, identity, keys, node))


@contextmanager
def own_node(federation: Federation, identity: Identity, keys: Path, node: str = "") -> Iterator[Peer]:
    """The hospital's own node, at this address or at the one beside its key."""
    address = node or recalled(keys, identity.name, federation.digest())
    with dial(federation, identity, identity.name, Watch(), address) as peer:
        peer.deadline += _LATER  # the node's own waits for others end first, and it says for whom
        yield peer


def own_status(federation: Federation, identity: Identity, keys: Path, node: str) -> Status | None:
    """What the hospital's own node reports, or nothing if it does not run."""
    try:
        with own_node(federation, identity, keys, node) as peer:
            return RoundsAtOwnNode(peer).status()
    except MixbayesError:
        return None
