"""Encryption randomness for Paillier, made ahead by processes of its own.

A stock is an iterator, as the protocol takes it: what it hands out it forgets. Its processes draw from the operating
system, each for itself, and end with the process that owns the stock, however that one ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from types import TracebackType

from mixbayes.node.own_memory import keep_memory_to_itself
from mixbayes.protocol.errors import LocalError, PoolExhausted
from mixbayes.protocol.paillier.key import Obfuscators, PublicKey, SecretKey, obfuscators
from mixbayes.protocol.randomness import Randomness

BATCH = 8
DEADLINE = 60.0

Key = PublicKey | SecretKey


@dataclass
class _Maker:
    """What a process of the pool draws from."""

    stream: Obfuscators | None = None


_maker = _Maker()


class Stock(Iterator[int]):
    """Obfuscators made or being made: `ahead` of them from the start, and again whenever fewer than `low` are left.

    The owner of the secret key gives that one and is served four times as fast. Use it as a context, or close it.
    """

    def __init__(
        self, key: Key, *, ahead: int = 512, low: int = 256, processes: int = 1, deadline: float = DEADLINE
    ) -> None:
        self._ahead = ahead
        self._low = min(low, ahead)
        self._deadline = deadline
        self._turn = threading.Lock()
        self._ready: deque[int] = deque()
        self._coming: deque[Future[list[int]]] = deque()
        # Spawned, not forked: the owner has threads, and a fork would inherit its randomness and sockets.
        self._pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin, (key,))
        self._order()

    def __next__(self) -> int:
        """One that nobody had before, whichever thread asks."""
        with self._turn:
            try:
                if not self._ready:
                    self._ready.extend(self._made())
                taken = self._ready.popleft()
            except IndexError:  # closed meanwhile
                raise self._ended() from None
            self._order()
            return taken

    def fill(self) -> None:
        """Wait until all that were ordered are made: what a node does before it is asked anything."""
        _, late = wait(self._coming, self._deadline)
        if late:
            raise self._exhausted()

    def close(self) -> None:
        """End the processes; what is left is lost."""
        self._ready.clear()
        self._coming.clear()
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Stock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Stock(...)"

    def _order(self) -> None:
        """Have more made, if it is time."""
        left = len(self._ready) + BATCH * len(self._coming)
        try:
            if left < self._low:
                self._coming.extend(self._pool.submit(_make, BATCH) for _ in range(left, self._ahead, BATCH))
        except (BrokenExecutor, RuntimeError):
            raise self._ended() from None

    def _made(self) -> list[int]:
        try:
            return self._coming.popleft().result(self._deadline)
        except TimeoutError:
            raise self._exhausted() from None
        except (BrokenExecutor, CancelledError):
            raise self._ended() from None

    def _exhausted(self) -> PoolExhausted:
        return PoolExhausted(f"No Paillier randomness was made for {self._deadline:g} s. Is the machine overloaded?")

    def _ended(self) -> LocalError:
        return LocalError("The processes that make Paillier randomness have ended. Start the job again.")


def _begin(key: Key) -> None:
    """Once in each process."""
    keep_memory_to_itself()  # what it draws is as secret as what the owner encrypts
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the owner ends us
    threading.Thread(target=_end_with_owner, daemon=True).start()
    _maker.stream = obfuscators(key, Randomness.from_system())


def _end_with_owner() -> None:
    """The pool's own pipes stay open when their owner is killed, and nobody would wake us."""
    owner = multiprocessing.parent_process()
    if owner:
        owner.join()
        os._exit(1)


def _make(count: int) -> list[int]:
    if _maker.stream is None:
        raise LocalError("A process that was not begun was asked for randomness.")
    return list(islice(_maker.stream, count))
