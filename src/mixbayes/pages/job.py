"""Work that takes longer than a page may: it goes on by itself, and the page shows how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from mixbayes.node.log import Log, logged
from mixbayes.protocol.errors import LocalError, MixbayesError

Result = TypeVar("Result")
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class State(Generic[Result]):
    """How the last work stands. Nothing has been begun yet where `begun` is zero."""

    begun: float = 0.0
    done: int = 0
    total: int = 0
    ended: float = 0.0
    result: Result | None = None
    error: MixbayesError | None = None

    @property
    def running(self) -> bool:
        return bool(self.begun) and not self.ended


class Job(Generic[Result]):
    """One piece of work at a time."""

    def __init__(self, name: str, clock: Callable[[], float], log: Log) -> None:
        self._name, self._clock, self._log = name, clock, log
        self._lock = threading.Lock()
        self._state: State[Result] = State()

    @property
    def state(self) -> State[Result]:
        return self._state

    def begin(self, work: Callable[[Progress], Result]) -> None:
        """Begin, unless the work is being done already."""
        with self._lock:
            if self._state.running:
                return
            self._state = State(begun=self._clock())
        threading.Thread(target=self._do, args=(work,), name=self._name, daemon=True).start()

    def _do(self, work: Callable[[Progress], Result]) -> None:
        try:
            self._end(result=work(self._progress))
        except MixbayesError as error:
            self._end(error=error)
        except Exception as error:  # noqa: BLE001 - the page says that it failed, and the log has the place
            self._end(error=broken())
            logged(self._log, error, "the work of a page failed")

    def _progress(self, done: int, total: int) -> None:
        self._state = replace(self._state, done=done, total=total)

    def _end(self, result: Result | None = None, error: MixbayesError | None = None) -> None:
        self._state = replace(self._state, ended=self._clock(), result=result, error=error)


def broken() -> LocalError:
    """For the visitor: that it is this program's mistake, and nothing of what it was about."""
    return LocalError(
        "This page failed, and the node goes on. The log has the place: report it to who maintains mixbayes."
    )
