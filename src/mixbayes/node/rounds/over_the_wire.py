"""The follower, reached over gRPC: what the leader calls, and what answers it there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import grpc

from mixbayes.node.log import printable
from mixbayes.node.rounds.follower import Agreed, Follower
from mixbayes.node.rounds.rounds import Round
from mixbayes.node.serving.admission import caller_of
from mixbayes.transport.peer import Peer
from mixbayes.wire.v1.node_pb2 import Chunk, Failure, Held, Holdings, ReportRequest, RoundNumber, RoundReport, Trained
from mixbayes.wire.v1.node_pb2_grpc import PairServicer, PairStub


class FollowerThere:
    """Mixer b, or the hospital that listens, as its leader sees it."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.stub = PairStub(peer.channel)

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Agreed:
        reply = self.peer.call(self.stub.Seal, _holdings(number, chosen, sealed=False), "sealing the round")
        return Agreed(_by_hospital(reply), reply.sealed)

    def confirm(self, number: int, run: bytes) -> bool:
        reply = self.peer.call(self.stub.Confirm, Trained(round=number, run=run), "confirming the model")
        return bool(run) and reply.run == run

    def fail(self, number: int, reason: str) -> None:
        self.peer.call(self.stub.FailRound, Failure(round=number, reason=reason), "ending the round")

    def close(self, number: int, actor: str) -> None:
        self.peer.call(self.stub.CloseRound, RoundNumber(round=number, actor=actor), "closing the round")

    def open(self, number: int, actor: str) -> None:
        self.peer.call(self.stub.OpenRound, RoundNumber(round=number, actor=actor), "opening a round")

    def report(self, now: Round | None = None) -> RoundReport:
        """How the round stands there; `now` is how it stands here, if it is to know."""
        request = ReportRequest(round=now.number, state=now.state) if now else ReportRequest()
        return self.peer.call(self.stub.Report, request, "asking for the status")


class FollowerHere(PairServicer):
    """Answers the leader. What the two say in conversations is the subclass's."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower

    def Seal(self, request: Holdings, context: grpc.ServicerContext) -> Holdings:
        told = _by_hospital(request)
        self.before_sealing(request.round, told)
        agreed = self.follower.seal(request.round, told)
        return _holdings(request.round, agreed.chosen, agreed.sealed)

    def Confirm(self, request: Trained, context: grpc.ServicerContext) -> Trained:
        same = self.follower.confirm(request.round, request.run)
        return Trained(round=request.round, run=request.run if same else b"")

    def OpenRound(self, request: RoundNumber, context: grpc.ServicerContext) -> RoundReport:
        self.follower.open(request.round, request.actor)
        return self.report_for(caller_of(context))

    def CloseRound(self, request: RoundNumber, context: grpc.ServicerContext) -> RoundReport:
        self.follower.close(request.round, request.actor)
        return self.report_for(caller_of(context))

    def FailRound(self, request: Failure, context: grpc.ServicerContext) -> RoundReport:
        self.follower.fail(request.round, printable(request.reason))
        return self.report_for(caller_of(context))

    def Report(self, request: ReportRequest, context: grpc.ServicerContext) -> RoundReport:
        self.hear(request.round, request.state)
        return self.report_for(caller_of(context))

    @abstractmethod
    def Talk(self, request_iterator: Iterator[Chunk], context: grpc.ServicerContext) -> Iterator[Chunk]: ...

    @abstractmethod
    def report_for(self, caller: str) -> RoundReport:
        """How the round stands."""

    def hear(self, number: int, state: str) -> None:
        """The leader has said where its last round stands."""

    def before_sealing(self, number: int, told: Mapping[str, bytes]) -> None:
        """The leader has said what it holds."""


def _holdings(number: int, chosen: Mapping[str, bytes], sealed: bool) -> Holdings:
    held = [Held(hospital=name, id=id) for name, id in chosen.items()]
    return Holdings(round=number, held=held, sealed=sealed)


def _by_hospital(holdings: Holdings) -> dict[str, bytes]:
    return {one.hospital: one.id for one in holdings.held}
