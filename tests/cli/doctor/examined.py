"""A federation that `mixbayes doctor` looks at, and its report read back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import read_federation, written
from mixbayes.agreement.pinning import pinned
from mixbayes.cli import doctor
from mixbayes.keys.public import public_key_of_node
from mixbayes.mixers import node as mixer_node
from mixbayes.node.log import logger
from tests.keys.helpers import HEART, changed
from tests.ports import free_port

TABLE = "sex,age,chol,class\nf,40,210,absent\nm,61,280,present\nf,33,190,absent\n"


@dataclass(frozen=True)
class Site:
    """An agreement and the keys of everybody, in one folder."""

    folder: Path

    @property
    def agreement(self) -> Path:
        return self.folder / "federation.toml"

    @property
    def authority(self) -> Path:
        return self.folder / "authority"

    def keys(self, name: str) -> Path:
        return self.folder / f"keys-{name}"

    def state(self, name: str) -> Path:
        return self.folder / f"state-{name}"

    def port(self, mixer: str) -> int:
        return int(read_federation(self.agreement).mixer(mixer).address.rpartition(":")[2])

    def table(self, text: str = TABLE) -> Path:
        file = self.folder / "table.csv"
        file.write_text(text)
        return file

    def agree(self, content: dict[str, Any], file: str = "federation.toml") -> Path:
        path = self.folder / file
        path.write_text(written(federation_from(content)))
        return path

    def pin(self, *names: str) -> None:
        """Agree on the keys that these have."""
        agreed = read_federation(self.agreement)
        keys = {name: public_key_of_node(self.keys(name), name).fingerprint for name in names}
        self.agree(pinned(agreed, keys).model_dump(mode="json"))

    @contextmanager
    def mixer(self, name: str, ahead: float = 0.0) -> Iterator[None]:
        """It runs in this process, its clock ahead of this machine's."""
        settings = mixer_node.Settings(read_federation(self.agreement), name, self.keys(name), self.state(name))
        with mixer_node.running(settings, logger(name), lambda: time.time() + ahead):
            yield

    @contextmanager
    def mixers(self, ahead: float = 0.0) -> Iterator[None]:
        with self.mixer("b", ahead), self.mixer("a", ahead):
            yield

    def doctor(self, name: str, *more: object, agreement: Path | None = None) -> Result:
        words = ["--federation", agreement or self.agreement, "--name", name, "--keys", self.keys(name), *more]
        app = typer.Typer()
        app.command()(doctor.doctor)
        return CliRunner().invoke(app, list(map(str, words)))


def heart() -> dict[str, Any]:
    mixers = [{"name": name, "address": f"127.0.0.1:{free_port()}"} for name in "ab"]
    return changed(HEART, (("mixers",), mixers), (("policy", "timeout"), 60.0))


def lines(result: Result) -> dict[str, str]:
    """Verdict and text by what was looked at."""
    found = {}
    for line in result.stdout.splitlines():
        if line.startswith(("OK ", "WARNING ", "PROBLEM ")):
            verdict, rest = line.split(maxsplit=1)
            what, _, said = rest.partition(": ")
            found[what] = f"{verdict} {said}"
    return found


def problems(result: Result) -> dict[str, str]:
    return {what: said for what, said in lines(result).items() if said.startswith("PROBLEM")}
