"""Two hospitals alone as commands, in processes of their own, with the helpers that Paillier has."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import sysconfig
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.services.couple import NORTH, SOUTH, Couple, make_couple
from tests.services.helpers import PATIENCE, wait_until

COMMAND = [sys.executable, "-W", "error", str(Path(sysconfig.get_path("scripts"), "mixbayes"))]


class Node:
    """`mixbayes party`, in a session of its own."""

    def __init__(self, couple: Couple, name: str) -> None:
        site, table = couple.site, couple.site.folder / f"{name}.csv"
        rows = site.tables[name]
        with open(table, "w", newline="") as file:
            csv.writer(file).writerows([rows.names, *zip(*(rows.texts(n) for n in rows.names), strict=True)])
        job = ["party", "--federation", site.file, "--name", name, "--keys", site.keys, "--data", table]
        self.log = site.folder / f"{name}.log"
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [*COMMAND, *map(str, job), "--state", str(site.state(name))], stderr=log, start_new_session=True
            )

    def helpers(self) -> int:
        """Processes of its session beside it."""
        found = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, _, _, session, *_ = path.read_text().rpartition(")")[2].split()
                found += int(session) == self.process.pid and state != "Z" and path.parent.name != str(self.process.pid)
        return found

    def end(self, number: signal.Signals) -> int:
        """The exit code; it ends in time, and its helpers with it."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        wait_until(lambda: self.helpers() == 0, "its helpers have ended")
        return code

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def test_a_node_that_is_killed_begins_again_and_one_that_is_told_to_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIXBAYES_LOG", "json")
    couple = make_couple(tmp_path / "site", "paillier")
    with ExitStack() as stack:

        def started(name: str) -> Node:
            node = Node(couple, name)
            stack.callback(node.close)
            wait_until(lambda: bool(list(couple.site.keys.glob(f"{name}-*.address"))), f"{name} listens")
            return node

        north, south = started(NORTH), started(SOUTH)
        couple.serve()
        assert couple.labels(SOUTH) == couple.due()
        assert north.helpers() > 0
        assert north.end(signal.SIGKILL) == -signal.SIGKILL
        for kept in couple.site.keys.glob(f"{NORTH}-*.address"):
            kept.unlink()
        north = started(NORTH)
        assert [couple.labels(name) for name in (SOUTH, NORTH)] == [couple.due()] * 2
        assert south.end(signal.SIGTERM) == 0
        assert north.end(signal.SIGTERM) == 0
    talk = north.log.read_text() + south.log.read_text()
    assert "Traceback" not in talk
    assert "resource_tracker" not in talk
