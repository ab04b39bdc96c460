"""The status of a round, as a computing party reports it to a hospital, and the one codec of it on the wire.

A `Status` is made of the `Round` on disk and of the hospital's budget. It travels as a RoundReport, and a hospital that
asks both mixers combines what they report into one status of the same form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mixbayes.agreement.agreement import Federation
from mixbayes.node.log import printable
from mixbayes.node.rounds.record import LEFT_OUT, REFUSED, Round
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED, State
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.node.serving.protocols import OLDEST, OURS, PROTOCOL, numbers_from
from mixbayes.protocol.errors import DifferentSets, MixbayesError, OutOfRange
from mixbayes.transport.errors import OverBudget, RefusedByPolicy, TooEarly
from mixbayes.wire.v1.node_pb2 import RoundReport

STEP = "asking for the status"
_LONGEST_VERSION, _LONGEST_REASON, _MOST_TRAILS = 40, 4000, 200
"""What a report may say at most, in characters and in trails."""
_PROGRESS = (FAILED, CLOSED, COLLECTING, SEALED, TRAINED, SERVING)
"""The state that holds for both computing parties is the one that comes first here."""


@dataclass(frozen=True)
class Status:
    """How a round stands for one hospital, as far as the computing parties that answered know."""

    round: int
    state: State
    reason: str = ""
    """Why the round failed, or what it waits for."""
    contributed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """The hospitals whose contribution is not the counts of any table, or on which the mixers have no verdict."""
    budget: int = 0
    """The rows that the hospital may ask about in this round."""
    budget_left: int = 0
    protection: str = ""
    """What the hospital's own node did to its table before it counted it."""
    epsilon_spent: float = 0.0
    """By the largest ledger of the nodes that answered, what the noise of all rounds has used of the agreed total."""
    noise_charges: int = 0
    """How often noise was charged under this agreement, by the larger of these ledgers."""
    trails: list[str] = field(default_factory=list)
    """What is wrong with audit trails, by what the nodes that answered noted."""
    software: Mapping[str, str] = field(default_factory=dict)
    """By the title of a computing party that answered, the version that it runs."""
    unreachable: Mapping[str, MixbayesError] = field(default_factory=dict)
    """The computing parties that did not answer, and why."""

    def refuse_over_budget(self, rows: int) -> Status:
        """Refuse a question of this many rows before any of them is charged; returns this status."""
        if rows > self.budget_left:
            raise OverBudget(
                f"{rows} rows are asked about, and of the {self.budget} that this hospital may ask about in round "
                f"{self.round} {self.budget_left} are left. Nothing was charged. Ask about fewer."
            )
        return self

    def refuse_unless_serving(self, federation: Federation) -> None:
        """Raise why the round answers no questions."""
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


def status_of(now: Round, hospitals: Iterable[str], budget: int, budget_left: int, waiting: str = "") -> Status:
    """The status of a round on disk. `waiting` says what the round waits for."""
    held = now.contributions
    refused = [name for name, one in held.items() if one.verdict is REFUSED]
    contributed = [name for name, one in held.items() if one.verdict not in (REFUSED, LEFT_OUT)]
    there = {*contributed, *refused}
    missing = [name for name in hospitals if name not in there]
    return Status(now.number, now.state, now.reason or waiting, contributed, missing, refused, budget, budget_left)


def encode(status: Status, clock: float = 0.0) -> RoundReport:
    """The message of a status. `clock` is this node's time in seconds since 1970, if it tells its time."""
    return RoundReport(
        round=status.round,
        state=status.state.value,
        reason=status.reason,
        contributed=status.contributed,
        missing=status.missing,
        refused=status.refused,
        budget=status.budget,
        budget_left=status.budget_left,
        clock=clock,
        software=SOFTWARE,
        protection=status.protection,
        epsilon_spent=status.epsilon_spent,
        noise_charges=status.noise_charges,
        trails=status.trails,
        protocol=PROTOCOL,
        oldest_protocol=OLDEST,
    )


def decode(report: RoundReport, peer: str) -> Status:
    """The status in a message of this peer."""
    if report.state not in list(State):
        raise OutOfRange(peer, STEP, "it names a state that does not exist")
    return Status(
        round=report.round,
        state=State(report.state),
        reason=printable(report.reason[:_LONGEST_REASON]),
        contributed=list(map(printable, report.contributed)),
        missing=list(map(printable, report.missing)),
        refused=list(map(printable, report.refused)),
        budget=report.budget,
        budget_left=report.budget_left,
        protection=report.protection,
        epsilon_spent=max(0.0, report.epsilon_spent),
        noise_charges=report.noise_charges,
        trails=[printable(text[:_LONGEST_REASON]) for text in report.trails[:_MOST_TRAILS]],
        software={peer: printable(report.software[:_LONGEST_VERSION])},
    )


def spoken_with(report: RoundReport) -> int | None:
    """The number of the protocol that this node and the one that reports use with each other."""
    numbers = numbers_from(str(report.protocol), str(report.oldest_protocol or ""))
    return OURS.in_common(numbers) if numbers else None


def combined(reported: Sequence[Status], unreachable: Mapping[str, MixbayesError]) -> Status:
    """One status from those of several computing parties."""
    if len({status.round for status in reported}) > 1:
        at_a, at_b = (status.round for status in reported)
        raise DifferentSets(
            "mixer a and mixer b",
            STEP,
            f"they are at different rounds: mixer a is at round {at_a}, mixer b at round {at_b}",
            "`mixbayes round close` and `mixbayes round new` bring them together",
        )
    behind = min(reported, key=lambda status: _PROGRESS.index(status.state))
    in_all = list(dict.fromkeys(behind.contributed))
    for status in reported:
        there = frozenset(status.contributed)
        in_all = [name for name in in_all if name in there]
    refused = sorted({name for status in reported for name in status.refused})
    settled = frozenset((*in_all, *refused))
    listed = dict.fromkeys((*behind.contributed, *behind.missing))
    return Status(
        round=behind.round,
        state=behind.state,
        reason=next((status.reason for status in reported if status.reason), ""),
        contributed=in_all,
        missing=[name for name in listed if name not in settled],
        refused=refused,
        budget=behind.budget,
        budget_left=min(status.budget_left for status in reported),
        protection=reported[0].protection,
        epsilon_spent=max(status.epsilon_spent for status in reported),
        noise_charges=max(status.noise_charges for status in reported),
        trails=[text for status in reported for text in status.trails],
        software={title: version for status in reported for title, version in status.software.items()},
        unreachable=unreachable,
    )


def refuse_preliminary(federation: Federation) -> None:
    """Refuse questions where only cut points are found."""
    if federation.cuts:
        raise preliminary()


def preliminary() -> RefusedByPolicy:
    return RefusedByPolicy(
        "This agreement is preliminary: its round finds cut points and answers no questions. `mixbayes federation "
        "cuts` writes the agreement that is to follow."
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
