"""The commit of which a release is made: its files, and its time."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path


class NotCommitted(Exception):
    """The folder has changes that no commit holds."""


def refuse_changes(repository: Path) -> None:
    """A release is made of a commit. What is not committed would silently not be in it."""
    if changed := _git(repository, "status", "--porcelain", "--untracked-files=no").decode():
        raise NotCommitted(f"commit or undo these changes first:\n{changed.rstrip()}")


def epoch_of(repository: Path) -> int:
    """When the commit was made, in seconds since 1970."""
    return int(_git(repository, "log", "-1", "--format=%ct"))


def export(repository: Path, folder: Path) -> None:
    """Write the files of the commit into the folder, and nothing else that may lie around."""
    with tarfile.open(fileobj=io.BytesIO(_git(repository, "archive", "--format=tar", "HEAD"))) as tar:
        tar.extractall(folder, filter="data")


def _git(repository: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True).stdout
