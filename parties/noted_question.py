"""The open question of a hospital's commands, in a file beside its key: the next command gives it back.

One command at a time has the file. Another one that runs meanwhile notes nothing, because it could not tell an open
question from one that the first command is asking. A command that cannot write beside the key notes nothing either.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mixbayes.node.questions import ID_BYTES

_MOST_BYTES = 1000


class NotedQuestion:
    """The file, locked, of one agreement."""

    def __init__(self, handle: int, agreement: str) -> None:
        self._handle = handle
        self._agreement = agreement

    def last(self) -> tuple[int, bytes] | None:
        """The round and the id of the question that is noted; None if there is none under this agreement."""
        try:
            found = json.loads(os.pread(self._handle, _MOST_BYTES, 0))
            number, id = int(found["round"]), bytes.fromhex(found["question"])
        except (ValueError, KeyError, TypeError):
            return None  # empty, or cut short
        return (number, id) if found["agreement"] == self._agreement and len(id) == ID_BYTES else None

    def put(self, number: int, id: bytes) -> None:
        """Note this question in the place of the one before. It need not survive the end of the machine."""
        self._write(json.dumps({"agreement": self._agreement, "round": number, "question": id.hex()}).encode())

    def clear(self) -> None:
        self._write(b"")

    def _write(self, content: bytes) -> None:
        with suppress(OSError):  # a full disk here is no reason not to ask
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, content, 0)


@contextmanager
def noted_question(keys: Path, name: str, agreement: str) -> Iterator[NotedQuestion | None]:
    """The file of this hospital's commands, or None if another one has it or it cannot be written."""
    try:
        handle = os.open(keys / f"{name}.open-question", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield None
        return
    try:
        yield NotedQuestion(handle, agreement) if _locked(handle) else None
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
