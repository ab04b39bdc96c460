"""The connections on which a call was admitted, and those that are to end: admission fills it, the doorkeeper reads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection

from mixbayes.transport.accepted import End

MOST_CONNECTIONS = 64
"""Connections of one caller. A hospital's node has one with each mixer, and every command of it another."""


class Guests:
    """Who is in, by the other end of the connection. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[End, str] = {}
        self._connections: Counter[str] = Counter()
        self._unwanted: set[End] = set()
        self._barred: dict[str, tuple[str, float]] = {}
        """By site, whom it is barred for, and until when."""
        self._knocked = self._let_in = 0
        self.wake = threading.Event()
        """Set when there is an unwanted connection."""

    def knock(self) -> None:
        """A connection was accepted, of which nothing is known yet."""
        with self._lock:
            self._knocked += 1

    def never_admitted(self) -> int:
        """How many connections were accepted so far on which no call was admitted until now."""
        with self._lock:
            return self._knocked - self._let_in

    def admit(self, end: End, name: str) -> bool:
        """A call of this caller is admitted on this connection. False if the caller has too many of them."""
        with self._lock:
            if end in self._names:
                return True
            if self._connections[name] >= MOST_CONNECTIONS:
                return False
            self._names[end] = name
            self._connections[name] += 1
            self._let_in += 1
            return True

    def turn_out(self, end: End) -> None:
        """This connection is to end at once."""
        with self._lock:
            self._unwanted.add(end)
        self.wake.set()

    def admitted(self) -> set[End]:
        with self._lock:
            return set(self._names)

    def unwanted(self) -> set[End]:
        """Those that are to end. They are given once."""
        with self._lock:
            self.wake.clear()
            found, self._unwanted = self._unwanted, set()
            return found

    def bar(self, end: End, name: str, until: float) -> None:
        """Nobody is to be let in from there, because this caller goes on and on."""
        with self._lock:
            self._barred[end.site] = name, until

    def barred(self, now: float) -> frozenset[str]:
        """The sites of those who are barred now, but for those where somebody else is in, too."""
        with self._lock:
            self._barred = {site: why for site, why in self._barred.items() if why[1] > now}
            others = {end.site for end, name in self._names.items() if self._barred.get(end.site, (name,))[0] != name}
            return frozenset(self._barred.keys() - others)

    def forget(self, gone: Collection[End]) -> None:
        """These connections have ended."""
        with self._lock:
            for end in gone:
                if name := self._names.pop(end, None):
                    self._connections[name] -= 1
                    if not self._connections[name]:
                        del self._connections[name]
