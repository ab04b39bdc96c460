"""What the node last knew of its round and of the others, and since when each of them has stood so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mixbayes.node.log import Log
from mixbayes.node.rounds.status import Status
from mixbayes.parties.background import keep_going
from mixbayes.protocol.errors import MixbayesError

LOOK_EVERY = 3.0
ROUND = "round"


@dataclass(frozen=True)
class Since:
    """How something stands, and since when it has been seen so."""

    stands: str
    time: float


@dataclass(frozen=True)
class Seen:
    """The last look: what was reported, or why nothing was."""

    time: float = 0.0
    status: Status | None = None
    """The last one that was reported, perhaps before `error`."""
    error: MixbayesError | None = None
    since: Mapping[str, Since] = field(default_factory=dict)
    """Of the round, of every hospital by its name, and of every other node by its title."""

    def next(self, time: float, found: Status | MixbayesError, others: Sequence[str]) -> Seen:
        """The look after this one; `others` are the titles of the nodes that report."""
        status, error = (self.status, found) if isinstance(found, MixbayesError) else (found, None)
        stands = dict(_stands(found, others))
        kept = self.since if error else {}  # what nobody reported now stands as it stood
        return Seen(time, status, error, {**kept, **{who: self._since(who, how, time) for who, how in stands.items()}})

    def _since(self, who: str, stands: str, time: float) -> Since:
        before = self.since.get(who)
        return before if before and before.stands == stands else Since(stands, time)


def _stands(found: Status | MixbayesError, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    if isinstance(found, MixbayesError):
        yield from ((title, "silent") for title in others)
        return
    yield ROUND, f"{found.round} {found.state} {bool(found.reason or found.unreachable)}"
    for names, how in ((found.contributed, "contributed"), (found.missing, "missing"), (found.refused, "refused")):
        yield from ((name, f"{found.round} {how}") for name in names)
    yield from ((title, "silent" if title in found.unreachable else "answers") for title in others)


class Watching:
    """Looks again and again in a thread of its own, so that a page never waits for another node."""

    def __init__(self, look: Callable[[], Status], others: Sequence[str], clock: Callable[[], float], log: Log) -> None:
        self._look, self._others, self._clock = look, others, clock
        self.afterwards: Callable[[], object] = lambda: None
        """Called after every look."""
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=keep_going, args=(self.look, self._stopped, log, LOOK_EVERY), name="page", daemon=True
        )
        self.seen = Seen()

    def begin(self) -> None:
        self._thread.start()

    def look(self) -> None:
        try:
            found: Status | MixbayesError = self._look()
        except MixbayesError as error:
            found = error
        self.seen = self.seen.next(self._clock(), found, self._others)
        self.afterwards()

    def end(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(LOOK_EVERY)
