"""`mixbayes simulate` stopped from outside: no process, no folder, no traceback, whatever it was doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from mixbayes.protocol.errors import LocalError

TALKATIVE = "from mixbayes.cli import main, progress; progress.FIRST_AFTER = progress.EVERY = 0.0; main()"
COMMAND = [sys.executable, "-c", TALKATIVE]
PATIENCE = 60.0


def members(session: int) -> list[str]:
    """The processes of a session that have not ended, where the system shows them in /proc."""
    stats = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            stats.append(path.read_text())
    fields = {stat: stat.rpartition(")")[2].split() for stat in stats}
    return [stat for stat, (state, _, _, of, *_) in fields.items() if int(of) == session and state != "Z"]


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            raise LocalError("It did not come to this.")
        time.sleep(0.005)


Running = subprocess.Popen[str]


def has_a_folder(running: Running, temporary: Path) -> None:
    wait_until(lambda: any(path.is_dir() for path in temporary.iterdir()))  # not the file tempfile tries the place with


def starts_processes(running: Running, temporary: Path) -> None:
    wait_until(lambda: len(members(running.pid)) > 2)


def says(words: str) -> Callable[[Running, Path], None]:
    def moment(running: Running, temporary: Path) -> None:
        assert running.stderr
        said: list[str] = []
        while not "".join(said[-1:]).startswith(words):
            said.append(running.stderr.readline())
            assert said[-1], said

    return moment


BY_SHARES: list[str] = []
BY_PAILLIER = ["--two-party", "--protocol", "paillier"]


@pytest.mark.parametrize(
    ("moment", "number", "how"),
    [
        (has_a_folder, signal.SIGTERM, BY_SHARES),
        (starts_processes, signal.SIGINT, BY_SHARES),
        (says("contributed"), signal.SIGTERM, BY_SHARES),
        (says("training: "), signal.SIGINT, BY_SHARES),
        (says("rows classified"), signal.SIGINT, BY_PAILLIER),
        (says("rows classified"), signal.SIGTERM, BY_SHARES),
    ],
    ids=["folder", "processes", "contributed", "training", "paillier", "rows"],
)
def test_stopped(
    tmp_path: Path, temporary: Path, moment: Callable[[Running, Path], None], number: signal.Signals, how: list[str]
) -> None:
    """Ctrl-C goes to the whole group, as a terminal sends it; SIGTERM to the command alone."""
    table, out = tmp_path / "many.csv", tmp_path / "labels.csv"
    rng = np.random.default_rng(0)
    rows = [f"{'xy'[i]},c{j}" for i, j in rng.integers(0, 2, (100, 2))]
    table.write_text("\n".join(["a,class", *(rows * 6000), ""]))
    out.write_text("before")
    job = [*COMMAND, "simulate", str(table), "--classify", str(table), "--labels", str(out), "--json", *how]
    told = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(
        job, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=told
    ) as running:
        try:
            moment(running, temporary)
            (os.killpg if number == signal.SIGINT else os.kill)(running.pid, number)
            data, talk = running.communicate(timeout=PATIENCE)
            wait_until(lambda: not members(running.pid))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert (running.returncode, data) == (130 if number == signal.SIGINT else 128 + number, "")
    assert "Traceback" not in talk
    assert "resource_tracker" not in talk
    assert "Error" not in talk
    assert out.read_text() == "before"
    assert list(temporary.iterdir()) == []
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
