"""The two mixers, as a hospital sees them: it dials both, and believes what both say."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from mixbayes.agreement.agreement import Federation
from mixbayes.node.identity import Identity
from mixbayes.node.log import printable
from mixbayes.node.rounds.rounds import CLOSED, COLLECTING, FAILED, OVER, SEALED, SERVING, TRAINED
from mixbayes.node.serving.dialling import dial
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError, OutOfRange
from mixbayes.transport.conversation import AHEAD, ASKING, NOW, Bound, conversation
from mixbayes.transport.errors import DifferentSets, OverBudget, TooEarly
from mixbayes.transport.peer import Peer, chunks
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import ReportRequest, RoundNumber, RoundReport
from mixbayes.wire.v1.node_pb2_grpc import MixerStub

NAMES = "a", "b"
WARM_EVERY = 240.0
"""Seconds; a conversation in which nothing is said for much longer than that is ended."""
_PROGRESS = (FAILED, CLOSED, COLLECTING, SEALED, TRAINED, SERVING)
"""The state that holds for both is the one that comes first here."""


@dataclass(frozen=True)
class Status:
    """How the round stands, as far as the computing parties that answered say."""

    round: int
    state: str
    reason: str
    contributed: list[str]
    missing: list[str]
    refused: list[str]
    budget: int
    budget_left: int
    unreachable: Mapping[str, MixbayesError]
    """Who did not answer, and why."""
    protection: str = ""
    """What this hospital did to its own table, where its node was asked."""

    def refuse_over_budget(self, rows: int) -> Status:
        """Say so before any row is charged. Returned is this status."""
        if rows > self.budget_left:
            raise OverBudget(
                f"{rows} rows are asked about, and of the {self.budget} that this hospital may ask about in round "
                f"{self.round} {self.budget_left} are left. Nothing was charged. Ask about fewer."
            )
        return self

    def refuse_unless_serving(self, federation: Federation) -> None:
        """Say why there is nothing to ask yet."""
        if self.state == SERVING:
            return
        if self.state == COLLECTING and self.missing:
            who = ", ".join(federation.title(name) for name in self.missing)
            have = "has" if len(self.missing) == 1 else "have"
            raise TooEarly(
                f"Round {self.round} is still collecting: {who} {have} not contributed yet. "
                f"{_sentence(self.reason) or 'Try again later.'}"
            )
        if self.state in (FAILED, CLOSED):
            raise TooEarly(
                f"Round {self.round} has {'failed: ' + self.reason if self.state == FAILED else 'been closed.'} "
                "`mixbayes round new` begins another, to which all hospitals contribute again."
            )
        raise TooEarly(
            f"Round {self.round} is {self.state}: its training is not finished. {_sentence(self.reason)}".strip()
        )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


class BothMixers:
    """Made by `both_mixers`."""

    def __init__(self, peers: Mapping[str, Peer]) -> None:
        self.peers = peers
        self._stubs = {name: MixerStub(peer.channel) for name, peer in peers.items()}

    def reports(self) -> tuple[dict[str, RoundReport], dict[str, MixbayesError]]:
        """What each says, and who does not answer."""
        told, silent = {}, {}
        for name, peer in self.peers.items():
            try:
                told[name] = self.report(name)
            except MixbayesError as error:
                silent[peer.title] = error
        return told, silent

    def report(self, name: str) -> RoundReport:
        return self.peers[name].call(self._stubs[name].Report, ReportRequest(), "asking for the status")

    def status(self) -> Status:
        """What both say; of one if the other does not answer."""
        told, silent = self.reports()
        if not told:
            raise next(iter(silent.values()))
        return combined(list(told.values()), silent)

    def next_round(self) -> int:
        """The number of the round to open; if only one of them has opened it, that one again."""
        earlier, last = sorted((self.report(name) for name in NAMES), key=lambda report: report.round)
        half_open = earlier.round < last.round and last.state == COLLECTING
        return last.round if half_open else last.round + 1

    def last_round(self) -> int:
        """The number of the current round; if they are at different ones, the later one."""
        return max(self.report(name).round for name in NAMES)

    def still_open(self) -> list[str]:
        """Which of them have a round that is not over, and which one."""
        reports = {self.peers[name].title: self.report(name) for name in NAMES}
        return [f"{who} has round {now.round}, {now.state}" for who, now in reports.items() if now.state not in OVER]

    def contribute(self, name: str, message: bytes) -> bytes:
        """Send one mixer its message; it acknowledges the contribution by its id once it has it on disk."""
        return self.peers[name].call(self._stubs[name].Contribute, chunks(message), "contribution").id

    def open_round(self, number: int) -> RoundReport:
        """Mixer a tells mixer b."""
        return self.peers["a"].call(self._stubs["a"].OpenRound, RoundNumber(round=number), "opening a round")

    def close_round(self, number: int) -> RoundReport:
        return self.peers["a"].call(self._stubs["a"].CloseRound, RoundNumber(round=number), "closing the round")

    @contextmanager
    def conversation(self) -> Iterator[tuple[Sequence[Channel], Sequence[Channel]]]:
        """Channels to mixer a and to mixer b, each for now and ahead, in one conversation of the three."""
        key, bound = secrets.token_hex(16), Bound()
        with ExitStack() as stack:
            to_a, to_b = (
                stack.enter_context(conversation(peer, stub.Ask, (NOW, AHEAD), ASKING, "", key, bound=bound))
                for peer, stub in zip(self.peers.values(), self._stubs.values(), strict=True)
            )
            yield to_a, to_b


@contextmanager
def both_mixers(federation: Federation, identity: Identity, watch: Watch) -> Iterator[BothMixers]:
    """Both, dialled when they are first needed."""
    with ExitStack() as stack:
        yield BothMixers({name: stack.enter_context(dial(federation, identity, name, watch)) for name in NAMES})


def combined(reports: list[RoundReport], unreachable: Mapping[str, MixbayesError]) -> Status:
    """One status of what several say."""
    if len({report.round for report in reports}) > 1:
        at_a, at_b = (report.round for report in reports)
        raise DifferentSets(
            "mixer a and mixer b",
            "asking for the status",
            f"they are at different rounds: mixer a is at round {at_a}, mixer b at round {at_b}",
            "`mixbayes round close` and `mixbayes round new` bring them together",
        )
    for report in reports:
        if report.state not in _PROGRESS:
            raise OutOfRange("a mixer", "asking for the status", "it names a state that does not exist")
    behind = min(reports, key=lambda report: _PROGRESS.index(report.state))
    in_all = [name for name in behind.contributed if all(name in report.contributed for report in reports)]
    refused = sorted({name for report in reports for name in report.refused})
    listed = [*behind.contributed, *behind.missing]
    return Status(
        round=behind.round,
        state=behind.state,
        reason=printable(next((report.reason for report in reports if report.reason), "")),
        contributed=list(map(printable, in_all)),
        missing=[printable(name) for name in listed if name not in in_all and name not in refused],
        refused=list(map(printable, refused)),
        budget=behind.budget,
        budget_left=min(report.budget_left for report in reports),
        unreachable=unreachable,
        protection=reports[0].protection,
    )
