import csv
import datetime
import decimal
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mixbayes.protocol.errors import BadData
from mixbayes.tables import cells as table_cells
from mixbayes.tables.breast_cancer import breast_cancer
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer
from mixbayes.tables.sources import text_file
from mixbayes.tables.sources.opening import open_table, read_table

cells = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.text('",\n\r ?a1'),
)


def rows_of(columns: Columns) -> list[list[str]]:
    return [list(row) for row in zip(*(columns.texts(name).tolist() for name in columns.names), strict=True)]


def read_bytes(content: bytes, name: str = "table.csv") -> Columns:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        return read_table(path)


def refusal(content: bytes, name: str = "table.csv") -> str:
    with pytest.raises(BadData) as caught:
        read_bytes(content, name)
    assert name in str(caught.value)
    return str(caught.value)


def parquet(**columns: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=2)
    return sink.getvalue()


READERS = {
    "python": {"ARROW_ABOVE": 1 << 40},
    "python, row by row": {"ARROW_ABOVE": 1 << 40, "BLOCK": 1},
    "arrow": {"ARROW_ABOVE": 0},
}


@pytest.fixture(params=READERS)
def _reader(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each of the readers of CSV in turn."""
    with ExitStack() as patched:
        for name, value in READERS[request.param].items():
            patched.enter_context(patch.object(text_file, name, value))
        yield


@pytest.mark.usefixtures("_reader")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width))))
def test_csv_cells_come_back_unchanged(rows: list[list[str]]) -> None:
    header = [f"c{i}" for i in range(len(rows[0]) if rows else 3)]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([header, *rows])
    columns = read_bytes(file.getvalue().encode())
    assert columns.names == tuple(header)
    assert columns.rows == len(rows)
    assert rows_of(columns) == rows


@pytest.mark.usefixtures("_reader")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text('",\n\r a1', max_size=40))
def test_sloppy_csv_is_read_as_python_reads_it(body: str) -> None:
    text = "a,b\n" + body
    _, *rows = filter(None, csv.reader(io.StringIO(text, newline="")))
    if {len(row) for row in rows} <= {2}:
        assert rows_of(read_bytes(text.encode())) == rows
    else:
        assert "names 2 columns" in refusal(text.encode())


def test_quotes_commas_and_line_breaks_in_cells() -> None:
    columns = read_bytes(b'"a,1",b\r\n"x ""y""", z \r\n"two\nlines",?\r\n')
    assert columns.names == ("a,1", "b")
    assert rows_of(columns) == [['x "y"', " z "], ["two\nlines", "?"]]


def test_byte_order_mark_is_not_part_of_the_first_name() -> None:
    assert read_bytes("\ufeffalter,größe\n1,2\n".encode()).names == ("alter", "größe")


def test_blank_lines_are_no_rows_and_a_quoted_nothing_is_one() -> None:
    assert rows_of(read_bytes(b'\na\n1\n\n""\n2\n\n')) == [["1"], [""], ["2"]]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.usefixtures("_reader")
def test_the_line_by_which_excel_knows_the_separator_is_no_header(line: str, encoding: str) -> None:
    columns = read_bytes(f"{line}\r\na,b;größe\r\n1,5;x\r\n2;y\r\n".encode(encoding))
    assert (columns.names, rows_of(columns)) == (("a,b", "größe"), [["1,5", "x"], ["2", "y"]])


def test_arrow_reads_on_below_the_line_that_names_the_separator(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"sep=;\na;b\n1;2\n")
    with patch.object(text_file, "ARROW_ABOVE", 0), patch.object(text_file.TextFile, "_by_python", None):
        assert rows_of(read_table(tmp_path / "t.csv")) == [["1", "2"]]


def test_lines_below_a_named_separator_have_their_numbers() -> None:
    assert "names 2 columns, but line 4 has 1" in refusal(b"sep=|\na|b\n1|2\n3\n")
    assert "is empty" in refusal(b"sep=|\n")
    assert read_bytes(b"sep=,a\n1,2\n").names == ("sep=", "a")


def test_the_file_of_a_database_is_refused_with_its_address(tmp_path: Path) -> None:
    (tmp_path / "a b.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(BadData, match=r"is a database\. Say `'sqlite:///.*/a b.db'`"):
        open_table(tmp_path / "a b.db")
    (tmp_path / "clinic.csv").write_bytes(bytes(8) + b"DUCK" + bytes(100))
    with pytest.raises(BadData, match=r"is a database\. Say `duckdb:.*/clinic.csv`"):
        open_table(tmp_path / "clinic.csv")


@pytest.mark.usefixtures("_reader")
def test_a_header_that_comes_again_is_named_by_its_line() -> None:
    assert "Line 4 is the header again. Remove it." in refusal(b'a,b\n"x\ny",2\na,b\n3,4\na,b\n')
    assert rows_of(read_bytes(b"a,b\na,c\nc,b\n")) == [["a", "c"], ["c", "b"]]
    assert rows_of(read_bytes(b"a\na\n")) == [["a"]]


def test_a_few_columns_that_repeat_their_names_are_no_header() -> None:
    with patch.object(text_file, "ARROW_ABOVE", 0), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(b"a,b,c\n1,2,3\na,b,4\n")
        assert rows_of(open_table(path).read(["a", "b"])) == [["1", "2"], ["a", "b"]]


def test_header_alone_is_a_table_without_rows() -> None:
    columns = read_bytes(b"a,b\n")
    assert (columns.names, columns.rows, rows_of(columns)) == (("a", "b"), 0, [])


def test_ragged_rows_are_named_by_their_lines() -> None:
    said = refusal(b'a,b\n1,2\n"x\ny",2\n3\n4,5,6\n7,8\n')
    assert "The header names 2 columns, but line 5 has 1, line 6 has 3." in said


def test_ragged_lines_after_the_twentieth_are_counted() -> None:
    said = refusal(b"a,b\n" + b"1\n" * 23)
    assert "line 21 has 1 and 3 more lines are wrong" in said
    assert "line 22" not in said


@pytest.mark.parametrize("above", ["# Export 12.03.2025\n", "Export\nof ward 3\n", "# Export, of ward 3\n"])
def test_lines_above_the_header_are_called_so(above: str) -> None:
    said = refusal(f"{above}a,b,c,d\n1,2,3,4\n5,6,7,8\n".encode())
    first, line = above.split(",")[0].split("\n")[0], above.count("\n") + 1
    assert f"Line 1, {first!r}, has {1 + above.count(',')} cell" in said
    assert f", line {line} and all after it have 4. Remove the lines above the header." in said


def test_decimal_commas_in_every_row_are_no_table_below_other_lines() -> None:
    assert "Quote cells that hold commas" in refusal(b"age,crp,class\n61,5,3,2,yes\n58,1,4,5,no\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("separator", ",;\t|")
@pytest.mark.usefixtures("_reader")
def test_what_spreadsheets_export_is_read(separator: str, encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    lines = [["Straße", "größe,Ω".replace("Ω", "m"), "c"], ["ä", 'x "y", z', "1,5"], ["", "?", "n/a"]]
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator).writerows(lines)
    columns = read_bytes((mark + file.getvalue()).encode(encoding))
    assert [list(columns.names), *rows_of(columns)] == lines


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"a,b,a\n1,2,3\n", "same name: 'a'"),
        (b"a\nx\0\n", "NUL"),
        (b"a,b\n\x81,2\n", "not text in cp1252"),
        (b"a\n" + b"x" * 200_000, "Line 2 is not CSV"),
    ],
    ids=["empty", "blank", "duplicate", "nul", "no text", "endless"],
)
def test_what_is_no_table_is_refused(content: bytes, words: str) -> None:
    assert words in refusal(content)


def test_file_that_is_not_there_and_folder(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"nobody\.csv cannot be read: No such file"):
        read_table(tmp_path / "nobody.csv")
    with pytest.raises(BadData, match=r"nobody\.parquet cannot be read: No such file"):
        read_table(str(tmp_path / "nobody.parquet"))
    with pytest.raises(BadData, match="holds no Parquet files"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_column_of_long_texts_is_refused_by_name_and_described(name: str, tmp_path: Path) -> None:
    content = b"a,notes\n1,abcde\n2,\n" if name == "t.csv" else parquet(a=["1", "2"], notes=["abcde", ""])
    (tmp_path / name).write_bytes(content)
    source = open_table(tmp_path / name)
    with patch.object(table_cells, "MOST_CHARACTERS", 2 * 5 - 1):
        assert "'notes' has 2 different cells, one of 5 characters" in refusal(content, name)
        profile = source.profile(source.names).columns
        assert (profile["a"].complete, profile["notes"].complete) == (True, False)
    with patch.object(table_cells, "MOST_CHARACTERS", 2 * 5):
        assert read_bytes(content, name).rows == 2


def test_parquet_numbers_are_their_shortest_text_and_null_is_empty() -> None:
    columns = read_bytes(
        parquet(
            whole=[1, None, -3],
            real=[1.0, 0.1, None],
            unreal=[1.0, float("nan"), None],
            single=pa.array([0.1, 2.5, 3.0], pa.float32()),
            large=[1e20, 1e-7, 5e-324],
            exact=[decimal.Decimal("1.50"), None, decimal.Decimal("2.00")],
            digits=pa.array([decimal.Decimal("12345678901234567890"), decimal.Decimal(100), None], pa.decimal128(20)),
            text=["a", "", "?"],
            category=pa.array(["x", None, "x"]).dictionary_encode(),
            flag=[True, None, False],
            day=[datetime.date(2020, 1, 2), None, None],
            nothing=pa.nulls(3),
        ),
        "table.parquet",
    )
    assert dict(zip(columns.names, (columns.texts(name).tolist() for name in columns.names), strict=True)) == {
        "whole": ["1", "", "-3"],
        "real": ["1", "0.1", ""],
        "unreal": ["1", "", ""],
        "single": ["0.1", "2.5", "3"],
        "large": ["1e+20", "1e-07", "5e-324"],
        "exact": ["1.5", "", "2"],
        "digits": ["12345678901234567890", "100", ""],
        "text": ["a", "", "?"],
        "category": ["x", "", "x"],
        "flag": ["true", "", "false"],
        "day": ["2020-01-02", "", ""],
        "nothing": ["", "", ""],
    }


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_parquet_numbers_lose_no_digit(values: list[float]) -> None:
    columns = read_bytes(parquet(x=values), "table.PARQUET")
    assert list(map(float, columns.texts("x").tolist())) == values


def test_parquet_without_rows() -> None:
    columns = read_bytes(parquet(a=pa.array([], pa.float64()), b=pa.array([], pa.string())), "table.pq")
    assert (columns.names, columns.rows) == (("a", "b"), 0)


def test_parquet_refusals() -> None:
    assert "'b' holds list" in refusal(parquet(a=[1], b=[[1]]), "nested.parquet")
    assert "not Parquet" in refusal(b"a,b\n1,2\n", "text.parquet")
    assert "not Parquet" in refusal(b"", "empty.parquet")


@pytest.mark.real_tables
def test_real_tables_as_python_reads_them() -> None:
    paths = sorted(Path(os.environ["MIXBAYES_DATA"]).rglob("*.csv"))
    assert paths
    for path in paths:
        with open(path, newline="") as file:
            header, *rows = csv.reader(file)
        columns = read_table(path)
        assert columns.names == tuple(header)
        assert rows_of(columns) == rows


def test_breast_cancer_is_scikit_learns_table() -> None:
    from sklearn.datasets import load_breast_cancer

    columns = breast_cancer()
    measured, _ = load_breast_cancer(return_X_y=True)
    np.testing.assert_array_equal(
        np.array([columns.texts(name) for name in columns.names[:-1]]).T.astype(float), measured
    )
    assert columns.names[0] == "mean radius"
    assert {*columns.texts("class")[:19].tolist()} == {"malignant"}
    assert (columns.texts("class") == "benign").sum() == 357
    dictionary = infer([columns])
    assert dictionary.classes == ("benign", "malignant")
    assert {attribute.kind for attribute in dictionary.attributes} == {"numeric"}
