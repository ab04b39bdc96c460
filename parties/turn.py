"""The turn to ask: a hospital's applications ask one after the other, in the order in which they came.

Whoever has the turn may take along what others wait with; they then need no turn of their own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mixbayes.transport.errors import TooEarly

Part = TypeVar("Part")


@dataclass(eq=False)
class _Ticket(Generic[Part]):
    """One application that waits, and what another one may take along for it."""

    part: Part | None = None
    taken_along: bool = False
    called: threading.Event = field(default_factory=threading.Event)
    """Set once it need not wait any more."""


class Turn(Generic[Part]):
    """Used from any thread. Nobody waits for the turn longer than the deadline."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._lock = threading.Lock()
        self._is_taken = False
        self._waiting: deque[_Ticket[Part]] = deque()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """For one question."""
        with self.mine_or_taken_along(None):
            yield

    @contextmanager
    def mine_or_taken_along(self, part: Part | None) -> Iterator[bool]:
        """Whether the turn came. If not, another one that had it took this part along."""
        ticket = _Ticket(part)
        if not self._wait(ticket, self._deadline):
            raise TooEarly(f"Another application of this hospital has been asking for more than {self._deadline:g} s.")
        with self._passed_on(taken=not ticket.taken_along) as mine:
            yield mine

    @contextmanager
    def if_nobody_asks(self, patience: float = 0.0) -> Iterator[bool]:
        """Whether the turn was free within this many seconds."""
        with self._passed_on(taken=self._wait(_Ticket(), patience)) as mine:
            yield mine

    def take_along(self, wanted: Callable[[Part], bool]) -> list[Part]:
        """What others wait with, as far as it is wanted, in their order. For whoever has the turn."""
        with self._lock:
            found = [ticket for ticket in self._waiting if ticket.part is not None and wanted(ticket.part)]
            for ticket in found:
                self._waiting.remove(ticket)
                ticket.taken_along = True
                ticket.called.set()
        return [ticket.part for ticket in found if ticket.part is not None]

    def _wait(self, ticket: _Ticket[Part], patience: float) -> bool:
        """Whether the ticket was called within this many seconds."""
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return True
            self._waiting.append(ticket)
        if ticket.called.wait(patience):
            return True
        with self._lock:
            if ticket.called.is_set():
                return True
            self._waiting.remove(ticket)
        return False

    @contextmanager
    def _passed_on(self, *, taken: bool) -> Iterator[bool]:
        """If the turn was taken, the next one has it after the block."""
        try:
            yield taken
        finally:
            if taken:
                self._pass_on()

    def _pass_on(self) -> None:
        with self._lock:
            self._is_taken = bool(self._waiting)
            if self._waiting:
                self._waiting.popleft().called.set()
