"""Archives whose bytes depend on the files alone: not on their owner, the time, the umask, or the order on disk."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterator
from pathlib import Path


def pack(folder: Path, archive: Path, epoch: int) -> None:
    """Write the folder, under its own name, as .tar.gz; every file is as old as `epoch`, in seconds since 1970."""
    with (
        archive.open("wb") as written,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=written, mtime=epoch) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in [folder, *_within(folder)]:
            entry = tar.gettarinfo(path, str(path.relative_to(folder.parent)))
            entry.mtime, entry.mode = epoch, _mode(path)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            if entry.isreg():
                entry.type = tarfile.REGTYPE
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)


def _within(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _within(path)


def _mode(path: Path) -> int:
    if path.is_symlink():
        return 0o777
    return 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644
