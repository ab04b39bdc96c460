"""What a node tells systemd, as sd_notify(3) has it: that it serves, where the round stands, that it is alive.

Without NOTIFY_SOCKET, which systemd sets for a unit with Type=notify, nothing is told and no thread is begun.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from mixbayes.node.log import Log, error_fields, printable
from mixbayes.node.observed import Observed, in_words
from mixbayes.node.repeated import Repeated

SOCKET, WATCHDOG, WATCHED = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
READY, ALIVE, STOPPING = "READY=1", "WATCHDOG=1", "STOPPING=1"
EVERY = 10.0
"""Seconds between two looks at the round. A watchdog has a third of its time, if that is less."""
_FAREWELL = 1.0
_LONGEST = 500


@dataclass(frozen=True)
class Supervisor:
    """Takes datagrams at a path, or at a name of the abstract namespace, which begins with @."""

    address: str
    watchdog: float | None = None
    """The seconds after which it ends a node from which it has heard no sign of life."""

    @property
    def every(self) -> float:
        return EVERY if self.watchdog is None else min(EVERY, self.watchdog / 3)

    def tell(self, *lines: str) -> None:
        """A supervisor that is not there is no reason to stop."""
        name = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaking:
            speaking.setblocking(False)
            speaking.sendto("\n".join(lines).encode(), name)


def supervisor(environment: Mapping[str, str] = os.environ) -> Supervisor | None:
    """The one that started this process, if it wants to be told."""
    address = environment.get(SOCKET, "")
    if not address.startswith(("/", "@")):
        return None
    limit, watched = environment.get(WATCHDOG, ""), environment.get(WATCHED, str(os.getpid()))
    return Supervisor(address, int(limit) / 1e6 if limit.isdecimal() and watched == str(os.getpid()) else None)


def tell_status(text: str) -> None:
    """What the node does before it serves."""
    if told := supervisor():
        told.tell(_status(text))


@contextmanager
def supervised(node: Observed, log: Log) -> Iterator[None]:
    """Tell the supervisor that the node serves, then how it is, and in the end that it stops."""
    if (told := supervisor()) is None:
        yield
        return
    stopped = threading.Event()
    telling = threading.Thread(target=_go_on_telling, args=(told, node, stopped, log), name="supervision", daemon=True)
    told.tell(READY, _status(in_words(node)))
    telling.start()
    try:
        yield
    finally:
        stopped.set()
        told.tell(STOPPING, _status("stops"))
        telling.join(_FAREWELL)  # it may be in the middle of a call that gets no answer


def _go_on_telling(told: Supervisor, node: Observed, stopped: threading.Event, log: Log) -> None:
    repeated = Repeated()
    while not stopped.wait(told.every):
        try:
            lines = _alive(told, node)
        except Exception as error:  # noqa: BLE001 - without a sign of life the supervisor does the rest
            repeated.say(str(error), log.warning, "no sign of life", **error_fields(error))
            lines = [_status("no sign of life; its log says why")]
        if not stopped.is_set():
            told.tell(*lines)


def _alive(told: Supervisor, node: Observed) -> list[str]:
    """That this thread runs says nothing of the node. It is alive if its server answers and its disk can be read.

    If its certificate has ended, its server answers nobody. It is not to be ended for that: started again it would end
    at once, but as long as it runs, it takes a renewed certificate by itself.
    """
    words = in_words(node)
    if told.watchdog is None:
        return [_status(words)]
    if node.expired:
        return [ALIVE, _status(f"a certificate has ended; {words}")]
    node.answers()
    return [ALIVE, _status(words)]


def _status(text: str) -> str:
    return f"STATUS={printable(text)[:_LONGEST]}"
