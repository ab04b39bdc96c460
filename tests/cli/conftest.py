from __future__ import annotations

from collections.abc import Iterator

import pytest

from mixbayes.node.serving import server
from mixbayes.simulation.crew import Crew
from mixbayes.transport import probe
from tests.cli.in_process import command
from tests.cli.simulating import Refused, Simulated, complaint
from tests.cli.typed import Prompt
from tests.services.helpers import CALM, Site, make_site


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Prompt:
    monkeypatch.setattr(probe, "PATIENCE", CALM)
    monkeypatch.setattr(server, "_GRACE", 0.2)
    return Prompt(capsys, monkeypatch)


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A federation of which no node runs."""
    return make_site(tmp_path_factory.mktemp("cli") / "site")


@pytest.fixture(scope="package")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Another one, with a model at both mixers."""
    made = make_site(tmp_path_factory.mktemp("cli") / "serving")
    with made.mixers():
        made.serve()
        yield made


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Simulated:
    """`mixbayes simulate` with these arguments."""
    return command("simulate", monkeypatch, capsys)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """What `mixbayes` says that refuses these arguments with this exit code, before any node begins."""

    def start(*arguments: object) -> None:
        raise AssertionError("a node was started")

    def run(exit_code: int, name: str, *arguments: object) -> str:
        return complaint(command(name, monkeypatch, capsys)(*arguments), exit_code)

    monkeypatch.setattr(Crew, "start", start)
    return run
