"""Large CSV files, read by Arrow: it finds the cells that Python's reader finds, faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pacsv

from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.ahead import ahead
from mixbayes.tables.sources.arrow_column import ArrowColumn
from mixbayes.tables.sources.arrow_numpy import texts_as_arrow
from mixbayes.tables.sources.source import Part

if TYPE_CHECKING:
    from mixbayes.tables.sources.text_file import Dialect

_compute: Any = pyarrow.compute  # its functions are made when it is imported
BLOCK_BYTES = 1 << 22


class Stopped(Exception):
    """Arrow cannot go on; Python's reader may, or says why not."""


def parts(path: Path, dialect: Dialect, all_names: Sequence[str], names: Sequence[str]) -> Iterator[Part]:
    """The rows below the header, or Stopped after some of them."""
    total = path.stat().st_size
    with open(path, "rb") as file:
        batches = _batches(file, dialect, all_names, names)
        for batch, done in ahead((batch, file.tell()) for batch in batches):
            if len(names) > 1 and _may_repeat(batch, names):
                raise Stopped
            cells = tuple(ArrowColumn(name, batch.column(at)) for at, name in enumerate(names))
            yield Part(Columns(tuple(names), cells, batch.num_rows), done, total)


def _may_repeat(batch: pa.RecordBatch, names: Sequence[str]) -> bool:
    """Whether a row has the names of these columns in them: it may be the header again."""
    same = None
    for at, name in enumerate(names):
        found = _compute.equal(batch.column(at), texts_as_arrow([name])[0])
        same = found if same is None else _compute.and_(same, found)
        if not _compute.any(same).as_py():
            return False
    return True


def _batches(
    file: BinaryIO, dialect: Dialect, all_names: Sequence[str], names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    places = [f"{all_names.index(name)}" for name in names]  # a name may be anything, a place is not
    try:
        yield from pacsv.open_csv(
            file,
            read_options=pacsv.ReadOptions(
                block_size=BLOCK_BYTES,
                column_names=[f"{at}" for at in range(len(all_names))],
                skip_rows=int(dialect.named),
                skip_rows_after_names=1,
                encoding=dialect.encoding,
            ),
            parse_options=pacsv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), include_columns=places, strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowCapacityError, UnicodeDecodeError) as error:
        raise Stopped from error
