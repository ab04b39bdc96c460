"""Ports for servers of the tests."""

from __future__ import annotations

import os
import random
import socket
from contextlib import suppress

_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_MANY = 4000
_RANGE = range(12000 + _MANY * (_WORKER % 5), 12000 + _MANY * (_WORKER % 5 + 1))
"""Below those that systems hand out by themselves, and other tests' at the same time have others."""


def free_port() -> int:
    for port in random.sample(_RANGE, _MANY):
        with suppress(OSError), socket.socket() as trial:
            trial.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"nothing is free in {_RANGE}")
