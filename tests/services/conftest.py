from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mixbayes.node.serving import server
from mixbayes.protocol.paillier.key import SecretKey, generate
from mixbayes.transport import probe
from tests.services.couple import Couple, make_couple
from tests.services.helpers import CALM, HASTE, Site, make_site


@pytest.fixture(autouse=True)
def pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is asked what is wrong has time to say it; whoever ends waits for nobody."""
    monkeypatch.setattr(probe, "PATIENCE", CALM)
    monkeypatch.setattr(server, "_GRACE", 0.2)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A federation whose nodes have not begun."""
    return make_site(tmp_path / "site")


def _served(folder: Path) -> Site:
    made = make_site(folder / "site")
    with made.mixers():
        made.serve()
    return made


@pytest.fixture(scope="session")
def served_once(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return _served(tmp_path_factory.mktemp("served"))


@pytest.fixture
def served(served_once: Site, tmp_path: Path) -> Site:
    """A federation with a model on disk at both mixers; no node runs."""
    shutil.copytree(served_once.folder, tmp_path / "site", symlinks=True)
    return replace(served_once, folder=tmp_path / "site", journals={})


@pytest.fixture
def serving(served: Site) -> Iterator[Site]:
    """The same, and both mixers run."""
    with served.mixers():
        yield served


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[Site]:
    """Mixer b of one that agreed to wait for nobody for long."""
    made = make_site(tmp_path / "site", policy={"timeout": HASTE})
    with made.mixer("b"):
        yield made


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Another one whose mixers run, for tests that leave the round as it is."""
    made = _served(tmp_path_factory.mktemp("shared"))
    with made.mixers():
        yield made


@pytest.fixture(scope="module")
def key() -> SecretKey:
    """The shortest one that the protocol takes."""
    return generate(2048)


@pytest.fixture
def couple(tmp_path: Path) -> Couple:
    """Two hospitals that have not begun."""
    return make_couple(tmp_path / "site")
