"""Roles in processes of their own: every failure is reported, in bounded time, and nothing is left running."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mixbayes.protocol.errors import (
    BadData,
    LocalError,
    OutOfRange,
    PeerError,
    PeerGone,
    PeerSilent,
    Unsupported,
    WrongLength,
)
from mixbayes.simulation import crew as module
from mixbayes.simulation import roles
from mixbayes.simulation.crew import Crew, ended_in_order
from mixbayes.simulation.links import Link
from mixbayes.transport.local import channel

PATIENCE = 60.0
"""The deadline where none should be met."""
HASTE = 0.3
"""The deadline where one must be met, once a role has said that it is there."""


@pytest.fixture(autouse=True)
def _roles_can_be_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The new processes import this file by its name, which plain `pytest` alone would not let them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    yield
    gc.collect()  # sockets that were left open are warned of here, where it is ignored, and not in the next test


# Roles ----------------------------------------------------------------------------------------------------------------


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


# Helpers --------------------------------------------------------------------------------------------------------------


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


# Failures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [BadData("Column 'age' is missing."), WrongLength("mixer b", "labels", "3 bytes"), PeerError("x", "y", "z", "Do")],
    ids=lambda error: type(error).__name__,
)
def test_error_of_a_role_is_raised_as_it_is(error: BadData | PeerError) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", raises, error)
        crew.hear("mixer a")

    with pytest.raises(type(error)) as caught:
        play(scene)
    assert (type(caught.value), str(caught.value)) == (type(error), str(error))
    assert caught.value.exit_code == error.exit_code


def test_error_of_any_role_is_raised_to_whoever_hears_another() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        crew.start("mixer b", raises, BadData("a bad table"))
        crew.hear("mixer a")

    with pytest.raises(BadData, match="a bad table"):
        play(scene)


def test_cause_is_raised_and_not_what_followed_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a, b is gone; only then b is heard to have failed for a reason of its own."""
    monkeypatch.setattr(module, "_GRACE", PATIENCE)

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", raises_when_told, PeerGone("mixer b", "labels", "the connection was closed"))
        start(crew, "mixer b", raises_when_told, OutOfRange("the asking hospital", "labels", "2 was said"))
        crew.tell("mixer b", 0.1)
        crew.tell("mixer a", 0)
        crew.hear("mixer a")

    with pytest.raises(OutOfRange, match="the asking hospital, at labels"):
        play(scene)


@pytest.mark.parametrize("dies", [exits_when_told, is_killed_when_told])
def test_role_that_dies_is_named(dies: Callable[[Connection], None]) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        start(crew, "mixer b", dies)
        crew.tell("mixer b", "now")
        crew.hear("mixer b")

    with pytest.raises(PeerGone, match=r"^mixer b, at ") as caught:
        play(scene)
    assert caught.value.exit_code == 3


def test_role_that_dies_is_named_by_whoever_talks_with_it() -> None:
    of_a, of_b = socket.socketpair()

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", listens, of_a)
        start(crew, "mixer b", holds, of_b)
        crew._processes["mixer b"].kill()
        crew.hear("mixer a")

    with pytest.raises(PeerGone, match=r"^mixer b, at labels: "):
        play(scene)


def test_mistake_of_this_program_is_called_one() -> None:
    """With the place, without a traceback, and without what was in the variables."""

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", raises, ValueError("a patient's cell"))
        crew.hear("mixer a")

    with pytest.raises(LocalError, match="ValueError in raises, line ") as caught:
        play(scene)
    assert "patient" not in str(caught.value)
    assert caught.value.exit_code == 1


def test_role_that_died_before_it_is_told_something_is_named() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        start(crew, "mixer b", ends)
        crew._processes["mixer b"].join(PATIENCE)
        crew.tell("mixer b", "something")

    with pytest.raises(PeerGone, match=r"^mixer b, at "):
        play(scene)


def hear_in_haste(crew: Crew, name: str) -> None:
    crew._patience = HASTE
    try:
        crew.hear(name)
    finally:
        crew._patience = PATIENCE


def test_silent_role_is_named_at_the_deadline() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        start(crew, "mixer b", stays, *range(1000))  # what others say does not put the deadline off
        hear_in_haste(crew, "mixer a")

    with pytest.raises(PeerSilent, match=rf"^mixer a, at simulation: it took no part for {HASTE:g} s") as caught:
        play(scene)
    assert caught.value.exit_code == 4


def test_role_may_end_while_another_is_heard() -> None:
    ours, theirs = socket.socketpair()
    heard = []

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", ends)
        start(crew, "the asking hospital", answers_later, theirs)
        crew._processes["mixer a"].join(PATIENCE)
        ours.close()
        heard.append(crew.hear("the asking hospital"))

    play(scene)
    assert heard == ["answer"]


@pytest.mark.parametrize("deaf", [stops, ignores_terminate])
def test_role_that_takes_no_part_in_its_own_end(
    deaf: Callable[[Connection], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FAREWELL", HASTE)

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", deaf)
        crew._patience = HASTE
        crew.hear("mixer a")

    with pytest.raises(PeerSilent, match=r"^mixer a, at "):
        play(scene)


def test_role_that_does_not_listen_is_silent_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FAREWELL", HASTE)

    def scene(crew: Crew) -> None:
        start(crew, "the asking hospital", stops)
        crew._patience = HASTE
        rescue = threading.Timer(PATIENCE, crew._processes["the asking hospital"].kill)
        rescue.start()
        try:
            crew.tell("the asking hospital", bytes(1 << 22))
            crew.hear("the asking hospital")
        finally:
            rescue.cancel()

    with pytest.raises(PeerSilent, match=r"^the asking hospital, at "):
        play(scene)


# What works -----------------------------------------------------------------------------------------------------------


def test_roles_are_told_and_heard_one_by_one_and_in_order() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays, 1, 2, 3)
        crew.start("mixer b", echoes)
        for words in ("one", {"two": [2]}):
            crew.tell("mixer b", words)
            assert crew.hear("mixer b") == words
        assert [crew.hear("mixer a") for _ in range(3)] == [1, 2, 3]

    play(scene)


def test_why_no_role_can_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def scene(crew: Crew) -> None:
        def too_long(process: object) -> NoReturn:
            raise OSError("AF_UNIX path too long")

        monkeypatch.setattr(crew._context.Process, "start", too_long)
        crew.start("mixer a", stays)

    with pytest.raises(Unsupported, match=r"no more nodes \(AF_UNIX path too long\).* set TMPDIR to a shorter one"):
        play(scene)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_nothing_is_left_whatever_happens_here(error: type[BaseException]) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        crew.start("mixer b", stays)  # perhaps not even there yet
        raise error

    with pytest.raises(error):
        play(scene)


def test_interrupt_of_the_whole_group_is_left_to_the_parent() -> None:
    def scene(crew: Crew) -> None:
        crew.start("mixer a", echoes)
        for words in ("there?", "still there?"):
            crew.tell("mixer a", words)
            assert crew.hear("mixer a") == words
            os.kill(crew._processes["mixer a"].pid or 0, signal.SIGINT)

    play(scene)


def test_sockets_of_a_role_are_its_own() -> None:
    ours, theirs = socket.socketpair()
    deep = socket.socketpair()

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays, {"door": [(theirs,)]}, deep[1])
        assert (theirs.fileno(), deep[1].fileno()) == (-1, -1)

    with ours, deep[0]:
        play(scene)


@pytest.mark.parametrize("ending", ["it ends", "it is killed"])
def test_end_of_a_role_is_seen_at_the_other_end_of_its_socket(ending: str) -> None:
    ours, theirs = socket.socketpair()

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", holds, theirs)
        if ending == "it ends":
            crew.tell("mixer a", "enough")
        else:
            crew._processes["mixer a"].kill()
        ours.settimeout(PATIENCE)
        assert ours.recv(1) == b""

    with ours:
        play(scene)


def test_sockets_in_a_link_are_the_roles_own() -> None:
    ours, theirs = Link.pair()
    held = []

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays, theirs)
        held.extend(end.fileno() for end in (theirs.now, theirs.ahead))

    with ours.now, ours.ahead, theirs.now, theirs.ahead:
        play(scene)
    assert held == [-1, -1]


def tidies_up(line: Connection, note: Path) -> None:
    try:
        stays(line)
    finally:
        time.sleep(HASTE)  # longer than the next word takes
        note.write_text("done")


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_role_is_given_time_to_tidy_up(
    tmp_path: Path, error: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FAREWELL", PATIENCE)
    note = tmp_path / "note"

    def scene(crew: Crew) -> None:
        start(crew, "mixer a", tidies_up, note)
        if error:
            raise error

    if error:
        with pytest.raises(error):
            play(scene)
    else:
        play(scene)
    assert note.read_text() == "done"


def test_role_that_has_ended_is_looked_for() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        start(crew, "mixer b", ends)
        crew.raise_failures()
        crew._processes["mixer b"].join(PATIENCE)
        crew.raise_failures()

    with pytest.raises(PeerGone, match=r"^mixer b, at "):
        play(scene)


# Signals --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_is_an_end_in_order(number: signal.Signals) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        signal.raise_signal(number)

    with pytest.raises(SystemExit) as caught, ended_in_order():
        play(scene)
    assert caught.value.code == 128 + number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_whoever_handles_signals_goes_on_doing_so(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with ended_in_order():
            signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    ended: list[bool] = []

    def elsewhere() -> None:
        with ended_in_order():
            play(lambda crew: start(crew, "mixer a", stays))
        ended.append(True)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(PATIENCE)
    assert ended == [True]


def test_ctrl_c_while_a_role_is_started_comes_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that was about to be started is known then, and ended."""

    def scene(crew: Crew) -> None:
        kind = crew._context.Process
        really = kind.start

        def start_interrupted(process: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            really(process)

        monkeypatch.setattr(kind, "start", start_interrupted)
        crew.start("mixer a", stays)

    with pytest.raises(KeyboardInterrupt):
        play(scene)
