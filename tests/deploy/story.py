"""A page that is a story: its commands are typed from the first to the last in one small federation.

The nodes run in this process, because most of what is typed starts one. A line that starts a node stops the one of
that name before, as the page tells operators to; so does a comment `# Stop NAME.`
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import read_federation, written
from mixbayes.agreement.pinning import pinned
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

MIXERS, HOSPITALS = ("b", "a"), ("north", "south", "west")
_STOP = re.compile(r"# Stop (\w+)\.")
_EXAMPLE = re.compile(r"mixer-b\.example\.\w+:8443")
_HEAD, _NODE = "sex,age,chol,class", ("mixbayes mixer", "mixbayes party")
_WAITS = ("mixbayes status", "mixbayes classify")


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

    def stop_all(self) -> None:
        for name in list(self.running):
            self.stop(name)


@dataclass(frozen=True)
class Story:
    """A federation at work, and a keyboard."""

    machines: Machines
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    @property
    def folder(self) -> Path:
        return self.machines.folder

    def says(self, name: str, words: str) -> bool:
        """Whether the log of a node has these words."""
        return self.machines.journals[name].says(words)

    def played(self, page: str) -> None:
        """Every command of the page, with free ports in the place of its examples."""
        text = "".join(blocks(ROOT / "docs" / "operations" / f"{page}.md", elsewhere=False))
        for address in set(_EXAMPLE.findall(text)):
            text = text.replace(address, f"127.0.0.1:{free_port()}")
        for line in text.splitlines():
            self.type(line.strip())

    def begin(self, hospitals: Iterable[str]) -> None:
        """Start everybody, and wait until the round serves."""
        for name in (*MIXERS, *hospitals):
            kind = "mixer" if name in MIXERS else f"party --data {name}.csv"
            self.type(f"mixbayes {kind} --federation federation.toml --name {name} --keys keys --state state/{name}")
        self.type("mixbayes status --federation federation.toml --name north --keys keys")

    def type(self, line: str) -> None:
        """One line as somebody types it."""
        if stop := _STOP.fullmatch(line):
            self.machines.stop(stop[1])
        elif not line.startswith("mixbayes "):
            by_the_shell(line, self.folder)
        else:
            if line.startswith(_NODE):
                self.machines.stop(_option(line, "--name"))
            if line.startswith(_WAITS):
                wait_until(_serves(self.folder, line), f"{line}: the round serves")
            self._run(line)

    def _run(self, line: str) -> None:
        self.monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            run_command()  # `main` ends the process of a node
        assert not ended.value.code, f"{line}\n{self.capsys.readouterr()}"


def story_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], hospitals: Iterable[str]
) -> Iterator[Story]:
    """Two mixers, whose keys are agreed, and these hospitals; everybody is at work."""
    machines = Machines(folder)
    _prepare(folder, list(hospitals))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(nodes, "until_stopped", machines.until_stopped)
    monkeypatch.setattr(nodes, "configure", machines.log)
    monkeypatch.setattr(server, "_GRACE", 0.2)
    monkeypatch.setattr(pauses, "_FIRST", 0.5)
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.5)
    monkeypatch.setattr(background.keep_going, "__defaults__", (0.2,))
    for variable in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    try:
        story = Story(machines, monkeypatch, capsys)
        story.begin(hospitals)
        yield story
    finally:
        machines.stop_all()


def _prepare(folder: Path, hospitals: list[str]) -> None:
    """The agreement, keys, certificates and tables; west has a table and may join."""
    make_authority(folder / "authority")
    (folder / "signed").mkdir()
    for name in (*MIXERS, *hospitals):
        with_keys(folder / "keys", name, folder / "authority")
        shutil.copy(folder / "keys" / f"{name}.pem", folder / "signed")
    mixers = [{"name": name, "address": f"127.0.0.1:{free_port()}"} for name in sorted(MIXERS)]
    content = HEART | {"parties": [{"name": name} for name in hospitals], "mixers": mixers}
    keys = {name: public_key_in(folder / "keys" / f"{name}.pem").fingerprint for name in MIXERS}
    (folder / "federation.toml").write_text(written(pinned(federation_from(content), keys)))
    for seed, name in enumerate(HOSPITALS):
        (folder / f"{name}.csv").write_text(_table(seed))
    (folder / "new.csv").write_text("sex,age,chol\nf,35,200\nm,66,300\n")


def _table(seed: int) -> str:
    random = np.random.default_rng(seed)
    rows = [
        f"{random.choice(['f', 'm'])},{40 + 20 * ill + random.integers(-9, 9)},{200 + 80 * ill},{label}"
        for ill, label in enumerate(["absent", "present"])
        for _ in range(10)
    ]
    return "\n".join([_HEAD, *rows]) + "\n"


def _option(line: str, name: str) -> str:
    words = shlex.split(line)
    return words[words.index(name) + 1]


def _serves(folder: Path, line: str) -> Callable[[], bool]:
    federation, name, keys = (_option(line, word) for word in ("--federation", "--name", "--keys"))

    def there() -> bool:
        agreed = read_federation(folder / federation)
        log = logger("waiting", Journal())
        try:
            with at_mixers(agreed, Identity(folder / keys, name, log), folder / keys) as desk:
                found = desk.status()
                return found.state == SERVING and not found.unreachable  # a node may be about to notice new keys
        except MixbayesError:
            return False

    return there
