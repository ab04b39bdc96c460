"""The open calls of revoked certificates end, whatever happens at the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import grpc
import pytest

from mixbayes.node.serving.open_calls import OpenCalls

SERIAL, OTHER = 7, 8


class Call:
    """As much of gRPC's context as a call needs here."""

    def __init__(self) -> None:
        self.ended = False

    def add_callback(self, callback: Callable[[], None]) -> bool:
        return True

    def cancel(self) -> None:
        self.ended = True

    @property
    def context(self) -> grpc.ServicerContext:
        return cast("grpc.ServicerContext", self)


class Scene:
    def __init__(self) -> None:
        self.revoked: frozenset[int] = frozenset()
        self.calls = OpenCalls(lambda: self.revoked)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_open_calls_of_a_revoked_certificate_end_and_no_others(scene: Scene) -> None:
    call, other = Call(), Call()
    scene.calls.end()
    scene.calls.enter(SERIAL, call.context)
    scene.calls.enter(OTHER, other.context)
    scene.revoked = frozenset({SERIAL})
    assert scene.calls.end() == {SERIAL}
    assert (call.ended, other.ended) == (True, False)


def test_who_was_checked_before_the_list_changed_does_not_enter_after_it(scene: Scene) -> None:
    call = Call()
    assert SERIAL not in scene.calls.end()  # the check of one thread
    scene.revoked = frozenset({SERIAL})
    scene.calls.end()  # another thread's
    assert SERIAL in scene.calls.enter(SERIAL, call.context)
    assert not scene.calls._open


def test_a_list_is_read_by_one_thread_at_a_time() -> None:
    """Else the older of two lists could take the place of the newer one, and let its certificates in again."""
    alone: list[bool] = []

    def read() -> frozenset[int]:
        alone.append(calls._lock.locked())
        return frozenset()

    calls = OpenCalls(read)
    calls.end()
    assert alone == [True]
