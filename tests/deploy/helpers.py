"""A federation on disk, and the installed command run for real, as an ordinary user whoever runs the tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import written
from tests.keys.helpers import HEART, with_keys
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("MIXBAYES") or str(Path(sys.executable).with_name("mixbayes"))
HOSPITALS = ("north", "south", "west")
NODES = ("a", "b", *HOSPITALS)
PATIENCE = 60.0
TABLE = "sex,age,chol,class\nf,40,210,absent\nm,61,280,present\nf,33,190,absent\nm,70,310,present\n"
_ORDINARY = (
    ("unshare", "--user", "--map-user=10001", "--map-group=10001", "--"),
    ("setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--"),
)


@cache
def ordinary() -> tuple[str, ...]:
    """What to put before a command so that it runs without privileges; an ordinary user needs nothing."""
    if os.geteuid() != 0:
        return ()
    for prefix in _ORDINARY:
        if shutil.which(prefix[0]) and subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
            return prefix
    raise AssertionError("these tests run as root, and neither unshare nor setpriv can give that up")


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the caller's but the path."""
    return {"PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}", **more}


def run(arguments: Sequence[object], env: Mapping[str, str] = {}, **more: Any) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    return subprocess.run(
        [*ordinary(), *map(str, arguments)],
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        **more,
    )


@dataclass(frozen=True)
class World:
    """An agreement, everybody's keys and tables, in one folder."""

    folder: Path
    ports: Mapping[str, int]

    @classmethod
    def new(cls, folder: Path) -> World:
        world = cls(folder, {mixer: free_port() for mixer in "ab"})
        content = deepcopy(HEART)
        content["mixers"] = [{"name": name, "address": f"127.0.0.1:{port}"} for name, port in world.ports.items()]
        world.agreement.write_text(written(federation_from(content)))
        for name in NODES:
            with_keys(world.keys(name), name, folder / "authority")
        for name in HOSPITALS:
            world.table(name).write_text(TABLE)
        return world

    @property
    def agreement(self) -> Path:
        return self.folder / "federation.toml"

    def keys(self, name: str) -> Path:
        return self.folder / "keys" / name

    def state(self, name: str) -> Path:
        return self.folder / "state" / name

    def table(self, name: str) -> Path:
        return self.folder / f"{name}.csv"

    def listens(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}" if name in self.ports else "127.0.0.1:0"


class Node:
    """A command that runs until it is told to stop."""

    def __init__(self, arguments: Sequence[object], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [*ordinary(), *map(str, arguments)],
                env=environment(env),
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def wait_for(self, event: str) -> None:
        until = time.monotonic() + PATIENCE
        while not any(line["event"] == event for line in self.said()):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, f"never {event}: {self.log.read_text()}"
            time.sleep(0.05)

    def user(self) -> int:
        """Whom the node takes itself for."""
        # The folder itself belongs to root: a node keeps its memory to itself.
        (line,) = (one for one in Path(f"/proc/{self.process.pid}/status").read_text().splitlines() if "Uid:" in one)
        return int(line.split()[2])

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def stopped(nodes: Iterable[Node]) -> list[int]:
    """Their exit codes, after SIGTERM to all."""
    nodes = list(nodes)
    for node in nodes:
        node.process.send_signal(signal.SIGTERM)
    return [node.process.wait(PATIENCE) for node in nodes]
