"""The record of a round at a computing party, and what every event makes of it.

A record never changes: each event is a method that returns the record after it, or raises the error with which
`state.py` refuses the event. Nothing here touches a database. `disk/datastore.py` turns records into rows and back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from mixbayes.node.rounds.state import COLLECTING, OVER, TABLE, WITH_SET, Event, State
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import RefusedByPolicy, RoundFailed, RoundOver, TooEarly

LONGEST_REASON = 400


class Inclusion(StrEnum):
    """What became of a contribution. The texts are on disk."""

    HELD = "held"
    COUNTED = "counted"
    """The model counts it."""
    REFUSED = "refused"
    """It is not the counts of any table, or the mixers have no verdict on it."""
    LEFT_OUT = "left out"
    """It is not in the sealed set."""


HELD, COUNTED, REFUSED, LEFT_OUT = Inclusion


@dataclass(frozen=True)
class Held:
    """One contribution that this party holds: its id, and what became of it."""

    id: bytes
    verdict: Inclusion = HELD


@dataclass(frozen=True)
class Round:
    """Where a round stands at the computing party with the title `at`."""

    number: int
    state: State = COLLECTING
    reason: str = ""
    """Why the round failed or was closed."""
    opened: float = 0.0
    """Seconds since 1970."""
    run: bytes | None = None
    """Which training the model on disk comes from."""
    contributions: Mapping[str, Held] = field(default_factory=dict)
    """By hospital."""
    at: str = ""

    @property
    def over(self) -> bool:
        return self.state in OVER

    @property
    def sealed_set(self) -> dict[str, bytes]:
        """By hospital, the ids of the contributions that are not left out."""
        return sealed_set(self.contributions)

    def contribute(self, number: int, hospital: str, id: bytes) -> Round:
        """A hospital's first contribution to this round."""
        state = self._after(number, Event.CONTRIBUTE)
        return replace(self, state=state, contributions={**self.contributions, hospital: Held(id)})

    def propose(self, number: int) -> Round:
        """The leader proposes a set."""
        return replace(self, state=self._after(number, Event.PROPOSE))

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Round:
        """The set of the round is fixed. All chosen contributions are held here."""
        same = self.state in WITH_SET and self.sealed_set == dict(chosen)
        state = self._after(number, Event.SEAL_SAME if same else Event.SEAL)
        left_out = {name: LEFT_OUT for name in self.contributions if name not in chosen}
        return replace(self, state=state, contributions=self._judged(left_out))

    def train(self, number: int) -> Round:
        """A training reads the sealed set."""
        return replace(self, state=self._after(number, Event.TRAIN))

    def keep_model(self, number: int, run: bytes, refused: Iterable[str]) -> Round:
        """A training of the sealed set has ended. The model does not count the contributions of `refused`."""
        state = self._after(number, Event.KEEP_MODEL)
        refused = set(refused)
        verdicts = {name: REFUSED if name in refused else COUNTED for name in self.sealed_set}
        return replace(self, state=state, run=run, contributions=self._judged(verdicts))

    def confirm(self, number: int, run: bytes) -> Round:
        """The other party has the model of this training on disk."""
        return replace(self, state=self._after(number, Event.CONFIRM if self.run == run else Event.CONFIRM_OTHER))

    def forget_model(self, number: int) -> Round:
        """The other party does not have the model: the set is trained again."""
        return replace(self, state=self._after(number, Event.FORGET_MODEL), run=None)

    def answer(self, number: int) -> Round:
        """A question is answered from the model."""
        return replace(self, state=self._after(number, Event.ANSWER))

    def fail(self, number: int, reason: str) -> Round:
        """The round ends without a model. An order for another round, or for one that is over, changes nothing."""
        if number != self.number:
            return self
        state = self._after(number, Event.FAIL)
        return self if self.over else replace(self, state=state, reason=reason[:LONGEST_REASON])

    def close(self, number: int) -> Round:
        """This round ends, and so does any round before it: the other party may be further."""
        if number < self.number:
            raise RoundOver(f"{self.at} is at round {self.number}, not at {number}.")
        if number > self.number:
            return self.leave_behind()
        return replace(self, state=self._after(number, Event.CLOSE))

    def leave_behind(self, reason: str = "") -> Round:
        """Nothing more comes of this round, because a later one has begun elsewhere."""
        state = self._after(self.number, Event.LEAVE_BEHIND)
        return self if self.over else replace(self, state=state, reason=reason)

    def is_left_behind_by(self, number: int) -> bool:
        """Whether the other party has had rounds of which this party, which began anew, knows nothing."""
        return self.state is COLLECTING and number > self.number + 1

    def open_next(self, number: int, latest: int, opened: float) -> Round:
        """The round that follows this one, if its number is not above `latest`."""
        state = self._after(self.number, Event.OPEN_NEXT)
        if not self.number < number <= latest:
            raise RoundOver(f"{self.at} has had {self.number} rounds already; the next is {self.number + 1}.")
        return Round(number, state, opened=opened, at=self.at)

    def _after(self, number: int, event: Event) -> State:
        """The next state. An event of another round is refused first."""
        if number > self.number:
            raise TooEarly(f"{self.at} is at round {self.number}; there is no round {number} yet.")
        if number < self.number:
            raise RoundOver(f"{self.at} is at round {self.number}; round {number} is over.")
        cell = TABLE[event][self.state]
        if not isinstance(cell, State):
            raise self._refusal(cell)
        return cell

    def _refusal(self, kind: type[MixbayesError]) -> MixbayesError:
        if kind is RoundFailed:
            return kind(f"Round {self.number} failed at {self.at}: {self.reason} `mixbayes round new` begins another.")
        if kind is RefusedByPolicy:
            return kind(
                f"{self.at} has round {self.number}, which is {self.state}. A new one can begin once it is closed or "
                "failed: `mixbayes round close` ends it."
            )
        after = " What comes now belongs to another round." if kind is RoundOver else ""
        return kind(f"Round {self.number} is {self.state} at {self.at}.{after}")

    def _judged(self, verdicts: Mapping[str, Inclusion]) -> dict[str, Held]:
        """The contributions, some of them with another verdict."""
        held = self.contributions
        return {name: replace(one, verdict=verdicts.get(name, one.verdict)) for name, one in held.items()}


def sealed_set(contributions: Mapping[str, Held]) -> dict[str, bytes]:
    """By hospital, the ids of the contributions that are not left out."""
    return {name: one.id for name, one in contributions.items() if one.verdict is not LEFT_OUT}
