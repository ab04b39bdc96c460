from __future__ import annotations

import gc
import multiprocessing.util
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mixbayes.protocol.transfer import pool
from tests.protocol.adversary import dealt_receive, dealt_send


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary things whose name has a space, and is short: sockets in it may have 107 letters."""
    multiprocessing.util.get_temp_dir()  # this process's own, which it remembers, must not be in there
    with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
        yield Path(folder)


@pytest.fixture
def roles_can_be_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """New processes import the files of these tests by their names, which plain `pytest` alone would not let them."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    yield
    gc.collect()  # sockets that were left open are warned of here, where it is ignored, and not in the next test


@pytest.fixture
def dealt_base_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that run the protocol in memory many times, and do not concern it."""
    monkeypatch.setattr(pool, "send_base", dealt_send)
    monkeypatch.setattr(pool, "receive_base", dealt_receive)
