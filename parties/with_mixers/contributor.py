"""A hospital's node at work between questions: contribute to the current round, and stay ready to ask."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mixbayes.node.log import Log, logged
from mixbayes.node.rounds.rounds import COLLECTING, OVER
from mixbayes.parties.with_mixers.both_mixers import BothMixers, Status, combined
from mixbayes.parties.with_mixers.contribution import Messages
from mixbayes.parties.with_mixers.outbox import Outbox
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import AlreadyContributed, Disagreement, NotAdmitted

TICK = 2.0
HOPELESS = Disagreement, NotAdmitted
"""The other end has looked at this node and refuses it: waiting does not mend that."""


class Contributor:
    """Contributes once to every round that collects, to both mixers, the same bytes however often it takes."""

    def __init__(
        self, name: str, mixers: BothMixers, outbox: Outbox, make: Callable[[int], Messages], log: Log
    ) -> None:
        self._name = name
        self._mixers = mixers
        self._outbox = outbox
        self._make = make
        self._log = log
        self._said: tuple[object, ...] = ()
        self._noticed = self._sent = self._lost = 0

    def step(self) -> str:
        """See to it that both mixers have what is due; returns the state of the round."""
        told, silent = self._mixers.reports()
        for error in silent.values():
            if isinstance(error, HOPELESS):
                raise error
        for name, report in told.items():
            if report.state == COLLECTING and self._name not in report.contributed:
                self._send(name, report.round)
            elif self._name in report.contributed and self._sent != report.round:
                self._sent = report.round
                self._log.info("counted already", round=report.round, why="what was sent before counts in this round")
        if len(told) < 2:
            self._say("waiting", why="; ".join(str(error) for error in silent.values()))
            return ""
        status = combined(list(told.values()), silent)
        self._say(status.state, round=status.round, missing=", ".join(status.missing), reason=status.reason)
        self._notice_sealing(status)
        return status.state

    def begin(self) -> None:
        """The first step. Only what waiting cannot mend ends the node."""
        try:
            self.step()
        except HOPELESS:
            raise
        except MixbayesError as error:
            logged(self._log, error, "tried in vain")

    def _notice_sealing(self, status: Status) -> None:
        """Once for each round: it counts, also if it was sealed without this hospital, which may ask all the same."""
        if status.state in (COLLECTING, *OVER) or self._noticed == status.round:
            return
        self._noticed = status.round
        self._outbox.sealed(status.round)
        if self._name not in status.missing:
            return
        why = "its contribution was not at both mixers when the round was sealed; the next round counts it again"
        self._log.warning("left out of the round", round=status.round, why=why)

    def _send(self, mixer: str, number: int) -> None:
        due = self._outbox.due(number, lambda: self._make(number))
        if mixer not in due:
            self._warn_of_loss(mixer, number)
            return
        try:
            receipt = self._mixers.contribute(mixer, due[mixer])
        except AlreadyContributed as error:
            logged(self._log, error, "not contributed", round=number)
            return
        self._sent = number
        self._outbox.acknowledged(number, mixer, receipt, len(due[mixer]))
        self._log.info("contributed", round=number, to=f"mixer {mixer}", bytes=len(due[mixer]))

    def _warn_of_loss(self, mixer: str, number: int) -> None:
        if self._lost != number:
            self._lost = number
            why = f"mixer {mixer} had acknowledged a contribution and has none; the next round will count this hospital"
            self._log.warning("lost", round=number, why=why, remedy="mixbayes round close, then mixbayes round new")

    def _say(self, event: str, **about: str | int) -> None:
        """In the log, once for each thing that changes."""
        if self._said != (said := (event, *about.values())):
            self._said = said
            self._log.info(event, **about)


def keep_going(step: Callable[[], object], stopped: threading.Event, log: Log, tick: float = TICK) -> None:
    """Step by step until the node stops; what goes wrong is said, once as long as it lasts, and tried again."""
    said = ""
    while not stopped.is_set():
        try:
            step()
            said = ""
        except Exception as error:  # noqa: BLE001 - the node goes on answering; its log has the place
            if said != (said := f"{type(error)} {error}") and not stopped.is_set():  # its own end is nobody's fault
                logged(log, error, "tried in vain" if isinstance(error, MixbayesError) else "a mistake of this program")
        stopped.wait(tick)
