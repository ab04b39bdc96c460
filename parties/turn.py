"""A hospital's applications ask one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mixbayes.transport.errors import TooEarly


class Turn:
    """Whose turn it is to ask. Nobody waits for longer than the deadline."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._lock = threading.Lock()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """For one question."""
        if not self._lock.acquire(timeout=self._deadline):
            raise TooEarly(f"Another application of this hospital has been asking for more than {self._deadline:g} s.")
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def if_nobody_asks(self, patience: float = 0.0) -> Iterator[bool]:
        """Whether it could be had within so many seconds."""
        had = self._lock.acquire(timeout=patience)
        try:
            yield had
        finally:
            if had:
                self._lock.release()
