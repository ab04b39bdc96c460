"""Roles in processes of their own: they are told and heard, their sockets are theirs, and nothing is left running."""

from __future__ import annotations

import socket
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from mixbayes.simulation import crew as module
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.links import Link
from tests.simulation.scenes import HASTE, PATIENCE, echoes, holds, play, start, stays

pytestmark = pytest.mark.usefixtures("roles_can_be_found")


def test_roles_are_told_and_heard_one_by_one_and_in_order() -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays, 1, 2, 3)
        crew.start("mixer b", echoes)
        for words in ("one", {"two": [2]}):
            crew.tell("mixer b", words)
            assert crew.hear("mixer b") == words
        assert [crew.hear("mixer a") for _ in range(3)] == [1, 2, 3]

    play(scene)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_nothing_is_left_whatever_happens_here(error: type[BaseException]) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        crew.start("mixer b", stays)  # perhaps not even there yet
        raise error

    with pytest.raises(error):
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
