"""Who wastes this node's time: calls that are refused, or broken off before they are answered, at a rate of no client.

Every caller has an allowance of such calls. Whoever has used it up is shut out for a while, and for twice as long each
time that follows.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from mixbayes.node.log import Log

_FIRST, _LONGEST = 10.0, 600.0
"""Seconds for which somebody is shut out."""
_FORGIVEN = 3600.0
"""After so many seconds of good conduct the next time is the first again."""
_MOST_NAMES = 1024
_FLOOD = 100, 10.0
"""Calls of somebody who is shut out, from the beginning and every second, that are more than a program's patience."""


@dataclass(frozen=True)
class Allowance:
    """So many calls may come to nothing at once, and this many more every second."""

    at_once: float
    a_second: float


OF_MEMBERS = Allowance(128, 5)
"""A lost connection breaks off all calls on it, and a node that is refused asks again within a second."""
OF_MIXERS = Allowance(2048, 50)
"""Mixer a calls mixer b for all hospitals, over one connection."""
OF_OTHERS = Allowance(10, 0.2)
"""Enough for a hospital that is being added to be told what it needs."""


@dataclass
class _Standing:
    left: float
    at: float
    times: int = 0
    since: float = 0.0
    until: float = 0.0
    turned_away: int = 0


class Conduct:
    """What is known of callers' conduct. Every method may be called from any thread."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._standings: OrderedDict[str, _Standing] = OrderedDict()

    def shut_out(self, name: str) -> float:
        """For how many seconds from now; 0 if the caller may come in."""
        with self._lock:
            standing, now = self._standings.get(name), self._clock()
            if standing is None or standing.until <= now:
                return 0.0
            standing.turned_away += 1
            return standing.until - now

    def floods(self, name: str) -> bool:
        """Whether somebody who is shut out goes on as no patient program does."""
        at_once, a_second = _FLOOD
        with self._lock:
            standing, now = self._standings.get(name), self._clock()
            return standing is not None and standing.turned_away > at_once + a_second * (now - standing.since)

    def wasted(self, name: str, title: str, allowance: Allowance, address: str) -> bool:
        """A call of this caller came to nothing. Whether the caller is shut out now."""
        now = self._clock()
        with self._lock:
            standing = self._standing(name, allowance, now)
            if now < standing.until:
                return True
            standing.left -= 1
            if standing.left >= 0:
                return False
            if now - standing.until > _FORGIVEN:
                standing.times = 0
            seconds = min(_LONGEST, _FIRST * 2**standing.times)
            standing.since, standing.until = now, now + seconds
            standing.left, standing.at = allowance.at_once, standing.until
            standing.times += 1
            before, standing.turned_away = standing.turned_away, 0
        self._log.warning(
            "shut out: too many calls came to nothing",
            caller=title,
            address=address,
            seconds=seconds,
            turned_away_before=before,
        )
        return True

    def _standing(self, name: str, allowance: Allowance, now: float) -> _Standing:
        """Of this caller now, as the last of those that were heard of."""
        standing = self._standings.setdefault(name, _Standing(allowance.at_once, now))
        self._standings.move_to_end(name)
        if len(self._standings) > _MOST_NAMES:
            self._standings.popitem(last=False)
        gained = max(0.0, now - standing.at) * allowance.a_second
        standing.left, standing.at = min(allowance.at_once, standing.left + gained), max(now, standing.at)
        return standing
