"""Requests from their bytes, read inside the guard: what gRPC itself cannot read, it refuses without a code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from google.protobuf.message import DecodeError

from mixbayes.protocol.errors import OutOfRange

Read = Callable[[bytes], Any]


def read_each(raw: Iterator[bytes], read: Read | None, caller: str) -> Iterator[Any]:
    """The messages in these bytes. Raises whose bytes they are at the first that cannot be read."""
    return map(partial(_message, read, caller), raw) if read else raw


def _message(read: Read, caller: str, raw: bytes) -> Any:
    try:
        return read(raw)
    except DecodeError:
        remedy = "Ask who runs it which version they use"
        raise OutOfRange(caller, "calling", "its message cannot be read", remedy) from None
