"""Reading one part while the part before it is counted."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Thing = TypeVar("Thing")


def ahead(things: Iterator[Thing]) -> Iterator[Thing]:
    """The same things; the next one is made in another thread while the last one is used."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(_next, things)
        while found := coming.result():
            coming = thread.submit(_next, things)
            yield found[0]


def _next(things: Iterator[Thing]) -> tuple[Thing] | None:
    try:
        return (next(things),)
    except StopIteration:
        return None
