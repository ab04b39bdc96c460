"""What a Parquet file would take in memory, from what it says of itself before any cell is read.

A file may hold far more than its size tells: pages are compressed, and a value that repeats is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from mixbayes.protocol.errors import BadData
from mixbayes.tables import room
from mixbayes.tables.cells import LONGEST_CELL

LARGEST_PAGE = 1 << 31
"""Bytes. A page is decompressed whole, and its header has no room for a larger number."""
_BYTES_A_CHARACTER = 4


def stored_once(schema: pa.Schema) -> list[str]:
    """The columns of texts: read as places in a list of different ones, a repeated text takes no more than one."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return [field.name for field in schema if any(is_kind(field.type) for is_kind in kinds)]


def refuse_without_text(schema: pa.Schema, names: Sequence[str]) -> None:
    """Refuse what has no text and may take any room in each row: lists, and bytes of a fixed length."""
    for name in names:
        kind = schema.field(name).type
        if pa.types.is_nested(kind) or pa.types.is_fixed_size_binary(kind):
            raise BadData(f"Column {name!r} holds {kind}, which has no text. Remove it.")


def refuse_too_large(file: pq.ParquetFile, names: Sequence[str]) -> None:
    """Refuse columns of which one page may not fit into memory, or whose cells are too long on average."""
    there = room.memory_there() - room.OTHERWISE
    for at in range(file.num_row_groups):
        group = file.metadata.row_group(at)
        chunks = [group.column(column) for column in range(group.num_columns)]
        sizes = {chunk.path_in_schema: chunk.total_uncompressed_size for chunk in chunks}
        for name in names:
            _refuse_long(name, sizes.get(name, 0), group.num_rows)
        together = sum(min(sizes.get(name, 0), LARGEST_PAGE) for name in names)
        if together > there:
            raise BadData(
                f"{together / 1e9:.1f} GB of {group.num_rows:,} rows may have to be in memory at a time, and this "
                f"machine has {max(there, 0) / 1e9:.1f} GB for them. Write the file with smaller row groups."
            )


def _refuse_long(name: str, size: int, rows: int) -> None:
    if size > rows * LONGEST_CELL * _BYTES_A_CHARACTER + LONGEST_CELL:
        raise BadData(f"Column {name!r} has {rows} cells in {size:,} bytes: free text, too much to hold. Leave it out.")
