"""The round as the mixers last reported it: what a hospital's node knows of it without asking."""

from __future__ import annotations

from collections.abc import Callable

from mixbayes.node.observed import RoundSeen
from mixbayes.node.rounds.status import Status, combined
from mixbayes.parties.with_mixers.both_mixers import BothMixers


class LastRound:
    """Remembers when it first saw the round; the node looks after every report. Two looks at once find the same."""

    def __init__(self, mixers: BothMixers, clock: Callable[[], float]) -> None:
        self._mixers = mixers
        self._clock = clock
        self._first = 0, 0.0
        """The last round that was seen, and when it was seen first."""

    def seen(self) -> RoundSeen | None:
        """None before the first mixer has answered."""
        if not (reported := list(self._mixers.last.values())):
            return None
        status = _one_of(reported)
        if status.round != self._first[0]:
            self._first = status.round, self._clock()
        return RoundSeen(status, self._first[1], status.budget - status.budget_left)


def _one_of(reported: list[Status]) -> Status:
    """If the mixers are at different rounds, the status at the earlier one: the other mixer waits for it."""
    earliest = min(status.round for status in reported)
    return combined([status for status in reported if status.round == earliest], {})
