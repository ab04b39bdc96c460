"""Signals while roles run in processes of their own: an end in order, and nothing is left."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from mixbayes.simulation.crew import Crew, ended_in_order
from tests.simulation.scenes import PATIENCE, echoes, play, start, stays

pytestmark = pytest.mark.usefixtures("roles_can_be_found")


def test_interrupt_of_the_whole_group_is_left_to_the_parent() -> None:
    def scene(crew: Crew) -> None:
        crew.start("mixer a", echoes)
        for words in ("there?", "still there?"):
            crew.tell("mixer a", words)
            assert crew.hear("mixer a") == words
            os.kill(crew._processes["mixer a"].pid or 0, signal.SIGINT)

    play(scene)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_is_an_end_in_order(number: signal.Signals) -> None:
    def scene(crew: Crew) -> None:
        start(crew, "mixer a", stays)
        signal.raise_signal(number)

    with pytest.raises(SystemExit) as caught, ended_in_order():
        play(scene)
    assert caught.value.code == 128 + number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_whoever_handles_signals_goes_on_doing_so(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with ended_in_order():
            signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    ended: list[bool] = []

    def elsewhere() -> None:
        with ended_in_order():
            play(lambda crew: start(crew, "mixer a", stays))
        ended.append(True)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(PATIENCE)
    assert ended == [True]


def test_ctrl_c_while_a_role_is_started_comes_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that was about to be started is known then, and ended."""

    def scene(crew: Crew) -> None:
        kind = crew._context.Process
        really = kind.start

        def start_interrupted(process: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            really(process)

        monkeypatch.setattr(kind, "start", start_interrupted)
        crew.start("mixer a", stays)

    with pytest.raises(KeyboardInterrupt):
        play(scene)
