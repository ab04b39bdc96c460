"""What a node says of something that happens again and again: once, and then how often, now and then."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from mixbayes.node.log import Log, Value, error_fields

EVERY = 300.0
"""Seconds between two lines about the same thing."""
MOST = 256
"""Things that are remembered, so that strangers cannot fill the memory."""


@dataclass
class _Said:
    at: float
    since: int = 0
    """How often it has happened since."""


class Repeated:
    """Says each thing the first time, and then at most every `EVERY` seconds, with how often it has happened."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._said: OrderedDict[Hashable, _Said] = OrderedDict()

    def say(self, what: Hashable, line: Callable[..., None], event: str, **fields: Value) -> None:
        """Have `line`, such as `log.warning`, say the event and its fields, if `what` is due."""
        if (times := self._due(what)) is None:
            return
        line(event, **fields, **({"times": times} if times > 1 else {}))

    def failed(self, log: Log, error: BaseException, event: str, **fields: Value) -> None:
        """Say an error. It is the same thing as another one of the same kind and place, about the same fields."""
        described = error_fields(error)
        self.say((event, *fields.items(), *described.items()), log.error, event, **fields, **described)

    def _due(self, what: Hashable) -> int | None:
        """How often it has happened since the last line, or None if there is to be none."""
        now = self._clock()
        with self._lock:
            said = self._said.get(what)
            if said and now - said.at < EVERY:
                said.since += 1
                return None
            self._said[what] = _Said(now)
            self._said.move_to_end(what)
            while len(self._said) > MOST:
                self._said.popitem(last=False)
            return 1 + (said.since if said else 0)
