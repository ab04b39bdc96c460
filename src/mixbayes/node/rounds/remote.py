"""The follower over gRPC: the leader calls a `RemoteFollower`, and the `FollowerService` at the other end answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import grpc

from mixbayes.node.log import LONGEST_TEXT, printable
from mixbayes.node.rounds.follower import Agreed, Follower
from mixbayes.node.rounds.record import Round
from mixbayes.node.rounds.status import STEP, Status, decode
from mixbayes.node.serving.admission import caller_of
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.protocol.errors import WrongLength
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import Chunk, Failure, Held, Holdings, ReportRequest, RoundNumber, RoundReport, Trained
from mixbayes.wire.v1.node_pb2_grpc import PairServicer, PairStub


class RemoteFollower:
    """Mixer b, or the hospital that listens, as its leader sees it."""

    def __init__(self, peer: Peer, witnessing: Unwitnessed = UNWITNESSED) -> None:
        self.peer = peer
        self.stub = PairStub(peer.channel)
        self._witnessing = witnessing

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Agreed:
        request = self._witnessing.asking(self.peer.title, _holdings(number, chosen, sealed=False))
        reply = self.peer.call(self.stub.Seal, request, "sealing the round")
        self._witnessing.heard(self.peer.title, reply)
        return Agreed(_by_hospital(reply), reply.sealed)

    def confirm(self, number: int, run: bytes) -> bool:
        request = self._witnessing.asking(self.peer.title, Trained(round=number, run=run))
        reply = self.peer.call(self.stub.Confirm, request, "confirming the model")
        self._witnessing.heard(self.peer.title, reply)
        return bool(run) and reply.run == run

    def fail(self, number: int, reason: str) -> None:
        self.peer.call(self.stub.FailRound, Failure(round=number, reason=reason), "ending the round")

    def close(self, number: int, actor: str) -> None:
        self.peer.call(self.stub.CloseRound, RoundNumber(round=number, actor=actor), "closing the round")

    def open(self, number: int, actor: str) -> None:
        self.peer.call(self.stub.OpenRound, RoundNumber(round=number, actor=actor), "opening a round")

    def report(self, now: Round | None = None) -> Status:
        """The status of the round there. `now` is the round here, if the follower is to know it."""
        request = ReportRequest(round=now.number, state=now.state.value) if now else ReportRequest()
        reply = self.peer.call(self.stub.Report, self._witnessing.asking(self.peer.title, request), STEP)
        self._witnessing.heard(self.peer.title, reply)
        return decode(reply, self.peer.title)


class FollowerService(PairServicer):
    """Answers the leader, whose title is `leader`. The subclass holds the conversations between the two."""

    def __init__(self, follower: Follower, leader: str, witnessing: Unwitnessed) -> None:
        self.follower = follower
        self._leader = leader
        self._witnessing = witnessing

    def Seal(self, request: Holdings, context: grpc.ServicerContext) -> Holdings:
        proposed = _by_hospital(request)
        self.before_sealing(request.round, proposed)
        agreed = self.follower.seal(request.round, proposed)
        reply = _holdings(request.round, agreed.chosen, agreed.sealed)
        return self._witnessing.answering(self._leader, request, reply)

    def Confirm(self, request: Trained, context: grpc.ServicerContext) -> Trained:
        same = self.follower.confirm(request.round, request.run)
        reply = Trained(round=request.round, run=request.run if same else b"")
        return self._witnessing.answering(self._leader, request, reply)

    def OpenRound(self, request: RoundNumber, context: grpc.ServicerContext) -> RoundReport:
        self.follower.open(request.round, self._actor(request))
        return self.report_for(caller_of(context))

    def CloseRound(self, request: RoundNumber, context: grpc.ServicerContext) -> RoundReport:
        self.follower.close(request.round, self._actor(request))
        return self.report_for(caller_of(context))

    def _actor(self, request: RoundNumber) -> str:
        """Who wants it, as the leader says, in words that the audit trail takes."""
        actor = printable(request.actor)
        if len(actor) > LONGEST_TEXT:
            raise WrongLength(self._leader, "ordering a round", "the name of who wants it is too long")
        return actor

    def FailRound(self, request: Failure, context: grpc.ServicerContext) -> RoundReport:
        # What it blames on others is its own word: nobody shall read it as this node's.
        self.follower.fail(request.round, f"{self._leader} says: {printable(request.reason)}")
        return self.report_for(caller_of(context))

    def Report(self, request: ReportRequest, context: grpc.ServicerContext) -> RoundReport:
        self.leader_stands_at(request.round, request.state)
        return self._witnessing.answering(self._leader, request, self.report_for(caller_of(context)))

    @abstractmethod
    def Talk(self, request_iterator: Iterator[Chunk], context: grpc.ServicerContext) -> Iterator[Chunk]: ...

    @abstractmethod
    def report_for(self, caller: str) -> RoundReport:
        """The status of the round, for this caller."""

    def leader_stands_at(self, number: int, state: str) -> None:
        """The leader's last round, and its state in the leader's own words."""

    def before_sealing(self, number: int, proposed: Mapping[str, bytes]) -> None:
        """Called with the set that the leader proposes, before the follower answers."""


def _holdings(number: int, chosen: Mapping[str, bytes], sealed: bool) -> Holdings:
    held = [Held(hospital=name, id=id) for name, id in chosen.items()]
    return Holdings(round=number, held=held, sealed=sealed)


def _by_hospital(holdings: Holdings) -> dict[str, bytes]:
    return {one.hospital: one.id for one in holdings.held}
