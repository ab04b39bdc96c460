"""The two mixers, as a hospital sees them: it dials both, and combines what they report."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from mixbayes.agreement.agreement import Federation
from mixbayes.node.counts import STEP as COUNTS
from mixbayes.node.counts import counts_from
from mixbayes.node.cuts import STEP as CUTS
from mixbayes.node.cuts import cuts_from, size_of
from mixbayes.node.identity import Identity
from mixbayes.node.rounds.state import COLLECTING, OVER
from mixbayes.node.rounds.status import STEP, Status, combined, decode
from mixbayes.node.serving.dialling import dial
from mixbayes.node.witnessing import UNWITNESSED, Unwitnessed
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.cuts import Cuts
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets, MixbayesError
from mixbayes.transport.conversation import ASKING, NOW, Bound, conversation
from mixbayes.transport.peer import Peer, chunks
from mixbayes.transport.traffic import Traffic
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import ReportRequest, RoundNumber, RoundReport
from mixbayes.wire.v1.node_pb2_grpc import MixerStub

NAMES = "a", "b"
Reply = TypeVar("Reply")


class BothMixers:
    """Made by `both_mixers`."""

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

    def contribute(self, name: str, message: bytes) -> bytes:
        """Send one mixer its message. The mixer answers with the contribution's id once the message is on its disk."""
        return self.peers[name].call(self._stubs[name].Contribute, chunks(message), "contribution").id

    def counts(self, number: int, size: int) -> Words:
        """The noisy counts of a round: the sum of both mixers' shares."""
        of_a, of_b = self._kept(number, size)
        return of_a + of_b

    def cuts(self, number: int, federation: Federation) -> Cuts:
        """The cut points of a round, which both mixers know."""
        of_a, of_b = self._kept(number, size_of(federation))
        if of_a.tolist() != of_b.tolist():
            raise DifferentSets("mixer a and mixer b", CUTS, "they give different cut points")
        return cuts_from(of_a, federation, "mixer a and mixer b")

    def _kept(self, number: int, size: int) -> list[Words]:
        """So many words from each mixer."""
        return [
            counts_from(
                self.peers[name].answers(self._stubs[name].Counts, RoundNumber(round=number), COUNTS), size, name
            )
            for name in NAMES
        ]

    def open_round(self, number: int) -> RoundReport:
        """Mixer a tells mixer b."""
        return self.peers["a"].call(self._stubs["a"].OpenRound, RoundNumber(round=number), "opening a round")

    def close_round(self, number: int) -> RoundReport:
        return self.peers["a"].call(self._stubs["a"].CloseRound, RoundNumber(round=number), "closing the round")

    @contextmanager
    def conversation(self) -> Iterator[tuple[Channel, Channel]]:
        """Channels to mixer a and to mixer b, in one conversation of the three."""
        key, bound = secrets.token_hex(16), Bound()
        with ExitStack() as stack:
            (to_a,), (to_b,) = (
                stack.enter_context(conversation(peer, stub.Ask, (NOW,), ASKING, "", key, bound=bound))
                for peer, stub in zip(self.peers.values(), self._stubs.values(), strict=True)
            )
            yield to_a, to_b


@contextmanager
def both_mixers(
    federation: Federation,
    identity: Identity,
    watch: Watch,
    witnessing: Unwitnessed = UNWITNESSED,
    traffic: Traffic | None = None,
) -> Iterator[BothMixers]:
    """Both, dialled when they are first needed."""
    with ExitStack() as stack:
        peers = {name: stack.enter_context(dial(federation, identity, name, watch, traffic=traffic)) for name in NAMES}
        yield BothMixers(peers, witnessing)
