"""A mixer's book of verdicts on contributions, on its disk: see `protocol/bayes/verdicts.py`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mixbayes.node.rounds.rounds import Rounds
from mixbayes.protocol.bayes.verdicts import KeptVerdict


class VerdictsOnDisk:
    """The verdicts on the contributions to one round."""

    def __init__(self, rounds: Rounds, number: int) -> None:
        self._rounds = rounds
        self._number = number

    def kept(self, hospitals: Collection[str]) -> dict[str, KeptVerdict]:
        found = self._rounds.verdicts(self._number)
        return {name: found[name] for name in hospitals}

    def note(self, hospitals: Collection[str]) -> None:
        self._rounds.note_openings(self._number, hospitals)

    def keep(self, verdicts: Mapping[str, bool]) -> None:
        if verdicts:
            self._rounds.keep_verdicts(self._number, verdicts)
