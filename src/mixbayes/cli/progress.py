"""Progress on stderr: a bar on a terminal; elsewhere a line now and then, with an estimate of what is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TaskID

FIRST_AFTER = 2.0
"""Seconds that work takes before anything is said of it where there is no bar."""
EVERY = 5.0
"""Seconds between two lines."""
_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True)
class _Begun:
    at: float
    done: int


class Talk:
    """Called with what is being done, how much of it is done, and how much there is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(console=self._console, transient=True) if self._console.is_terminal else None
        self._tasks: dict[str, TaskID] = {}
        self._clock = clock
        self._begun: dict[str, _Begun] = {}
        self._silent_until = clock() + FIRST_AFTER

    def __enter__(self) -> Talk:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        group = what.split(": ")[0]
        if not self._bar:
            self._say(what, group, done, total)
            return
        if group not in self._tasks:
            self._tasks[group] = self._bar.add_task(group, total=total)
        self._bar.update(self._tasks[group], completed=done, total=total, description=escape(what))

    def _say(self, what: str, group: str, done: int, total: int) -> None:
        now = self._clock()
        begun = self._begun.setdefault(group, _Begun(now, done))
        if now < self._silent_until:
            return
        self._silent_until = now + EVERY
        amount = f" ({done:,} of {total:,})" if total > 1 else ": done" * done
        self._console.print(f"{what}{amount}{_left(begun, now, done, total)}", markup=False, soft_wrap=True)


def _left(begun: _Begun, now: float, done: int, total: int) -> str:
    """How long it will probably take yet, as fast as it went so far."""
    made, passed = done - begun.done, now - begun.at
    if made <= 0 or passed <= 0 or done >= total:
        return ""
    return f", about {in_words(passed * (total - done) / made)} left"


def in_words(seconds: float) -> str:
    """A time that nobody needs to the second."""
    if seconds >= _HOUR:
        return f"{seconds / _HOUR:.1f} h"
    return f"{seconds / _MINUTE:.0f} min" if seconds >= 2 * _MINUTE else f"{max(1, round(seconds))} s"
