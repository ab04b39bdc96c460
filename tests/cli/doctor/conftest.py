from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.doctor.examined import Site, heart
from tests.keys.helpers import with_keys

PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("route", "peers", "listening"):
        monkeypatch.setattr(f"mixbayes.node.doctor.{module}.PATIENCE", 60.0)
    monkeypatch.setattr("mixbayes.transport.probe.PATIENCE", 60.0)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.upper, PROXIES)):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def enough_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.node.doctor.machine.within_reach", lambda: 8192)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path)
    site.agree(heart())
    for name in ("a", "b", "north", "south"):
        with_keys(site.keys(name), name, site.authority)
    site.pin("a", "b")
    return site
