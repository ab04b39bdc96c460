"""Released tables as files: written in parts, they are the files that they would be in one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.cli import table_output
from mixbayes.cli.output import write_whole
from mixbayes.cli.table_output import table_file
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from mixbayes.protocol.attributes.cells import spelled
from mixbayes.tables.released_texts import as_texts

WORDS = ["a", "with, comma", 'with "quotes"', "two\nlines", "é", ""]


def released(numbers: list[float], seed: int = 0) -> Table:
    codes = np.random.default_rng(seed).integers(-1, len(WORDS), len(numbers))
    columns = Numeric(np.array(numbers, np.float64)), Nominal(codes, np.array(WORDS))
    return Table(("number", "words"), columns, len(numbers))


def in_one(table: Table) -> bytes:
    numbers, words = table.columns
    assert isinstance(numbers, Numeric)
    assert isinstance(words, Nominal)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows(
        [str(spelled(np.array([number]))[0]) if number == number else "?", WORDS[code] if code >= 0 else "?"]
        for number, code in zip(numbers.numbers.tolist(), words.codes.tolist(), strict=True)
    )
    return text.getvalue().encode()


@given(numbers=st.lists(st.floats(allow_infinity=False), max_size=20), at_once=st.integers(1, 7))
def test_the_parts_of_a_csv_file_are_the_file(numbers: list[float], at_once: int) -> None:
    table = released(numbers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_output, "ROWS_AT_ONCE", at_once)
        parts = list(table_file(Path("released.csv"), table, as_texts(table)))
    assert b"".join(bytes(part) for part in parts) == in_one(table)  # type: ignore[arg-type]
    assert len(parts) == 1 + -(-len(numbers) // at_once)


def test_a_parquet_file_has_the_cells() -> None:
    table = released([1.5, np.nan, -0.0, 3.0])
    file = table_file(Path("released.parquet"), table, as_texts(table))
    assert isinstance(file, bytes)
    found = pq.read_table(io.BytesIO(file))
    words = table.columns[1]
    assert isinstance(words, Nominal)
    assert found.column("number").to_pylist() == [1.5, None, -0.0, 3.0]
    assert found.column("words").to_pylist() == [WORDS[code] if code >= 0 else None for code in words.codes]
    assert found.schema.field("words").type == pa.string()


def test_a_file_of_which_a_part_cannot_be_made_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "released.csv"
    path.write_bytes(b"before")

    def parts() -> Iterator[bytes]:
        yield b"after"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, parts())
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    write_whole(path, iter([b"af", b"ter"]))
    assert path.read_bytes() == b"after"
