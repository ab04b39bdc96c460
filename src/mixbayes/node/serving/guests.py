"""The connections on which a call was admitted, and those that are to end: admission fills it, the doorkeeper reads."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Collection

from mixbayes.transport.accepted import End

_LATELY, _MOST_KEPT = 3600.0, 1024
"""Seconds for which a site is remembered, and how many are."""
_MANY = 64
"""Connections accepted since the doorkeeper last looked, with which it should not wait for the next time."""
MOST_CONNECTIONS = 64
"""Connections of one caller. A hospital's node has one with each mixer, and every command of it another."""


class Guests:
    """Who is in, by the other end of the connection. Every method may be called from any thread."""

    def __init__(self, most: int | None = None) -> None:
        """One caller may have so many connections."""
        self._most = most or MOST_CONNECTIONS
        self._lock = threading.Lock()
        self._callers: dict[End, str] = {}
        self._connections: Counter[str] = Counter()
        self._unwanted: set[End] = set()
        self._barred: dict[str, tuple[str, float]] = {}
        """By site, whom it is barred for, and until when."""
        self._lately: OrderedDict[tuple[str, str], float] = OrderedDict()
        """When a call was last admitted, by site and caller."""
        self._knocked = self._let_in = self._unseen = 0
        self.wake = threading.Event()
        """Set when there is an unwanted connection, or many new ones."""

    def knock(self) -> None:
        """A connection was accepted, of which nothing is known yet."""
        with self._lock:
            self._knocked += 1
            self._unseen += 1
            if self._unseen >= _MANY:
                self.wake.set()

    def never_admitted(self) -> int:
        """How many connections were accepted so far on which no call was admitted until now."""
        with self._lock:
            return self._knocked - self._let_in

    def admit(self, end: End, caller: str, now: float) -> bool:
        """A call of this caller is admitted on this connection. False if the caller has too many of them."""
        with self._lock:
            self._lately[end.site, caller] = now
            self._lately.move_to_end((end.site, caller))
            if len(self._lately) > _MOST_KEPT:
                self._lately.popitem(last=False)
            if end in self._callers:
                return True
            if self._connections[caller] >= self._most:
                return False
            self._callers[end] = caller
            self._connections[caller] += 1
            self._let_in += 1
            return True

    def turn_out(self, end: End) -> None:
        """This connection is to end at once."""
        with self._lock:
            self._unwanted.add(end)
        self.wake.set()

    def admitted(self) -> set[End]:
        with self._lock:
            return set(self._callers)

    def unwanted(self) -> set[End]:
        """Those that are to end. They are given once."""
        with self._lock:
            self.wake.clear()
            self._unseen = 0
            found, self._unwanted = self._unwanted, set()
            return found

    def bar(self, end: End, caller: str, until: float) -> None:
        """Nobody is to be let in from there, because this caller goes on and on."""
        with self._lock:
            self._barred[end.site] = caller, until

    def barred(self, now: float) -> frozenset[str]:
        """The sites of those who are barred now, without those from which somebody else has called lately."""
        with self._lock:
            self._barred = {site: why for site, why in self._barred.items() if why[1] > now}
            shared = {site for site, (caller, _) in self._barred.items() if self._is_shared(site, caller, now)}
            return frozenset(self._barred.keys() - shared)

    def _is_shared(self, site: str, caller: str, now: float) -> bool:
        return any(
            of == site and other != caller and now - last < _LATELY for (of, other), last in self._lately.items()
        )

    def forget(self, gone: Collection[End]) -> None:
        """These connections have ended."""
        with self._lock:
            for end in gone:
                if caller := self._callers.pop(end, None):
                    self._connections[caller] -= 1
                    if not self._connections[caller]:
                        del self._connections[caller]
