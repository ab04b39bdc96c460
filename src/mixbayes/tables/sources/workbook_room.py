"""Whether a workbook fits into memory: its archive may hold a thousand times its own size."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from mixbayes.protocol.errors import BadData
from mixbayes.tables import room

LARGEST_PART = 1 << 24
"""Bytes of a part that is parsed whole: the list of sheets, and what refers to what."""
_TIMES = 3
"""Of one long text, reading takes so many times its bytes."""


def refuse_too_large(path: Path) -> None:
    """Refuse a workbook whose XML does not fit, by the sizes that its archive states.

    Calamine and Python read no more of a part than that.
    """
    with ZipFile(path) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith((".xml", ".rels"))]
    size = sum(part.file_size for part in parts)
    if _TIMES * size > room.memory_there() - room.OTHERWISE:
        raise BadData(
            f"The workbook holds {size / 1e9:.1f} GB of XML, which does not fit into the memory of this machine. Save "
            "the sheet as CSV."
        )


def refuse_large_part(archive: ZipFile, name: str) -> None:
    """Refuse one that would be parsed whole and is too large for what it has to say."""
    if (size := archive.getinfo(name).file_size) > LARGEST_PART:
        raise BadData(f"The workbook's part {name[:80]!r} has {size:,} bytes. Save the sheet as CSV.")
