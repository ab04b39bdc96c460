"""What a node shows of itself to whoever supervises it: metrics, and the status line of systemd.

Nothing here asks another node, so nothing here waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.node.identity import Identity
from mixbayes.node.privacy import GivenAway
from mixbayes.node.rounds.status import Status
from mixbayes.node.tallies import Tallies


@dataclass(frozen=True)
class RoundSeen:
    """The last round, as far as this node knows."""

    status: Status
    """Its budget is that of the hospital whose node this is; at a mixer there is none."""
    opened: float
    """When this node opened it, or first heard of it, in seconds since 1970."""
    charged_rows: int
    """What this node's ledger has charged in this round, or of a hospital with mixers the mixers' ledgers for it."""
    charged_questions: int | None = None
    """Likewise. A hospital with mixers is not told."""


@dataclass(frozen=True)
class Observed:
    """A node at work."""

    federation: Federation
    name: str
    identity: Identity
    folder: Path
    """Where its state lies."""
    tallies: Tallies
    round: Callable[[], RoundSeen | None]
    """None as long as a hospital's node has heard of none."""
    given_away: Callable[[], GivenAway]
    """All noise that was ever charged in this node's ledger."""
    trails: Callable[[], Sequence[str]]
    """What is wrong with audit trails, by what this node noted."""
    answers: Callable[[], None]
    """Raises `CannotServe` unless this node answers a call of its own."""

    @property
    def title(self) -> str:
        return self.federation.title(self.name)

    @property
    def expired(self) -> bool:
        """Whether its certificate has ended, or one above it: nobody can connect until the files are renewed."""
        return min(self.identity.expires, self.identity.authority_expires) < datetime.now(UTC)

    @property
    def role(self) -> str:
        return "mixer" if self.federation.role_of(self.name) == "mixer" else "hospital"

    @property
    def computes(self) -> bool:
        """Whether it is one of the two computing parties."""
        return self.federation.two_party or self.role == "mixer"

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of the nodes with which it is in contact."""
        federation = self.federation
        if federation.two_party:
            return tuple(name for name in federation.names if name != self.name)
        mixers = tuple(mixer.name for mixer in federation.mixers if mixer.name != self.name)
        return (*mixers, *federation.names) if self.role == "mixer" else mixers


def in_words(observed: Observed) -> str:
    """One line on where the round stands and who is missing."""
    if (seen := observed.round()) is None:
        return "no round is known yet"
    status, title = seen.status, observed.federation.title
    missing = f"; missing: {', '.join(map(title, status.missing))}" if status.missing else ""
    reason = f"; {status.reason}" if status.reason else ""
    return f"round {status.round} is {status.state}{missing}{reason}"
