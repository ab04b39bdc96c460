"""Files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.sources.opening import PARQUET

_ID_BYTES = 16
PRIVATE = 0o600
"""The rights of a file with patients' data: labels, releases, reports, counts."""
_NO_TEXT = (".xlsx", ".xls", ".ods", ".gz", ".bz2", ".xz", ".zip")


def write_whole(path: Path, content: str | bytes | Iterable[bytes], mode: int = 0o666) -> None:
    """Replace the file with this text, in UTF-8, or these bytes, or leave it as it was.

    Bytes that come in parts are written as they come, so that the file need not fit into memory.
    """
    refuse_unwritable(path)
    draft = None
    try:
        with _draft(path, delete=False) as file:
            draft = file.name
            file.writelines(_in_parts(content))
        os.chmod(draft, mode & ~_umask())
        os.replace(draft, path)
    except OSError as error:
        raise BadData(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        if draft:
            Path(draft).unlink(missing_ok=True)


def _in_parts(content: str | bytes | Iterable[bytes]) -> Iterable[bytes]:
    if isinstance(content, str):
        return [content.encode()]
    return [content] if isinstance(content, bytes) else content


def write_private(path: Path, content: str | bytes | Iterable[bytes]) -> None:
    """As `write_whole`, for nobody but this user to read, whoever could read the file that is replaced."""
    write_whole(path, content, mode=PRIVATE)


def is_unfinished(out: Path) -> bool:
    return _note(out).is_file()


@contextmanager
def unfinished(out: Path) -> Iterator[bytes]:
    """An id for what is to be written there, the same until it is."""
    note = _note(out)
    try:
        id = note.read_bytes() if note.is_file() else b""
    except OSError as error:
        raise BadData(f"{note} cannot be read: {error.strerror}. Remove it.") from None
    if len(id) != _ID_BYTES:
        id = secrets.token_bytes(_ID_BYTES)
        write_whole(note, id)
    yield id
    note.unlink(missing_ok=True)


def _note(out: Path) -> Path:
    return out.with_name(f".{out.name}.unfinished")


def refuse_unwritable(path: Path) -> None:
    """Say before long work what would go wrong after it. A folder that looks writable need not be, so it is tried."""
    try:
        if path.exists() and not path.is_file():
            raise BadData(f"{path} cannot be written: it is no file.")
        if not path.parent.is_dir():
            raise BadData(f"{path} cannot be written: there is no folder {path.parent}.")
        with _draft(path):
            pass
    except OSError as error:
        raise BadData(f"{path} cannot be written: {error.strerror}.") from None


def _draft(path: Path, *, delete: bool = True) -> IO[bytes]:
    return tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=delete)


def refuse_other_format(path: Path, written: str, *others: str) -> None:
    """A name that promises what the file will not be is refused; `others` are such endings besides the usual ones."""
    if path.suffix.lower() in (*_NO_TEXT, *others):
        raise Unsupported(f"{path}: {written} can be written, not {path.suffix}. Give it another name.")


def refuse_unwritable_labels(path: Path) -> None:
    """Say before long work why labels cannot be there."""
    refuse_other_format(path, "labels as CSV", *PARQUET)
    refuse_unwritable(path)


def labels_text(labels: Sequence[str], known_by: tuple[str, Sequence[str]] | None = None) -> str:
    """A CSV table with a column `label`, and before it the column that tells the rows apart, if there is one."""
    name, identifiers = known_by or ("", ())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name, "label"] if known_by else ["label"])
    writer.writerows(zip(identifiers, labels, strict=True) if known_by else ([label] for label in labels))
    return text.getvalue()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
