from __future__ import annotations

import multiprocessing.util
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary things whose name has a space, and is short: sockets in it may have 107 letters."""
    multiprocessing.util.get_temp_dir()  # this process's own, which it remembers, must not be in there
    with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
        yield Path(folder)
