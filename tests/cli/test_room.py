"""A node that gets no thread or no memory any more ends, so that whoever supervises it can start it again."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from mixbayes.cli import nodes, room
from mixbayes.cli.nodes import until_stopped
from mixbayes.cli.room import PATIENCE, Room
from mixbayes.node.log import logger
from mixbayes.transport.errors import CannotServe

pytestmark = pytest.mark.timeout(60)
LATER = 20.0
"""Seconds after which a node that does not end by itself is told to."""


@dataclass(frozen=True)
class Idle:
    threads: tuple[threading.Thread, ...] = ()


@contextmanager
def idle() -> Iterator[Idle]:
    yield Idle()


def no_thread(self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def no_memory(size: int) -> bytearray:
    raise MemoryError


def test_a_node_that_gets_no_thread_ends_with_e122(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(room, "PATIENCE", 0.05)
    telling = threading.Timer(LATER, signal.pthread_kill, (threading.get_ident(), signal.SIGTERM))
    telling.start()
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    try:
        with pytest.raises(CannotServe, match="no thread") as told:
            until_stopped(idle(), logger("mixer a", io.StringIO()))
    finally:
        telling.cancel()
    assert (told.value.code, told.value.exit_code) == ("E122", 1)


class Scene:
    def __init__(self) -> None:
        self.now = 0.0
        self.room = Room(lambda: self.now)

    def look_after(self, seconds: float) -> None:
        self.now += seconds
        self.room.look()


@pytest.mark.parametrize("want", ["threads", "memory"])
def test_a_short_want_ends_nothing_and_a_long_one_does(monkeypatch: pytest.MonkeyPatch, want: str) -> None:
    scene = Scene()
    for _ in range(3):
        with monkeypatch.context() as patch:
            lack(patch, want)
            scene.look_after(5.0)
            scene.look_after(PATIENCE - 1.0)
        scene.look_after(5.0)
    lack(monkeypatch, want)
    scene.look_after(5.0)
    with pytest.raises(CannotServe):
        scene.look_after(PATIENCE)


def lack(patch: pytest.MonkeyPatch, want: str) -> None:
    if want == "threads":
        patch.setattr(threading.Thread, "start", no_thread)
    else:
        patch.setattr(room, "bytearray", no_memory, raising=False)
