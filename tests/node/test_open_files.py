"""The limit of open files, which a node raises for itself."""

from __future__ import annotations

import resource

import pytest

from mixbayes.node import open_files

UNLIMITED = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "then"),
    [
        (1024, 4096, 4096),
        (1024, UNLIMITED, open_files.MOST),
        (1024, 1 << 20, open_files.MOST),
        (1024, 1024, None),
        (1 << 20, 1 << 20, None),
        (UNLIMITED, UNLIMITED, None),
    ],
)
def test_the_soft_limit_goes_as_far_as_the_hard_one(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, then: int | None
) -> None:
    done: list[tuple[int, int]] = []
    monkeypatch.setattr(open_files.resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(open_files.resource, "setrlimit", lambda _, limits: done.append(limits))
    reached = open_files.raised()
    assert done == ([(then, hard)] if then else [])
    assert reached == open_files.within_reach() == (then or min(hard if hard > 0 else open_files.MOST, open_files.MOST))


def test_connections_leave_files_for_everything_else() -> None:
    assert 64 <= open_files.for_connections(1024) <= 1024 - 256
