"""Both mixers are asked at once, so that a hospital waits for the slower one, and not for one after the other."""

from __future__ import annotations

import threading

import pytest

from mixbayes.parties.with_mixers.both_mixers import BothMixers

PATIENCE = 20.0


def test_neither_waits_for_the_other() -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE)

    def call(name: str) -> str:
        meeting.wait()
        return name

    assert BothMixers({}).at_once(call) == ["a", "b"]


def test_without_another_thread_they_are_asked_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_room)
    assert BothMixers({}).at_once(str.upper) == ["A", "B"]
