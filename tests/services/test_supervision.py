"""Real nodes under the eyes of systemd, which here is a datagram socket."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health

from mixbayes.node.serving import own_call
from mixbayes.node.supervision import SOCKET, WATCHDOG, supervised
from tests.node.test_supervision import Listening, listening
from tests.services.couple import NORTH, SOUTH, make_couple
from tests.services.helpers import PATIENCE, Running, Site, wait_until

HUNG = "STATUS=no sign of life; its log says why"


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    with listening(str(tmp_path / "notify")) as one:
        monkeypatch.setenv(SOCKET, one.address)
        monkeypatch.setenv(WATCHDOG, "300000")
        yield one


def test_a_node_from_its_start_to_its_end(systemd: Listening, site: Site) -> None:
    """It is hung in between: stopped in the sense of the operating system."""
    with Running.mixer(site, "b") as node:
        first = systemd.next()
        assert first == ["READY=1", "STATUS=round 1 is collecting; missing: party north, party south, party west"]
        for _ in range(3):
            assert systemd.until("WATCHDOG=1") == ["WATCHDOG=1", first[1]]
        node.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(node.process.pid) == "T", "it is stopped")
        systemd.waiting()
        assert systemd.silent_for(1.0)
        node.process.send_signal(signal.SIGCONT)
        systemd.until("WATCHDOG=1")
        assert node.stop() == 0
    assert systemd.until("STOPPING=1") == ["STOPPING=1", "STATUS=stops"]
    assert systemd.waiting() == []


def state_of(process: int) -> str:
    """As the system has it: running, sleeping or stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_hospital_says_what_it_does_until_it_is_ready(systemd: Listening, serving: Site) -> None:
    with Running.party(serving, "north") as node:
        assert systemd.next() == ["STATUS=counts the table"]
        assert systemd.next() == ["READY=1", "STATUS=round 1 is serving"]
        systemd.until("WATCHDOG=1")
        assert node.stop() == 0


def test_a_node_whose_calls_hang_gives_no_sign_of_life(
    systemd: Listening, served: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other threads run, that which tells systemd among them."""
    monkeypatch.setattr(own_call, "PATIENCE", 0.5)
    hung, go_on = threading.Event(), threading.Event()
    really = health.HealthServicer.Check

    def check(self: Any, request: Any, context: Any) -> Any:
        if hung.is_set():
            go_on.wait(PATIENCE)
        return really(self, request, context)

    monkeypatch.setattr(health.HealthServicer, "Check", check)
    with served.mixer("b") as node, supervised(node.observed, served.log("b")):
        systemd.until("WATCHDOG=1")
        hung.set()
        systemd.until(HUNG)
        for _ in range(3):
            assert systemd.next() == [HUNG]
        assert served.journals["b"].says("no sign of life", "E122")
        hung.clear()
        go_on.set()
        systemd.until("WATCHDOG=1")


@pytest.mark.parametrize("name", [NORTH, SOUTH])
def test_a_hospital_without_mixers_is_asked_at_all_its_doors(
    systemd: Listening, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    really = own_call.refuse_silent

    def refuse_silent(listens: str, port: int, identity: Any) -> None:
        asked.append(listens)
        really(listens, port, identity)

    monkeypatch.setattr("mixbayes.parties.alone.node.refuse_silent", refuse_silent)
    couple = make_couple(tmp_path / "site")
    with couple.node(name) as node:
        began = len(asked)
        with supervised(node.observed, couple.site.log(name)):
            assert systemd.until("WATCHDOG=1")[1].startswith("STATUS=round 1 is collecting")
    doors = {"127.0.0.1:0", couple.site.federation.party(NORTH).address} if name == NORTH else {"127.0.0.1:0"}
    assert set(asked[began:]) == doors


def test_certificates_that_have_ended(served: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with served.mixer("b") as node:
        assert not node.observed.expired
        for which in ("expires", "authority_expires"):
            with monkeypatch.context() as patch:
                patch.setattr(type(node.observed.identity), which, datetime(2020, 1, 1, tzinfo=UTC))
                assert node.observed.expired
