"""Roles in processes of their own: every failure is reported, in bounded time, and nothing is left running."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from mixbayes.parties.contribution import messages
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.columns import Columns
from mixbayes.protocol.errors import BadData, LocalError, OutOfRange, PeerError, PeerGone, PeerSilent, WrongLength
from mixbayes.protocol.randomness import Randomness
from mixbayes.simulation import run
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.links import Link
from mixbayes.simulation.run import simulate
from mixbayes.transport.local import channel

PATIENCE = 30.0
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


def dies_at_once(line: Connection, *_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


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
    crew = Crew(PATIENCE)
    try:
        with crew:
            scene(crew)
    finally:
        left = {name: process for name, process in crew._processes.items() if is_there(process.pid)}
        for process in left.values():
            process.kill()
            process.join(PATIENCE)
        assert not left
        assert multiprocessing.active_children() == []


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


def test_cause_is_raised_and_not_what_followed_from_it() -> None:
    """For a, b is gone; only then b is heard to have failed for a reason of its own."""

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
def test_role_that_takes_no_part_in_its_own_end(deaf: Callable[[Connection], None]) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", deaf)
        crew._patience = HASTE
        crew.hear("mixer a")

    with pytest.raises(PeerSilent, match=r"^mixer a, at "):
        play(scene)


def test_role_that_does_not_listen_is_silent_too() -> None:
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


# Whole simulations ----------------------------------------------------------------------------------------------------


left_open = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
"""The contributing hospitals' ends are."""


def small_table() -> Columns:
    rng = np.random.default_rng(0)
    colours, classes = rng.choice(["blue", "red"], 30), rng.choice(["no", "yes"], 30)
    return Columns(("colour", "class"), (colours, classes), 30)


@left_open
@pytest.mark.parametrize("name", ["mixer a", "mixer b", "the asking hospital"])
def test_simulation_names_the_role_that_dies(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    really = Crew.start

    def start_and_lose_one(crew: Crew, who: str, role: Callable[..., None], *arguments: object) -> None:
        really(crew, who, dies_at_once if who == name else role, *arguments)

    monkeypatch.setattr(Crew, "start", start_and_lose_one)
    with pytest.raises(PeerGone, match=rf"^{name}, at "):
        simulate({"all": small_table()}, deadline=PATIENCE)
    assert multiprocessing.active_children() == []


@left_open
def test_mixers_with_different_sendings_of_a_hospital_compute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def sent_twice(*arguments: Any) -> tuple[bytes, bytes]:
        return messages(*arguments)[0], messages(*arguments)[1]

    heard = []

    def hear(crew: Crew, name: str) -> Any:
        heard.append(said := listen(crew, name))
        return said

    listen = Crew.hear
    monkeypatch.setattr(Crew, "hear", hear)
    monkeypatch.setattr(run, "messages", sent_twice)
    with pytest.raises(PeerError, match="the two mixers hold different contributions"):
        simulate({"all": small_table()}, deadline=PATIENCE)
    assert "collected" not in heard
    assert multiprocessing.active_children() == []


@left_open
def test_hospital_that_lies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(name: str, digest: str, number: int, vector: Words, random: Randomness) -> tuple[bytes, bytes]:
        claimed = np.zeros_like(vector) - vector if name == "hospital-2" else vector
        return messages(name, digest, number, claimed, random)

    monkeypatch.setattr(run, "messages", sent)
    with pytest.raises(PeerError, match=r"^party hospital-2, at contribution: ") as caught:
        simulate({"all": small_table()}, deadline=PATIENCE)
    assert caught.value.exit_code == 3


# Ctrl-C ---------------------------------------------------------------------------------------------------------------

COMMAND = [sys.executable, str(Path(sysconfig.get_path("scripts"), "mixbayes"))]


def members(session: int) -> list[str]:
    """The processes of a session that have not ended, where the system shows them in /proc."""
    stats = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            stats.append(path.read_text())
    fields = {stat: stat.rpartition(")")[2].split() for stat in stats}
    return [stat for stat, (state, _, _, of, *_) in fields.items() if int(of) == session and state != "Z"]


def stopped_by_ctrl_c(command: list[str]) -> tuple[subprocess.Popen[str], str, str]:
    """The command in a session of its own, interrupted once the first rows are classified."""
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert running.stderr
        assert any("rows classified" in line for line in iter(running.stderr.readline, ""))
        os.killpg(running.pid, signal.SIGINT)
        data, talk = running.communicate(timeout=20)
    except BaseException:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        raise
    return running, data, talk


@pytest.mark.parametrize("how", [[], ["--two-party", "--protocol", "paillier"]], ids=["mixers", "paillier"])
def test_ctrl_c_stops_everything_and_writes_nothing(tmp_path: Path, how: list[str]) -> None:
    """After the first of many batches of rows, each of which takes a while."""
    rng = np.random.default_rng(0)
    rows = [f"v{i},v{j},c{(i + j) % 3}" for i, j in rng.integers(0, 100, (100, 2))]
    table, out = tmp_path / "many.csv", tmp_path / "labels.csv"
    table.write_text("\n".join(["a,b,class", *(rows * 3000), ""]))
    out.write_text("before")
    job = [*COMMAND, "simulate", str(table), "--classify", str(table), "--labels", str(out), "--json", *how]
    stopped, data, talk = stopped_by_ctrl_c(job)
    until = time.monotonic() + PATIENCE
    while members(stopped.pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert members(stopped.pid) == []
    assert (stopped.returncode, data) == (130, "")
    assert "Traceback" not in talk
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "many.csv"]


INTERRUPTED_WHILE_IMPORTING = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from mixbayes.cli import main
main()
"""


def test_ctrl_c_while_the_command_is_still_importing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING], capture_output=True, text=True, timeout=PATIENCE
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 130
