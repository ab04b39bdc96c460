"""The processes of a simulation: started together, heard one by one, stopped together whatever happens."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess, SpawnContext, SpawnProcess
from types import FrameType, TracebackType
from typing import Any

from mixbayes.protocol.errors import LocalError, MixbayesError, PeerGone, PeerSilent, Unsupported

PATIENCE = 600.0
"""Seconds to wait for a role that is at work. What roles wait for among themselves has shorter deadlines."""
_FILES, _FILES_OF_ROLE = 64, 4
"""Open files that this process, or a role that talks with all others, needs at most."""
_GRACE = 1.0
_FAREWELL = 15.0
"""Seconds for the roles to tidy up once all is said, or once they are told to end."""


class Crew:
    """Roles in processes of their own. A role is a function of a `Connection` to here and its arguments."""

    def __init__(self, patience: float = PATIENCE, preload: str = "") -> None:
        """`preload` names a module that many roles need: it is then imported once, and every role begins with it."""
        self._patience = patience
        self._context: SpawnContext | ForkServerContext = multiprocessing.get_context("spawn")
        if preload:
            self._context = multiprocessing.get_context("forkserver")
            self._context.set_forkserver_preload([preload])
        self._processes: dict[str, SpawnProcess | ForkServerProcess] = {}
        self._lines: dict[str, Any] = {}  # of connections, whose type depends on the system
        self._heard: dict[str, list[Any]] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._hang_up()
                self._join()
        finally:
            for process in self._processes.values():
                process.terminate()
            self._join()
            for process in self._processes.values():
                process.kill()  # one that does not heed the first word
                process.join()
            self._hang_up()

    def start(self, name: str, role: Callable[..., None], *arguments: object) -> None:
        """Start a role. Sockets among the arguments are its own from now on."""
        try:
            here, there = self._context.Pipe()
            # Not daemons: a role may have processes of its own. They end when their line here does.
            process = self._context.Process(target=_run, args=(there, role, arguments), name=name)
            with _undisturbed():
                process.start()
                self._processes[name], self._lines[name], self._heard[name] = process, here, []
        except (OSError, EOFError) as error:
            why = "the process that starts them has ended"
            if isinstance(error, OSError):
                why = error.strerror or str(error)
            raise Unsupported(
                f"The system lets this process start no more nodes ({why}). Simulate fewer hospitals, raise its limits "
                "(ulimit -n, ulimit -u), or, if a path is too long, set TMPDIR to a shorter one."
            ) from None
        there.close()
        for end in _sockets(arguments):
            end.close()

    def tell(self, name: str, message: object) -> None:
        """Send a role what it waits for."""
        until = time.monotonic() + self._patience
        rescue = threading.Timer(self._patience, self._processes[name].kill)  # a role that does not listen
        rescue.daemon = True  # whoever is interrupted here need not wait for it
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

    def process_of(self, name: str) -> int | None:
        """Its number in the system."""
        return self._processes[name].pid

    def raise_failures(self, patience: float = 0.0) -> None:
        """Of any role, if there is one or a role has ended; of this much patience with those that have said nothing."""
        while self._lines and self._listen(patience):
            pass
        if ended := [name for name in self._processes if name not in self._lines]:
            self._fail([_ended(ended[0])])

    def _hang_up(self) -> None:
        for line in self._lines.values():
            line.close()

    def _join(self) -> None:
        """Wait for all, as long as it takes to tidy up."""
        until = time.monotonic() + _FAREWELL
        for process in self._processes.values():
            process.join(max(0.0, until - time.monotonic()))

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


def make_room(roles: int) -> None:
    """For as many roles; refused if the system does not allow it, before the server of processes runs into it."""
    needed = _FILES + _FILES_OF_ROLE * roles
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise Unsupported(
            f"{roles} nodes need {needed} open files, and the system allows this process {hard}. Simulate fewer "
            "hospitals, or raise the limit (ulimit -n)."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


@contextmanager
def ended_in_order() -> Iterator[None]:
    """SIGTERM, and a terminal that is closed, end the block as Ctrl-C does; a second time ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        sys.exit(128 + number)

    usual = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in usual:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in usual:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """What is started here never hears Ctrl-C, not even while it imports; this process hears signals afterwards."""
    resource_tracker.ensure_running()  # its own start would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _signals_later():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _signals_later() -> Iterator[None]:
    """A mask is not enough: the system then gives the signal to another thread, and Python this one the exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in usual:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        for heard in came:
            signal.raise_signal(heard)


def _said(line: Any) -> Any:
    try:
        return line.recv()
    except (EOFError, OSError):
        return _NOTHING_MORE


def _ended(name: str) -> PeerGone:
    return PeerGone(name, "simulation", "its process ended")


def _run(line: Connection, role: Callable[..., None], arguments: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent stops us
    signal.signal(signal.SIGTERM, _leave)
    with suppress(BrokenPipeError):  # nobody listens any more
        _play(line, role, arguments)


def _leave(number: int, frame: FrameType | None) -> None:
    """End as if the role had: what it holds is tidied up."""
    tidy_up_undisturbed()
    sys.exit(0)


def tidy_up_undisturbed() -> None:
    """For a role that ends: to be told so once more, in the middle of it, would leave the half of it undone."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


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
