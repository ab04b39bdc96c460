"""Roles in processes of their own: every failure is reported, in bounded time, by the name of whose it is."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NoReturn

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
from mixbayes.simulation.crew import Crew
from tests.simulation.scenes import (
    HASTE,
    PATIENCE,
    answers_later,
    ends,
    exits_when_told,
    holds,
    ignores_terminate,
    is_killed_when_told,
    listens,
    play,
    raises,
    raises_when_told,
    start,
    stays,
    stops,
)

pytestmark = pytest.mark.usefixtures("roles_can_be_found")


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


def test_why_no_role_can_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def scene(crew: Crew) -> None:
        def too_long(process: object) -> NoReturn:
            raise OSError("AF_UNIX path too long")

        monkeypatch.setattr(crew._context.Process, "start", too_long)
        crew.start("mixer a", stays)

    with pytest.raises(Unsupported, match=r"no more nodes \(AF_UNIX path too long\).* set TMPDIR to a shorter one"):
        play(scene)


def test_role_that_has_ended_is_looked_for() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        start(crew, "mixer b", ends)
        crew.raise_failures()
        crew._processes["mixer b"].join(PATIENCE)
        crew.raise_failures()

    with pytest.raises(PeerGone, match=r"^mixer b, at "):
        play(scene)
