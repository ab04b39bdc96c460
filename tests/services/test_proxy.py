"""Hospitals whose way out is a proxy, by the usual variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.transport import peer
from mixbayes.transport.errors import Unreachable
from mixbayes.wire.v1.node_pb2 import ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import MixerStub
from tests.proxy import proxy
from tests.services.helpers import make_site


def test_a_federation_works_through_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site(tmp_path / "site")
    monkeypatch.setattr(peer, "on_loopback", lambda address: False)  # what is on this machine needs no proxy else
    through: list[str] = []
    with proxy(b"200 OK", through) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        with site.mixers():
            site.serve()
            rows = site.tables["south"]
            assert site.labels("north", rows) == site.expected(rows)
    assert set(through) == {mixer.address for mixer in site.federation.mixers}


def test_a_proxy_that_lets_nobody_through_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site(tmp_path / "site")
    monkeypatch.setattr(peer, "on_loopback", lambda address: False)
    with proxy(b"403 Forbidden") as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        with site.mixer("b"), site.dialled("north", "b") as mixer, pytest.raises(Unreachable, match="https_proxy"):
            mixer.call(MixerStub(mixer.channel).Report, ReportRequest(), "asking for the status")
