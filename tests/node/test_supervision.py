"""What a node tells systemd, at a real datagram socket."""

from __future__ import annotations

import io
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mixbayes.node import supervision
from mixbayes.node.log import logger
from mixbayes.node.observed import Observed
from mixbayes.node.supervision import SOCKET, WATCHDOG, WATCHED, Supervisor, supervised, supervisor, tell_status
from mixbayes.transport.errors import CannotServe

PATIENCE = 30.0


class Listening:
    """systemd's end."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self._socket.settimeout(PATIENCE)

    def next(self) -> list[str]:
        """The lines of the next datagram."""
        return self._socket.recv(1 << 16).decode().split("\n")

    def until(self, line: str) -> list[str]:
        """The lines of the next datagram that has this one."""
        while line not in (lines := self.next()):
            pass
        return lines

    def waiting(self) -> list[list[str]]:
        """Those that have come and were not read."""
        found: list[list[str]] = []
        self._socket.setblocking(False)
        try:
            while True:
                found.append(self.next())
        except BlockingIOError:
            return found
        finally:
            self._socket.settimeout(PATIENCE)

    def silent_for(self, seconds: float) -> bool:
        """Whether nothing comes for so long."""
        self._socket.settimeout(seconds)
        try:
            return not self.next()
        except TimeoutError:
            return True
        finally:
            self._socket.settimeout(PATIENCE)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def listening(address: str) -> Iterator[Listening]:
    one = Listening(address)
    try:
        yield one
    finally:
        one.close()


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    with listening(str(tmp_path / "notify")) as one:
        monkeypatch.setenv(SOCKET, one.address)
        monkeypatch.delenv(WATCHDOG, raising=False)
        monkeypatch.delenv(WATCHED, raising=False)
        yield one


def node(answers: Any = lambda: None) -> Observed:
    """One that knows of no round."""
    return cast("Observed", SimpleNamespace(round=lambda: None, answers=answers, expired=False))


def log() -> Any:
    return logger("mixer a", io.StringIO())


def test_without_a_socket_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOCKET, raising=False)
    before = threading.active_count()
    with supervised(node(), log()):
        assert threading.active_count() == before
    tell_status("counts the table")


def test_it_says_that_it_serves_and_that_it_stops(systemd: Listening) -> None:
    with supervised(node(), log()):
        assert systemd.next() == ["READY=1", "STATUS=no round is known yet"]
    assert systemd.until("STOPPING=1") == ["STOPPING=1", "STATUS=stops"]


def test_before_that_it_says_what_it_does(systemd: Listening) -> None:
    tell_status("counts\nREADY=1")
    assert systemd.next() == [r"STATUS=counts\nREADY=1"]


def test_an_abstract_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(f"@mixbayes-test-{os.getpid()}") as one:
        monkeypatch.setenv(SOCKET, one.address)
        tell_status("counts")
        assert one.next() == ["STATUS=counts"]


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "relative"])
def test_what_is_no_address_of_a_socket_is_left_alone(address: str) -> None:
    assert supervisor({SOCKET: address}) is None


def test_nobody_at_the_other_end_is_no_reason_to_stop(tmp_path: Path) -> None:
    Supervisor(str(tmp_path / "nobody")).tell("READY=1")


def test_a_supervisor_that_reads_nothing_holds_nobody_up(systemd: Listening) -> None:
    told = Supervisor(systemd.address)
    for _ in range(10_000):  # more than the system keeps for it
        told.tell("STATUS=serving")
    assert systemd.next() == ["STATUS=serving"]


def test_the_watchdog_is_this_process_own() -> None:
    mine, told = str(os.getpid()), {SOCKET: "/run/notify", WATCHDOG: "90000000"}
    found = [supervisor(told | more) for more in ({}, {WATCHED: mine}, {WATCHED: "1"}, {WATCHDOG: "soon"})]
    assert [one and one.watchdog for one in found] == [90.0, 90.0, None, None]
    assert [one and one.every for one in found] == [10.0, 10.0, 10.0, 10.0]
    assert Supervisor("/run/notify", 15.0).every == 5.0


def test_it_is_alive_as_long_as_it_answers_itself(systemd: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WATCHDOG, "30000")
    silent = threading.Event()

    def answers() -> None:
        if silent.is_set():
            raise CannotServe("no answer")

    with supervised(node(answers), log()):
        for _ in range(3):
            assert systemd.until("WATCHDOG=1") == ["WATCHDOG=1", "STATUS=no round is known yet"]
        silent.set()
        systemd.until("STATUS=no sign of life; its log says why")
        for _ in range(5):
            assert systemd.next() == ["STATUS=no sign of life; its log says why"]
        silent.clear()
        systemd.until("WATCHDOG=1")


def test_a_call_that_hangs_is_no_sign_of_life(systemd: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WATCHDOG, "30000")
    monkeypatch.setattr(supervision, "_FAREWELL", 0.01)
    within, go_on = threading.Event(), threading.Event()

    def hangs() -> None:
        within.set()
        go_on.wait(PATIENCE)

    with ExitStack() as stack:
        stack.callback(go_on.set)
        with supervised(node(hangs), log()):
            assert within.wait(PATIENCE)
            assert systemd.next()[0] == "READY=1"
            assert systemd.waiting() == []
        assert systemd.next() == ["STOPPING=1", "STATUS=stops"]


def test_a_disk_that_cannot_be_read_is_no_sign_of_life(systemd: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WATCHDOG, "30000")
    one = node()
    with supervised(one, log()):
        systemd.until("WATCHDOG=1")
        vars(one)["round"] = lambda: (_ for _ in ()).throw(OSError("gone"))
        systemd.until("STATUS=no sign of life; its log says why")


def test_a_node_whose_certificate_has_ended_waits_for_another(
    systemd: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WATCHDOG, "30000")

    def fails() -> None:
        raise CannotServe("no answer")

    one = node(fails)
    vars(one)["expired"] = True
    with supervised(one, log()):
        assert systemd.until("WATCHDOG=1")[1] == "STATUS=a certificate has ended; no round is known yet"


def test_without_a_watchdog_it_makes_no_calls(systemd: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "EVERY", 0.01)
    called = threading.Event()
    with supervised(node(called.set), log()):
        for _ in range(5):
            assert "WATCHDOG=1" not in systemd.next()
    assert not called.is_set()
