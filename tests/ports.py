"""Ports for servers of the tests."""

from __future__ import annotations

import os
import random
import socket
from contextlib import suppress
from itertools import cycle

_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_MANY = 4000
_RANGE = range(12000 + _MANY * (_WORKER % 5), 12000 + _MANY * (_WORKER % 5 + 1))
"""Below those that systems hand out by themselves, and other tests' at the same time have others."""
_TURN = cycle(random.SystemRandom().sample(_RANGE, _MANY))
"""Nobody is handed a port that another one was handed just before and does not listen on yet."""


def free_port() -> int:
    for _ in _RANGE:
        port = next(_TURN)
        with suppress(OSError), socket.socket() as trial:
            trial.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"nothing is free in {_RANGE}")
