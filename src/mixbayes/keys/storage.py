"""Files of a key folder: written whole or not at all, secret ones readable by their owner only."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixbayes.keys.problems import KeyProblem

SECRET = 0o600
PUBLIC = 0o644


def make_folder(folder: Path) -> None:
    """The folder, open to its owner only if it is new; one that exists is left as it is."""
    with _explained("made", folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def there(path: Path) -> bool:
    """Whether anything has this name."""
    with _explained("looked at", path):
        return path.exists()


def mode_of(file: Path) -> int:
    """Who may do what with it."""
    with _explained("looked at", file):
        return stat.S_IMODE(file.stat().st_mode)


def read(file: Path) -> bytes:
    """The file's bytes, or an error that names it."""
    with _explained("read", file):
        return file.read_bytes()


def create(file: Path, content: bytes, mode: int) -> bool:
    """Write a file that was not there. Where one was it stays untouched, and the answer is no."""
    with _explained("written", file), _draft(file, content, mode) as draft:
        try:
            os.link(draft, file)  # unlike a renaming, it never replaces
        except FileExistsError:
            return False
        _settle(file.parent)
        return True


def replace(file: Path, content: bytes, mode: int = PUBLIC) -> None:
    """Write this file, whatever was there."""
    with _explained("written", file), _draft(file, content, mode) as draft:
        os.replace(draft, file)
        _settle(file.parent)


@contextmanager
def _draft(file: Path, content: bytes, mode: int) -> Iterator[str]:
    """A file beside it, its content safe on the disk; gone afterwards unless renamed."""
    number, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # exclusive, and mode 0600
    try:
        with os.fdopen(number, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fchmod(number, mode)
            os.fsync(number)
        yield draft
    finally:
        Path(draft).unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def _explained(verb: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = "Check the path, its owner and mode, and the room on the disk"
        raise KeyProblem(f"{path} cannot be {verb}: {error.strerror}", remedy) from None
