"""Deadlines of what others send."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from mixbayes.transport.watch import Watch, in_time

LONG, SHORT = 60.0, 0.05


class BrokenOff(Exception):
    """As gRPC ends a stream of requests that is cancelled."""


def sent(ended: threading.Event, *messages: str) -> Iterator[str]:
    """These, and then nothing any more."""
    yield from messages
    assert ended.wait(LONG)
    raise BrokenOff


@pytest.mark.parametrize(("first", "later", "messages"), [(SHORT, LONG, []), (LONG, SHORT, ["one", "two"])])
def test_a_message_that_does_not_come_breaks_the_caller_off(first: float, later: float, messages: list[str]) -> None:
    ended, got = threading.Event(), list[str]()
    with pytest.raises(BrokenOff):
        got.extend(in_time(sent(ended, *messages), ended.set, Watch(SHORT), first, later))
    assert ended.is_set()
    assert got == messages


def test_a_moment_without_threads_is_over_with_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, ended = Watch(SHORT), threading.Event()

    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as moment:
        moment.setattr(threading.Thread, "start", none_left)
        with pytest.raises(RuntimeError):
            list(in_time(iter(["one"]), ended.set, watch, SHORT, SHORT))
    assert not watch._watched
    with pytest.raises(BrokenOff):
        list(in_time(sent(ended), ended.set, watch, SHORT, SHORT))


def test_what_is_done_between_two_messages_takes_its_time() -> None:
    late = threading.Event()
    coming = in_time(iter(["one", "two"]), late.set, Watch(SHORT), LONG, SHORT)
    assert next(coming) == "one"
    assert not late.wait(6 * SHORT)
    assert list(coming) == ["two"]


def test_nobody_watches_what_has_ended() -> None:
    watch = Watch(SHORT)
    assert list(in_time(iter(["one"]), lambda: None, watch, LONG, LONG)) == ["one"]
    assert not watch._watched
