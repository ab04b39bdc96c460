"""The folder of a node's state, which one process has alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mixbayes.transport.errors import BadState

LOCK = "lock"


@contextmanager
def locked(folder: Path, owner: str) -> Iterator[None]:
    """Have the folder alone. The system takes the lock away when this process ends, however it ends.

    A forked child would hold the lock too; helpers of a node are spawned.
    """
    try:
        _make(folder)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unusable(folder, error) from None
    with ExitStack() as held:
        held.callback(os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(handle, 0)
            os.pwrite(handle, f"{owner}, process {os.getpid()}".encode(), 0)
        except BlockingIOError:
            raise BadState(_in_use(folder, handle)) from None
        except OSError as error:
            raise _unusable(folder, error) from None
        yield


def _unusable(folder: Path, error: OSError) -> BadState:
    return BadState(
        f"{folder} cannot hold a node's state: {error.strerror}. Give one on a local disk that this user may write."
    )


def _in_use(folder: Path, handle: int) -> str:
    holder = os.pread(handle, 500, 0).decode(errors="replace")
    by = f" by {holder}" if holder else ""
    return f"{folder} is in use{by}. Stop that process, or give each node a --state folder of its own."


def _make(folder: Path) -> None:
    """A folder for this user alone, and its name on the disk; one that exists keeps its mode."""
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True)
    parent = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)
