"""The rounds of the two mixers, as a hospital sees them: it dials both, and combines what they report."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from mixbayes.agreement.agreement import Federation
from mixbayes.node.identity import Identity
from mixbayes.node.rounds.state import COLLECTING, OVER
from mixbayes.node.rounds.status import STEP, Status, combined, decode
from mixbayes.node.serving.dialling import dial
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.peer import Peer
from mixbayes.transport.traffic import Traffic
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import ReportRequest, RoundNumber, RoundReport
from mixbayes.wire.v1.node_pb2_grpc import MixerStub

NAMES = "a", "b"
Reply = TypeVar("Reply")


class RoundsAtBoth:
    """Made by `rounds_at_both`."""

    def __init__(self, peers: Mapping[str, Peer], witnessing: Unwitnessed = UNWITNESSED) -> None:
        self.peers = peers
        self._witnessing = witnessing
        self.last: dict[str, Status] = {}
        """By the mixer's name, the last status that it reported."""
        self._stubs = {name: MixerStub(peer.channel) for name, peer in peers.items()}

    def reports(self) -> tuple[dict[str, Status], dict[str, MixbayesError]]:
        """By the mixer's name, the status that it reports; by its title, why it does not answer."""
        answered, silent = {}, {}
        for name, found in zip(NAMES, self.at_once(self._report_or_error), strict=True):
            title = self.peers[name].title
            if isinstance(found, MixbayesError):
                silent[title] = found
            else:
                self._witnessing.heard(title, found)
                answered[name] = decode(found, title)
        self.last |= answered
        return answered, silent

    def at_once(self, call: Callable[[str], Reply]) -> list[Reply]:
        """What the same call returns of mixer a and of mixer b, by their names. Neither waits for the other."""
        of_b: list[Reply] = []
        other = threading.Thread(target=lambda: of_b.append(call("b")), name="asking mixer b", daemon=True)
        try:
            other.start()
        except RuntimeError:  # the system has no thread left
            return [call("a"), call("b")]
        of_a = call("a")
        other.join()
        return [of_a, *of_b]

    def report(self, name: str) -> Status:
        return decode(self._report(name), self.peers[name].title)

    def _report(self, name: str) -> RoundReport:
        report = self._reported(name)
        self._witnessing.heard(self.peers[name].title, report)
        return report

    def _reported(self, name: str) -> RoundReport:
        peer = self.peers[name]
        return peer.call(self._stubs[name].Report, self._witnessing.asking(peer.title, ReportRequest()), STEP)

    def _report_or_error(self, name: str) -> RoundReport | MixbayesError:
        try:
            return self._reported(name)
        except MixbayesError as error:
            return error

    def status(self) -> Status:
        """The status at both, or at one of them if the other does not answer."""
        answered, silent = self.reports()
        if not answered:
            raise next(iter(silent.values()))
        return combined(list(answered.values()), silent)

    def next_round(self) -> int:
        """The number of the round to open; if only one of them has opened it, that one again."""
        earlier, last = sorted((self.report(name) for name in NAMES), key=lambda status: status.round)
        half_open = earlier.round < last.round and last.state == COLLECTING
        return last.round if half_open else last.round + 1

    def last_round(self) -> int:
        """The number of the current round; if they are at different ones, the later one."""
        return max(self.report(name).round for name in NAMES)

    def still_open(self) -> list[str]:
        """The mixers whose round is not over, and that round."""
        found = {self.peers[name].title: self.report(name) for name in NAMES}
        return [f"{who} has round {now.round}, {now.state}" for who, now in found.items() if now.state not in OVER]

    def open_round(self, number: int) -> RoundReport:
        """Mixer a tells mixer b."""
        return self.peers["a"].call(self._stubs["a"].OpenRound, RoundNumber(round=number), "opening a round")

    def close_round(self, number: int) -> RoundReport:
        return self.peers["a"].call(self._stubs["a"].CloseRound, RoundNumber(round=number), "closing the round")


@contextmanager
def rounds_at_both(federation: Federation, identity: Identity, watch: Watch) -> Iterator[RoundsAtBoth]:
    """Both, dialled when they are first needed."""
    with peers_of_both(federation, identity, watch) as peers:
        yield RoundsAtBoth(peers)


@contextmanager
def peers_of_both(
    federation: Federation, identity: Identity, watch: Watch, traffic: Traffic | None = None
) -> Iterator[dict[str, Peer]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(dial(federation, identity, name, watch, traffic=traffic)) for name in NAMES}
