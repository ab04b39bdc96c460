"""Released tables as files."""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mixbayes.cli.output import refuse_unwritable, write_private
from mixbayes.local_methods.dmpd.projections import Projection
from mixbayes.local_methods.tables import Column, Numeric, Table
from mixbayes.protocol.arrays import slices
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.released_texts import as_texts
from mixbayes.tables.sources.opening import PARQUET

if TYPE_CHECKING:
    import pyarrow as pa

PROJECTION = "projection-*.csv"


ROWS_AT_ONCE = 1 << 14
"""So many rows of a CSV file are texts in memory at a time."""


def table_file(path: Path, released: Table, texts: Columns) -> bytes | Iterator[bytes]:
    """What the file of this name holds, perhaps in parts: CSV or, by the name, Parquet."""
    return _parquet(released) if path.suffix.lower() in PARQUET else _csv(texts)


def projection_files(projections: Sequence[Projection], label: str) -> dict[str, Iterator[bytes]]:
    """A CSV file for each projection: its columns, and the class under this name."""
    digits = len(str(len(projections)))
    names = (PROJECTION.replace("*", f"{number:0{digits}}") for number in range(1, len(projections) + 1))
    return {name: _csv(as_texts(_with_class(one, label))) for name, one in zip(names, projections, strict=True)}


def write_folder(path: Path, files: Mapping[str, Iterable[bytes]]) -> None:
    """Replace the folder with one that holds these files, of which each comes in parts, or leave it as it was.

    Nobody but this user can read them.
    """
    refuse_other_folder(path)
    draft = None
    try:
        draft = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        (draft / "new").mkdir(mode=0o700)
        for name, parts in files.items():
            write_private(draft / "new" / name, parts)
        _exchange(path, draft / "new", draft / "old")
    except OSError as error:
        raise BadData(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        if draft:
            shutil.rmtree(draft, ignore_errors=True)


def refuse_other_folder(path: Path) -> None:
    """Say before long work what would go wrong after it. Of what is there, only projections are replaced."""
    if not path.is_dir():
        if path.exists():
            raise BadData(f"{path} cannot be written: projections go into a folder, and it is a file.")
        refuse_unwritable(path)
        return
    foreign = sorted(entry.name for entry in path.iterdir() if not entry.match(PROJECTION))
    if foreign:
        raise Unsupported(f"{path} holds {foreign[0]!r}, which is no projection. Name a new folder.")
    refuse_unwritable(path / "projection")


def _exchange(path: Path, new: Path, old: Path) -> None:
    """A folder cannot be replaced by another one in one step; what was there comes back if the second step fails."""
    if not path.exists():
        os.rename(new, path)
        return
    os.rename(path, old)
    try:
        os.rename(new, path)
    except OSError:
        os.rename(old, path)
        raise


def _with_class(projection: Projection, label: str) -> Table:
    table = projection.table
    return Table((*table.names, label), (*table.columns, projection.labels), table.rows)


def _csv(texts: Columns) -> Iterator[bytes]:
    yield _lines([texts.names])
    for rows in slices(texts.rows, ROWS_AT_ONCE):
        yield _lines(zip(*(column.texts_in(rows).tolist() for column in texts.cells), strict=True))


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _parquet(released: Table) -> bytes:
    import pyarrow as pa  # not every installation has it
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table(list(map(_arrow, released.columns)), names=list(released.names)), file)
    return file.getvalue()


def _arrow(column: Column) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, Numeric):
        return pa.array(column.numbers, from_pandas=True)
    return pa.array(column.values.tolist(), pa.string()).take(pa.array(column.codes, mask=column.missing))
