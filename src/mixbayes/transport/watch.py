"""Deadlines of streams: gRPC's blocking read has none, so one thread breaks off every stream that waits too long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Protocol, TypeVar

TICK = 0.2
Message = TypeVar("Message")


class Waiting(Protocol):
    """Something that may wait until a moment of the monotonic clock."""

    waiting_until: float | None

    def break_off(self) -> None: ...


class Pause:
    """The wait between two messages of a stream."""

    def __init__(self, cancel: Callable[[], object]) -> None:
        self._cancel = cancel
        self.waiting_until: float | None = None
        self.late = False

    def begin(self, deadline: float) -> None:
        self.waiting_until = time.monotonic() + deadline

    def end(self) -> None:
        self.waiting_until = None

    def break_off(self) -> None:
        self.late = True
        self._cancel()


class Watch:
    """Watches while there is something to watch."""

    def __init__(self, tick: float = TICK) -> None:
        self._tick = tick
        self._watched: set[Waiting] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, stream: Waiting) -> None:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                thread.start()  # raises if the system has no more; then the next one tries again
                self._thread = thread
            self._watched.add(stream)

    def remove(self, stream: Waiting) -> None:
        with self._lock:
            self._watched.discard(stream)

    def _run(self) -> None:
        while True:
            time.sleep(self._tick)
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                now = time.monotonic()
                late = [s for s in self._watched if (until := s.waiting_until) is not None and until < now]
                self._watched.difference_update(late)
            for stream in late:
                with suppress(Exception):  # all other deadlines depend on this thread
                    stream.break_off()


def in_time(
    messages: Iterator[Message], cancel: Callable[[], object], watch: Watch, first: float, later: float
) -> Generator[Message, None, None]:
    """A caller's messages. The call is cancelled if the first one, or a later one, does not come within its seconds."""
    pause = Pause(cancel)
    watch.add(pause)
    patience = first
    try:
        while True:
            pause.begin(patience)
            if (message := next(messages, None)) is None:
                return
            pause.end()
            yield message
            patience = later
    finally:
        watch.remove(pause)
