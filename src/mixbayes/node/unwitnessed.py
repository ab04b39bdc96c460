"""What two nodes say about each other's audit trails, of a program that has no trail."""

from __future__ import annotations

from typing import TypeVar

from mixbayes.wire.v1 import node_pb2 as wire

Request = TypeVar("Request", wire.ReportRequest, wire.Holdings, wire.Trained)
Reply = TypeVar("Reply", wire.RoundReport, wire.Holdings, wire.Trained)


class Unwitnessed:
    """A program without a trail, such as a command: it gives no head and notes none."""

    def asking(self, peer: str, request: Request) -> Request:
        """The request, with what this node has to say to the peer."""
        return request

    def heard(self, peer: str, reply: wire.RoundReport | wire.Holdings | wire.Trained) -> None:
        """The peer's reply to a request."""

    def answering(self, peer: str, request: wire.ReportRequest | wire.Holdings | wire.Trained, reply: Reply) -> Reply:
        """The reply to a peer's request, with what this node has to say if the peer said something."""
        return reply

    def findings(self) -> list[str]:
        """What is wrong with trails, for people."""
        return []


UNWITNESSED = Unwitnessed()
