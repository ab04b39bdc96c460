"""What every page of a node has: the agreement, the node's folders, and what was last seen of the round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mixbayes.agreement.agreement import Federation
from mixbayes.keys.checks import SOON, KeyFolder
from mixbayes.node.doctor.finding import Finding
from mixbayes.pages.watching import Watching
from mixbayes.parties.examination import Patient, examined

_DAY = 24 * 3600.0


@dataclass(frozen=True)
class Certificate:
    """A certificate in the node's key folder, and the whole days for which it still holds."""

    whose: str
    """`own` or `authority`."""
    ends: float
    days: int

    @property
    def soon(self) -> bool:
        return self.days < SOON.days


@dataclass(frozen=True)
class PageNode:
    """A node, as its page sees it."""

    federation: Federation
    name: str
    keys: Path
    state: Path
    patient: Patient
    """What an examination looks at."""
    watching: Watching
    clock: Callable[[], float] = time.time

    @property
    def title(self) -> str:
        return self.federation.title(self.name)

    def certificates(self) -> list[Certificate]:
        files = KeyFolder(self.keys, self.name)
        authority = max(files.authorities, key=lambda one: one.not_valid_after_utc)
        both = (("own", files.certificate), ("authority", authority))
        return [self._certificate(whose, one.not_valid_after_utc.timestamp()) for whose, one in both]

    def _certificate(self, whose: str, ends: float) -> Certificate:
        return Certificate(whose, ends, int((ends - self.clock()) // _DAY))

    def examined(self) -> Iterator[Finding]:
        return examined(self.patient)


def others_of(federation: Federation, name: str) -> list[str]:
    """The titles of those without whom this node cannot answer: the mixers, or the other hospital."""
    if federation.two_party:
        return [federation.title(one) for one in federation.names if one != name]
    return [federation.title(mixer.name) for mixer in federation.mixers] if federation.role_of(name) == "party" else []
