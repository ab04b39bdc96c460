"""The computing party that leads: it seals the round, has it trained, and sees to it that both serve the same model.

Each step looks at the disk, asks the other party one thing, and writes down what follows. A step can therefore be
repeated, after a lost reply or a restart, and does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from mixbayes.node.log import Log, error_fields
from mixbayes.node.repeated import Repeated
from mixbayes.node.rounds.follower import Agreed, may_seal
from mixbayes.node.rounds.record import Round
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED
from mixbayes.protocol.errors import DifferentSets, MixbayesError, PeerError, PeerGone, PeerSilent
from mixbayes.transport.errors import (
    BadState,
    Disagreement,
    NotAdmitted,
    RefusedByPolicy,
    Revoked,
    RoundFailed,
    RoundOver,
    TooEarly,
    Unreachable,
    WrongKey,
)
from mixbayes.transport.status import public_text

ATTEMPTS = 5
"""A training that breaks off for another reason than a connection is tried this many times."""
LOOK_EVERY = 60.0
"""Seconds between two looks at whether the other party still serves the same model."""
_PASSING = (PeerGone, PeerSilent, Unreachable, Disagreement, NotAdmitted, WrongKey, Revoked, BadState)
"""The round waits after these errors, because time or an operator may mend them."""
_FINAL = (RoundFailed,)


class Other(Protocol):
    """The other computing party, as its leader sees it."""

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Agreed: ...

    def confirm(self, number: int, run: bytes) -> bool: ...

    def fail(self, number: int, reason: str) -> None: ...

    def close(self, number: int, actor: str) -> None: ...

    def open(self, number: int, actor: str) -> None: ...


class Leader:
    """Mixer a, or the hospital that dials. `train` runs one training with the other and keeps the model."""

    def __init__(self, rounds: Rounds, other: Other, train: Callable[[int], None], log: Log) -> None:
        self._rounds = rounds
        self._other = other
        self._train = train
        self._log = log
        self._repeated = Repeated()
        self._attempts = 0
        self._failure_reported: int | None = None
        """The last failed round of which the other party knows."""
        self._closing_reported: int | None = None
        """The last round that was closed without the other party, and of whose end it knows now."""
        self._agreed_on_service: float | None = None
        self.waiting = ""
        """What the round waits for, for people."""
        self.hindrance: Exception | None = None
        """The error that the last step ended with, if it is one that may pass."""

    def step(self) -> bool:
        """Bring the round one step further. True if there is something more to do at once. It never raises."""
        try:
            return self._tried()
        except Exception as error:  # noqa: BLE001 - such as a full disk: the next step finds it mended
            self._repeated.failed(self._log, error, "a step failed, and could not be written down")
            return False

    def open(self, number: int, actor: str) -> None:
        """A new round, first at the other party: if its reply gets lost, asking again does no harm."""
        now = self._rounds.current()
        if now.state == FAILED:
            self._other.fail(now.number, now.reason)
        if now.number < number and not now.over and not now.is_left_behind_by(number):
            raise RefusedByPolicy(
                f"Round {now.number} is {now.state}. A new one can begin once it is closed or failed: "
                "`mixbayes round close` ends it."
            )
        self._other.open(number, actor)
        self._rounds.open(number, actor)
        self._attempts = 0

    def close(self, number: int, actor: str) -> None:
        self._other.close(number, actor)
        self._rounds.close(number, actor)

    def _tried(self) -> bool:
        """`waiting` keeps its text until a step has succeeded, also while the step is tried again."""
        now, more, waits = self._rounds.current(), False, ""
        self.hindrance = None
        try:
            more = self._step(now)
        except _FINAL as error:
            self._give_up(now, _reason(error, self._rounds.me))
        except Exception as error:  # noqa: BLE001 - a mistake of this program ends a round, not the thread that leads
            if _may_pass(now, error):
                waits = self._waits(now, error)
            else:
                self._tried_in_vain(now, error)
        if self.waiting and not waits:
            self._log.info("waits no longer", round=now.number)
        self.waiting = waits
        return more

    def _waits(self, now: Round, error: Exception) -> str:
        """The text for people. The log gets it once, as long as it stays the same."""
        self.hindrance = error
        waits = f"waiting: {_public(error, self._rounds.me)}"
        if waits != self.waiting:
            self._log.warning("waiting", round=now.number, state=now.state, **error_fields(error))
        return waits

    def _tried_in_vain(self, now: Round, error: Exception) -> None:
        self._attempts += 1
        self._repeated.failed(self._log, error, "a step failed", round=now.number, state=now.state)
        if self._attempts >= ATTEMPTS:
            self._give_up(now, f"it was tried {ATTEMPTS} times: {_reason(error, self._rounds.me)}")

    def _step(self, now: Round) -> bool:
        if now.state == COLLECTING:
            return self._collect(now)
        if now.state == SEALED:
            self._train(now.number)
            return True
        if now.state == TRAINED or (now.state == SERVING and self._looks_again()):
            return self._confirm(now)
        if now.state == FAILED and self._failure_reported != now.number:
            self._other.fail(now.number, now.reason)
            self._failure_reported = now.number
        if now.state == CLOSED and now.reason and self._closing_reported != now.number:
            self._report_closing(now.number)
        return False

    def _report_closing(self, number: int) -> None:
        """The round was closed on this disk alone, by a backup that was put back; the other party may still serve."""
        with suppress(RoundOver):  # it is further
            self._other.close(number, self._rounds.me)
        self._closing_reported = number

    def _collect(self, now: Round) -> bool:
        held = now.sealed_set
        if not may_seal(self._rounds, held):
            return False
        agreed = self._other.seal(now.number, held)
        common = {name: id for name, id in held.items() if name in agreed.chosen}
        if not agreed.sealed and common != held and may_seal(self._rounds, common):
            agreed = self._other.seal(now.number, common)
        if agreed.sealed:
            self._rounds.seal(now.number, agreed.chosen)
        return agreed.sealed

    def _confirm(self, now: Round) -> bool:
        run = now.run or b""
        try:
            there = self._other.confirm(now.number, run)
        except RoundOver:
            if now.state != SERVING:
                raise
            self._rounds.close(now.number, self._rounds.me)  # the reply to closing it was lost
            return True
        if there:
            self._rounds.serve(now.number, run)
            self._agreed_on_service = self._rounds.clock()
            self._attempts = 0
        elif now.state == SERVING:
            self._give_up(now, "the other computing party has lost its model.")
        else:
            self._rounds.forget_model(now.number)
            raise DifferentSets("the other computing party", "confirming the model", "it has not kept this model")
        return True

    def _looks_again(self) -> bool:
        """After a start, and now and then: the other party may have been closed, or put back to an old state."""
        before = self._agreed_on_service
        return before is None or not 0 <= self._rounds.clock() - before < LOOK_EVERY

    def _give_up(self, now: Round, reason: str) -> None:
        self._rounds.fail(now.number, reason)
        self._attempts = 0
        self._agreed_on_service = None


def _may_pass(now: Round, error: Exception) -> bool:
    """A model that serves is given up only where the other party has none of it."""
    return isinstance(error, _PASSING) or (now.state == SERVING and not isinstance(error, TooEarly))


def _reason(error: Exception, me: str) -> str:
    """Why a round has failed. Whatever several nodes can have caused names the one that did."""
    if isinstance(error, PeerError):
        return f"{error.peer}, at {error.step}: {error.why}."
    return str(error) if isinstance(error, RoundFailed) else _public(error, me)


def _public(error: Exception, me: str) -> str:
    """What the other party and hospitals may read of an error."""
    if isinstance(error, MixbayesError):
        return public_text(error, me)
    return f"{me} says: this program made a mistake; its log has the place."
