"""Roles that do one thing each, and the scenes in which they play."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NoReturn

from mixbayes.simulation import roles
from mixbayes.simulation.crew import Crew
from mixbayes.transport.local import channel

PATIENCE = 60.0
"""The deadline where none should be met."""
HASTE = 0.3
"""The deadline where one must be met, once a role has said that it is there."""


def ends(line: Connection) -> None:
    line.send("here")


def stays(line: Connection, *said: object) -> None:
    for words in ("here", *said):
        line.send(words)
    line.recv()


def echoes(line: Connection) -> None:
    while True:
        line.send(line.recv())


def answers_later(line: Connection, gate: socket.socket) -> None:
    line.send("here")
    gate.settimeout(PATIENCE)
    gate.recv(1)  # until the other end is closed
    line.send("answer")


def raises(line: Connection, error: BaseException) -> NoReturn:
    line.send("here")
    raise error


def raises_when_told(line: Connection, error: BaseException) -> NoReturn:
    line.send("here")
    time.sleep(line.recv())
    raise error


def exits_when_told(line: Connection) -> NoReturn:
    line.send("here")
    line.recv()
    os._exit(7)


def is_killed_when_told(line: Connection) -> None:
    line.send("here")
    line.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def stops(line: Connection) -> None:
    line.send("here")
    os.kill(os.getpid(), signal.SIGSTOP)


def ignores_terminate(line: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    line.send("here")
    time.sleep(2 * PATIENCE)


def holds(line: Connection, end: socket.socket) -> None:
    line.send("here")
    line.recv()


def listens(line: Connection, end: socket.socket) -> None:
    line.send("here")
    channel("mixer b", end, PATIENCE).receive("labels", 1)


def is_there(process: int | None) -> bool:
    """Whether it runs, or has ended and is not yet buried by this process."""
    try:
        os.kill(process or 0, 0)
    except ProcessLookupError:
        return False
    return True


def play(scene: Callable[[Crew], object]) -> None:
    """Run a scene; whatever happens in it, no process may be left. What is left all the same is killed."""
    before = set(multiprocessing.active_children())
    crew = Crew(PATIENCE, preload=roles.__name__)
    try:
        with crew:
            scene(crew)
    finally:
        left = {name: process for name, process in crew._processes.items() if is_there(process.pid)}
        for process in left.values():
            process.kill()
            process.join(PATIENCE)
        assert not left
        assert set(multiprocessing.active_children()) <= before


def start(crew: Crew, name: str, role: Callable[..., None], *arguments: object) -> None:
    """Start a role and wait until it is there."""
    crew.start(name, role, *arguments)
    assert crew.hear(name) == "here"
