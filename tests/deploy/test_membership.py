"""The page about members, typed from its first command to its last in one small federation.

The nodes run in this process, because most of what is typed starts one. A line that starts a node stops the one of
that name before, as the page tells operators to; so does a comment `# Stop NAME.`
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import read_federation, written
from mixbayes.cli import nodes, run_command
from mixbayes.keys.authority import make_authority
from mixbayes.keys.public import public_key_in
from mixbayes.node import identity, pauses
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log, logger
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.serving import server
from mixbayes.parties import background
from mixbayes.parties.desk import at_mixers
from mixbayes.protocol.errors import MixbayesError
from tests.deploy.helpers import ROOT
from tests.deploy.test_documentation import blocks, by_the_shell
from tests.keys.helpers import HEART, with_keys
from tests.ports import free_port
from tests.services.helpers import Journal, wait_until

PAGE = ROOT / "docs" / "operations" / "membership.md"
STOP = re.compile(r"# Stop (\w+)\.")
EXAMPLE = re.compile(r"mixer-b\.example\.\w+:8443")
HEAD, ROW = "sex,age,chol,class", "{},{},{},{}"


@dataclass
class Machines:
    """The nodes that run, by name, and what they log."""

    folder: Path
    running: dict[str, ExitStack] = field(default_factory=dict)
    journals: dict[str, Journal] = field(default_factory=dict)
    starting: str = ""

    def log(self, title: str) -> Log:
        name = self.starting = title.split()[-1]
        return logger(title, self.journals.setdefault(name, Journal()))

    def until_stopped(self, node: AbstractContextManager[object], log: Log) -> None:
        """In place of waiting for a signal."""
        stack = ExitStack()
        stack.enter_context(node)
        self.running[self.starting] = stack

    def stop(self, name: str) -> None:
        if stack := self.running.pop(name, None):
            stack.close()


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    """Two mixers and two hospitals, which have an agreement and keys; no node runs."""
    made = Machines(tmp_path)
    mixers = [{"name": name, "address": f"127.0.0.1:{free_port()}"} for name in "ab"]
    content = HEART | {"parties": [{"name": "north"}, {"name": "south"}], "mixers": mixers}
    (tmp_path / "federation.toml").write_text(written(federation_from(content)))
    make_authority(tmp_path / "authority")
    (tmp_path / "signed").mkdir()
    for name in ("a", "b", "north", "south"):
        with_keys(tmp_path / "keys", name, tmp_path / "authority")
        shutil.copy(tmp_path / "keys" / f"{name}.pem", tmp_path / "signed")
    for seed, name in enumerate(("north", "south", "west")):
        (tmp_path / f"{name}.csv").write_text(table(seed))
    (tmp_path / "new.csv").write_text("sex,age,chol\nf,35,200\nm,66,300\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nodes, "until_stopped", made.until_stopped)
    monkeypatch.setattr(nodes, "configure", made.log)
    monkeypatch.setattr(server, "_GRACE", 0.2)
    monkeypatch.setattr(pauses, "_FIRST", 0.5)
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.5)
    monkeypatch.setattr(background.keep_going, "__defaults__", (0.2,))
    for variable in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    yield made
    for name in list(made.running):
        made.stop(name)


def table(seed: int) -> str:
    random = np.random.default_rng(seed)
    rows = [
        f"{random.choice(['f', 'm'])},{40 + 20 * ill + random.integers(-9, 9)},{200 + 80 * ill},{label}"
        for ill, label in enumerate(["absent", "present"])
        for _ in range(10)
    ]
    return "\n".join([HEAD, *rows]) + "\n"


def option(line: str, name: str) -> str:
    words = shlex.split(line)
    return words[words.index(name) + 1]


def serves(folder: Path, line: str) -> Callable[[], bool]:
    federation, name, keys = (option(line, word) for word in ("--federation", "--name", "--keys"))

    def there() -> bool:
        agreed = read_federation(folder / federation)
        log = logger("waiting", Journal())
        try:
            with at_mixers(agreed, Identity(folder / keys, name, log), folder / keys) as desk:
                return desk.status().state == SERVING
        except MixbayesError:
            return False

    return there


def play(machines: Machines, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line as somebody types it."""
    if stop := STOP.fullmatch(line):
        machines.stop(stop[1])
    elif not line.startswith("mixbayes "):
        by_the_shell(line, machines.folder)
    else:
        if line.startswith(("mixbayes mixer", "mixbayes party")):
            machines.stop(option(line, "--name"))
        if line.startswith(("mixbayes status", "mixbayes classify")):
            wait_until(serves(machines.folder, line), f"{line}: the round serves")
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            run_command()  # `main` ends the process of a node
        assert not ended.value.code, f"{line}\n{capsys.readouterr()}"


def test_the_page_from_its_first_command_to_its_last(
    machines: Machines, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pin = "mixbayes federation pin federation.toml --key a=keys/a.pem --key b=keys/b.pem"
    play(machines, pin, monkeypatch, capsys)
    for name in ("b", "a", "north", "south"):
        kind = "mixer" if len(name) == 1 else f"party --data {name}.csv"
        agreed = f"--federation federation.toml --name {name} --keys keys --state state/{name}"
        play(machines, f"mixbayes {kind} {agreed}", monkeypatch, capsys)
    text = "".join(blocks(PAGE, elsewhere=False))
    for address in set(EXAMPLE.findall(text)):
        text = text.replace(address, f"127.0.0.1:{free_port()}")
    for line in text.splitlines():
        play(machines, line.strip(), monkeypatch, capsys)
    assert machines.journals["west"].says("is not listed in the agreement")
    wait_until(lambda: machines.journals["south"].says("keys were renewed"), "south notices its new keys")
    assert (machines.folder / "labels.csv").read_text().splitlines() == ["label", "absent", "present"]
    agreed = read_federation(machines.folder / "next.toml")
    assert [change.member for change in agreed.changes] == ["a"]
    assert agreed.key_of("b") == public_key_in(machines.folder / "hands" / "keys" / "b.pem").fingerprint
