"""The computing party that is led: its answers when the leader wants to agree on a set, a model or a round.

Every answer depends on the disk alone, and a request that comes twice changes nothing, because requests and replies may
get lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import COLLECTING
from mixbayes.transport.errors import RoundFailed

HOUR = 3600.0


@dataclass(frozen=True)
class Agreed:
    """Which contributions a party holds, and whether that is final."""

    chosen: Mapping[str, bytes]
    sealed: bool


def complete(rounds: Rounds, chosen: Mapping[str, bytes]) -> bool:
    """All listed hospitals are in the set."""
    return set(chosen) == set(rounds.federation.names)


def may_seal(rounds: Rounds, chosen: Mapping[str, bytes]) -> bool:
    """All listed hospitals have contributed; or the agreed minimum, and the time is over by this node's clock."""
    now, policy = rounds.current(), rounds.federation.policy
    due = rounds.clock() >= now.opened + policy.collect_hours * HOUR
    return complete(rounds, chosen) or (due and len(chosen) >= policy.minimum)


class Follower:
    """Mixer b, or the hospital that listens."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Agreed:
        """Seal the proposed set if this party holds it and the agreement allows it. Returns what this party holds."""
        rounds = self._rounds
        now = rounds.current().propose(number)
        held = now.contributions
        if now.state is not COLLECTING:
            return Agreed(now.sealed_set, sealed=True)
        if different := [name for name, id in chosen.items() if name in held and held[name].id != id]:
            self._fail_for(number, different)
        if set(chosen) <= set(held) and may_seal(rounds, chosen):
            rounds.seal(number, chosen)
            return Agreed(dict(chosen), sealed=True)
        return Agreed({name: one.id for name, one in held.items()}, sealed=False)

    def confirm(self, number: int, run: bytes) -> bool:
        """The leader has the model of this training on disk. Whether this party has it too."""
        return self._rounds.serve(number, run)

    def fail(self, number: int, reason: str) -> None:
        self._rounds.fail(number, reason)

    def close(self, number: int, actor: str) -> None:
        self._rounds.close(number, actor)

    def open(self, number: int, actor: str) -> None:
        """The leader's last round is over. If this party's one is not, the leader has had it failed first."""
        self._rounds.open(number, actor)

    def _fail_for(self, number: int, different: list[str]) -> None:
        who = ", ".join(self._rounds.federation.title(name) for name in sorted(different))
        reason = f"the two computing parties hold different contributions of {who}, so nothing was computed."
        self._rounds.fail(number, reason)
        raise RoundFailed(f"Round {number} failed at {self._rounds.me}: {reason} `mixbayes round new` begins another.")
