"""Ends connections of strangers: gRPC limits neither how many one address holds nor how long they lead to no call.

A stranger is a connection on which no call has been admitted. An admitted connection is ended only for what its own
caller does. Where the system does not list a process's open files, nobody looks, and only gRPC's own limits hold: that
of a handshake, and that of all connections together.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from mixbayes.node.log import Log, logged
from mixbayes.node.serving.guests import Guests
from mixbayes.transport.accepted import End, accepted, can_be_listed, hang_up, take_none_from

TICK = 0.2
_LEAST, _REST = 0.02, 1.0
"""Seconds between two looks at least, and after one that failed."""
_SAY_EVERY = 60.0
_MOST_NAMED = 5
"""Addresses that one line of the log names."""
_NOTABLE = 10
"""Connections that led to nothing by themselves. `mixbayes doctor` makes a few of them, too."""
Aged = Sequence[tuple[float, End]]


@dataclass(frozen=True)
class HouseRules:
    """How many connections strangers may have, from one site and in all, and how many seconds they may stay."""

    of_site: int
    of_all: int
    seconds: float


class Doorkeeper:
    """Looks at all connections at one port, several times a second, between `start` and `stop`."""

    def __init__(self, port: int, guests: Guests, rules: HouseRules, log: Log) -> None:
        self._port = port
        self._guests = guests
        self._rules = rules
        self._since: dict[End, float] = {}
        """When each stranger was first seen."""
        self._barred: frozenset[str] = frozenset()
        self._report = _Report(log)
        self._log = log
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="doorkeeper", daemon=True)

    def start(self) -> None:
        if can_be_listed():
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._guests.wake.set()
        if self._thread.ident:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(_LEAST):
            self._guests.wake.wait(TICK)
            try:
                self.look(time.monotonic())
            except Exception as error:  # noqa: BLE001 - a moment without memory or descriptors is no reason to go home
                logged(self._log, error, "the doorkeeper could not look")
                self._stopped.wait(_REST)

    def look(self, now: float) -> None:
        """Forget who has left, and end what is unwanted, too old or too much."""
        known, unwanted = self._guests.admitted(), self._guests.unwanted()  # first: who is admitted later is not there
        there = accepted(self._port)
        self._guests.forget(known - there.keys())
        self._bar(self._guests.barred(now))
        for end in unwanted & there.keys():
            hang_up(self._port, end, there[end])
        strangers = there.keys() - self._guests.admitted() - unwanted
        self._report.left(self._since.keys() - there.keys() - known)
        self._since = {end: self._since.get(end, now) for end in strangers}
        for end in set(_leaving(self._since, self._rules, now)):
            if hang_up(self._port, end, there[end]):
                self._report.ended(end)
                del self._since[end]
        self._report.say(now, self._guests.never_admitted() - len(self._since))

    def _bar(self, sites: frozenset[str]) -> None:
        if sites == self._barred:
            return
        if take_none_from(self._port, sites) and (new := sites - self._barred):
            self._log.warning("no connections are taken from there for a while", address=", ".join(sorted(new)))
        self._barred = sites


class _Report:
    """What strangers did, in one line of the log a minute, however many they are."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._of_site: Counter[str] = Counter()
        self._reported = 0
        self._ended = 0
        self._next = self._next_warning = 0.0

    def ended(self, stranger: End) -> None:
        """This connection was ended here."""
        self._ended += 1
        self._of_site[stranger.site] += 1

    def left(self, strangers: Iterable[End]) -> None:
        """These connections have ended by themselves."""
        self._of_site.update(end.site for end in strangers)

    def say(self, now: float, in_vain: int) -> None:
        """`in_vain` counts all connections so far that have ended without an admitted call."""
        due = self._next_warning if self._ended else self._next
        if now < due or not (self._ended or in_vain - self._reported >= _NOTABLE):
            return
        say = self._log.warning if self._ended else self._log.info
        say("connections without an admitted call", **self._figures(in_vain))
        self._next = now + _SAY_EVERY
        self._next_warning = self._next if self._ended else self._next_warning
        self._of_site.clear()
        self._reported, self._ended = in_vain, 0

    def _figures(self, in_vain: int) -> dict[str, int | str]:
        return {"address": self._sites(), "connections": in_vain - self._reported, "ended": self._ended}

    def _sites(self) -> str:
        """Those that were seen most. Who leaves between two looks is counted, but not seen."""
        seen = [f"{site} ({times})" for site, times in self._of_site.most_common(_MOST_NAMED)]
        more = len(self._of_site) - len(seen)
        return ", ".join(seen + [f"{more} more"] * (more > 0)) or "gone before they were seen"


def _leaving(since: dict[End, float], rules: HouseRules, now: float) -> Iterator[End]:
    """The strangers who have to go: those that stayed too long, and the oldest of those that are too many."""
    by_age = sorted(((moment, end) for end, moment in since.items()), key=itemgetter(0))
    of_site: defaultdict[str, list[tuple[float, End]]] = defaultdict(list)
    for moment, end in by_age:
        of_site[end.site].append((moment, end))
        if now - moment > rules.seconds:
            yield end
    for strangers in of_site.values():
        yield from _surplus(strangers, rules.of_site)
    yield from _surplus(by_age, rules.of_all)


def _surplus(strangers: Aged, most: int) -> Iterator[End]:
    """The oldest, so that so many are left."""
    return (end for _, end in strangers[: max(0, len(strangers) - most)])
