"""The processes of a simulation: started together, heard one by one, stopped together whatever happens."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any

from mixbayes.protocol.errors import LocalError, MixbayesError, PeerGone, PeerSilent

PATIENCE = 600.0
"""Seconds to wait for a role that is at work. What roles wait for among themselves has shorter deadlines."""
_GRACE = 1.0
_FAREWELL = 5.0
"""Seconds for a role to tidy up once all is said."""


class Crew:
    """Roles in processes of their own. A role is a function of a `Connection` to here and its arguments."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._context = multiprocessing.get_context("spawn")
        self._processes: dict[str, SpawnProcess] = {}
        self._lines: dict[str, Any] = {}  # of connections, whose type depends on the system
        self._heard: dict[str, list[Any]] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for line in self._lines.values():
            line.close()
        for process in self._processes.values() if error is None else ():
            process.join(_FAREWELL)
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(_GRACE)
            process.kill()  # one that does not heed the first word
            process.join()

    def start(self, name: str, role: Callable[..., None], *arguments: object) -> None:
        """Start a role. Sockets among the arguments are its own from now on."""
        here, there = self._context.Pipe()
        # Not daemons: a role may have processes of its own. They end when their line here does.
        process = self._context.Process(target=_run, args=(there, role, arguments), name=name)
        process.start()
        there.close()
        for end in _sockets(arguments):
            end.close()
        self._processes[name], self._lines[name], self._heard[name] = process, here, []

    def tell(self, name: str, message: object) -> None:
        """Send a role what it waits for."""
        until = time.monotonic() + self._patience
        rescue = threading.Timer(self._patience, self._processes[name].kill)  # a role that does not listen
        rescue.start()
        try:
            self._lines[name].send(message)
        except OSError:
            self._fail([_ended(name) if time.monotonic() < until else self._silent(name)])
        finally:
            rescue.cancel()

    def hear(self, name: str) -> Any:
        """The next thing a role says. Any role's failure is raised here."""
        until = time.monotonic() + self._patience
        while not self._heard[name]:
            if name not in self._lines:
                self._fail([_ended(name)])
            if not self._listen(max(0.0, until - time.monotonic())):
                raise self._silent(name)
        return self._heard[name].pop(0)

    def _silent(self, name: str) -> PeerSilent:
        return PeerSilent(name, "simulation", f"it took no part for {self._patience:g} s")

    def _listen(self, patience: float) -> bool:
        """Take in what any role has said; False if nobody said anything in time."""
        ready = wait(list(self._lines.values()), patience)
        for name in [name for name, line in self._lines.items() if line in ready]:
            said = _said(self._lines[name])
            if isinstance(said, BaseException):
                self._fail([said])
            if said is _NOTHING_MORE:
                del self._lines[name]
            else:
                self._heard[name].append(said)
        return bool(ready)

    def _fail(self, failures: list[BaseException]) -> None:
        """Raise the failure that explains the others: one that is not only about somebody else being gone."""
        until = time.monotonic() + _GRACE
        lines = list(self._lines.values())
        while lines and (ready := wait(lines, max(0.0, until - time.monotonic()))):
            for line in [line for line in lines if line in ready]:
                said = _said(line)
                if said is _NOTHING_MORE:
                    lines.remove(line)
                elif isinstance(said, BaseException):
                    failures.append(said)
        blunt = [failure for failure in failures if not isinstance(failure, PeerGone | PeerSilent)]
        raise (blunt or failures)[0]


_NOTHING_MORE = object()


def _said(line: Any) -> Any:
    try:
        return line.recv()
    except (EOFError, OSError):
        return _NOTHING_MORE


def _ended(name: str) -> PeerGone:
    return PeerGone(name, "simulation", "its process ended")


def _run(line: Connection, role: Callable[..., None], arguments: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent stops us
    with suppress(BrokenPipeError):  # nobody listens any more
        _play(line, role, arguments)


def _play(line: Connection, role: Callable[..., None], arguments: tuple[object, ...]) -> None:
    try:
        role(line, *arguments)
    except (EOFError, BrokenPipeError):
        return  # nobody speaks any more
    except MixbayesError as error:
        line.send(error)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a mistake of ours must be seen as one
        place = traceback.extract_tb(error.__traceback__)[-1]
        line.send(LocalError(f"{type(error).__name__} in {place.name}, line {place.lineno}: please report it."))


def _sockets(arguments: object) -> list[socket.socket]:
    """Every socket anywhere in the arguments of a role."""
    if isinstance(arguments, socket.socket):
        return [arguments]
    if isinstance(arguments, dict):
        return [end for value in arguments.values() for end in _sockets(value)]
    if isinstance(arguments, list | tuple):
        return [end for value in arguments for end in _sockets(value)]
    if is_dataclass(arguments):
        return [end for field in fields(arguments) for end in _sockets(getattr(arguments, field.name))]
    return []
