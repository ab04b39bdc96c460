"""A named spelling of a missing cell means the same cells in every source, whatever is asked of it."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import openpyxl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.counting import counted
from mixbayes.tables.profile import Growing
from mixbayes.tables.sources import database, duckdb_file, text_file
from mixbayes.tables.sources.how import How, spellings_in
from mixbayes.tables.sources.opening import open_table
from mixbayes.tables.sources.source import Source

CELLS = [0.0, 5.69, 0.0, -999.0, 7.0, 0.25, 0.0, 12.5, 99.0, 99.0]
LABELS = ["ill", "well"] * 5
LAYOUT = Layout(
    Dictionary(
        class_column="class",
        classes=("ill", "well"),
        attributes=(Gaussian(name="chol", low=-10.0, high=20.0),),
    )
)
DECLARED = "create table patients (chol {}, class text)"


def texts(form: str = "{}", comma: bool = False) -> list[str]:
    found = [form.format(cell) for cell in CELLS]
    return [text.replace(".", ",") for text in found] if comma else found


def text_table(path: Path, cells: list[str]) -> str:
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([("chol", "class"), *zip(cells, LABELS, strict=True)])
    return str(path)


def parquet(path: Path, kind: pa.DataType, cells: list[float] | list[str]) -> str:
    pq.write_table(pa.table({"chol": pa.array(cells, kind), "class": LABELS}), path)
    return str(path)


def sheet(path: Path, cells: list[float] | list[str]) -> str:
    book = openpyxl.Workbook()
    for row in [("chol", "class"), *zip(cells, LABELS, strict=True)]:
        book.worksheets[0].append(row)
    book.save(path)
    return str(path)


def in_duckdb(path: Path, kind: str, cells: list[float] | list[str]) -> str:
    with duckdb.connect(path) as connection:
        connection.execute(DECLARED.format(kind))
        connection.executemany("insert into patients values (?, ?)", list(zip(cells, LABELS, strict=True)))
    return f"duckdb:{path}"


def in_sqlite(path: Path, cells: list[float] | list[str]) -> str:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table patients (chol, class)")
        connection.executemany("insert into patients values (?, ?)", list(zip(cells, LABELS, strict=True)))
    return f"sqlite:///{path}"


POINTS: dict[str, Callable[[Path], str]] = {
    "csv": lambda folder: text_table(folder / "t.csv", texts()),
    "csv with few digits": lambda folder: text_table(folder / "t.csv", texts("{:g}")),
    "csv with many digits": lambda folder: text_table(folder / "t.csv", texts("{:.4f}")),
    "parquet": lambda folder: parquet(folder / "t.parquet", pa.float64(), CELLS),
    "parquet of texts": lambda folder: parquet(folder / "t.parquet", pa.string(), texts()),
    "xlsx": lambda folder: sheet(folder / "t.xlsx", CELLS),
    "xlsx of texts": lambda folder: sheet(folder / "t.xlsx", texts()),
    "duckdb": lambda folder: in_duckdb(folder / "t.db", "double", CELLS),
    "duckdb of decimals": lambda folder: in_duckdb(folder / "t.db", "decimal(9, 3)", CELLS),
    "duckdb of texts": lambda folder: in_duckdb(folder / "t.db", "varchar", texts()),
    "sqlite": lambda folder: in_sqlite(folder / "t.db", CELLS),
    "sqlite of texts": lambda folder: in_sqlite(folder / "t.db", texts()),
}
COMMAS: dict[str, Callable[[Path], str]] = {
    "csv": lambda folder: text_table(folder / "t.csv", texts(comma=True)),
    "csv with few digits": lambda folder: text_table(folder / "t.csv", texts("{:g}", comma=True)),
    "parquet": POINTS["parquet"],
    "parquet of texts": lambda folder: parquet(folder / "t.parquet", pa.string(), texts(comma=True)),
    "xlsx": POINTS["xlsx"],
    "xlsx of texts": lambda folder: sheet(folder / "t.xlsx", texts(comma=True)),
    "duckdb": POINTS["duckdb"],
    "duckdb of texts": lambda folder: in_duckdb(folder / "t.db", "varchar", texts(comma=True)),
    "sqlite": POINTS["sqlite"],
    "sqlite of texts": lambda folder: in_sqlite(folder / "t.db", texts(comma=True)),
}
PLACES = [(".", make, name) for name, make in POINTS.items()] + [(",", make, name) for name, make in COMMAS.items()]


def found_missing(source: Source) -> tuple[int, int, int]:
    """As a profile, as counts and as rows have it."""
    profile = source.profile(source.names).columns["chol"]
    assert (profile.rows, profile.numeric) == (10, True)
    block = next(block for _, block in LAYOUT.blocks(counted(LAYOUT, source).vector))
    rows = source.read(source.names).column("chol")
    return profile.missing, 10 - int(block[0].sum()), int((rows.texts() == "").sum())


@pytest.fixture(params=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read as if they were large, too: by Arrow, and by sums instead of values."""
    if request.param == "large":
        monkeypatch.setattr(text_file, "ARROW_ABOVE", 0)
        monkeypatch.setattr(duckdb_file, "CHUNK", 1)
        monkeypatch.setattr(database, "Growing", lambda name: Growing(name, 2))


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(("decimal", "make", "name"), PLACES, ids=[f"{name} {sign}" for sign, _, name in PLACES])
def test_the_same_number_is_the_same_cell(decimal: str, make: Callable[[Path], str], name: str, tmp_path: Path) -> None:
    address = make(tmp_path)
    for value in ("chol=0", "chol=0.0", "0", "-0", "0e3", " chol= 0.00", *(["chol=0,0", "0,00"] * (decimal == ","))):
        source = open_table(address, How(missing=(value.strip(),), decimal=decimal))
        assert found_missing(source) == (3, 3, 3), (name, value)
        assert source.unmet() == ()
    several = How(missing=spellings_in("NA;99,0;-999" if decimal == "," else "NA,99.0,-999", decimal), decimal=decimal)
    assert found_missing(open_table(address, several)) == (3, 3, 3)
    absent = open_table(address, How(missing=("chol=98", "chol=99", "nothing"), decimal=decimal))
    assert found_missing(absent) == (2, 2, 2)
    assert absent.unmet() == (
        "no cell of column 'chol' says '98', which --missing names",
        "no cell says 'nothing', which --missing names",
    )


def counted_once(source: Source) -> None:
    counted(LAYOUT, source)


def profiled_once(source: Source) -> None:
    source.profile(source.names)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("ask", [counted_once, profiled_once, lambda source: source.read(source.names)])
@pytest.mark.parametrize("name", ["csv", "parquet", "duckdb", "duckdb of texts", "sqlite"])
def test_whatever_is_asked_tells_which_spellings_were_met(
    name: str, ask: Callable[[Source], None], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = ("chol=0", "chol=7", "chol=12.5")
    source = open_table(POINTS[name](tmp_path), How(missing=(*own, "99", "-998")))
    assert source.unmet() == ()
    ask(source)
    assert source.unmet() == ()
    other = open_table(POINTS[name](tmp_path_factory.mktemp("other")), How(missing=("chol=0", "chol=98", "97", "96")))
    ask(other)
    assert other.unmet() == (
        "no cell of column 'chol' says '98', which --missing names",
        "no cell says '97' or '96', which --missing names",
    )


@pytest.mark.usefixtures("size")
def test_numbers_among_words_that_a_database_does_not_list(tmp_path: Path) -> None:
    cells = ["0.0", "word", "other", "0", "third", "0e1", "NA", "fifth", "5", "1"]
    source = open_table(in_duckdb(tmp_path / "t.db", "varchar", cells), How(missing=("chol=0.00", "NA")))
    assert source.profile(["chol"]).columns["chol"].missing == 4


@pytest.fixture(scope="module")
def postgres_tables(postgres_url: str) -> Iterator[str]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for name, kind, cells in (("numbers", "double precision", CELLS), ("words", "text", texts())):
            connection.execute(f"create table {name} (chol {kind}, class text)".encode())
            with connection.cursor() as cursor:
                rows = list(zip(cells, LABELS, strict=True))
                cursor.executemany(f"insert into {name} values (%s, %s)".encode(), rows)
        yield postgres_url
        connection.execute("drop table numbers, words")


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("table", ["numbers", "words"])
def test_the_same_number_in_postgresql(postgres_tables: str, table: str) -> None:
    for value in ("chol=0", "0.0"):
        source = open_table(postgres_tables, How(missing=(value,), table=table))
        assert (found_missing(source), source.unmet()) == ((3, 3, 3), ())
    absent = open_table(postgres_tables, How(missing=("chol=98",), table=table))
    assert found_missing(absent) == (0, 0, 0)
    assert len(absent.unmet()) == 1


WRITTEN = st.floats(-1e6, 1e6).flatmap(
    lambda value: st.sampled_from([repr(value), f"{value:.17g}", f" {value!r}", f"{value!r}0" if value % 1 else "0"])
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WRITTEN, min_size=1, max_size=8), WRITTEN | st.sampled_from(["NA", "0", "-0.0"]))
def test_every_cell_that_is_the_number_and_no_other(tmp_path: Path, cells: list[str], value: str) -> None:
    for place, kind in (("a.parquet", pa.string()), ("b.parquet", pa.float64())):
        column = pa.array(cells).cast(pa.string()) if kind == pa.string() else pa.array(list(map(float, cells)))
        pq.write_table(pa.table({"x": column, "class": ["a"] * len(cells)}), tmp_path / place)
        found = open_table(tmp_path / place, How(missing=(value,))).profile(["x"]).columns["x"].missing
        assert found == (0 if value == "NA" else sum(float(cell) == float(value) for cell in cells))


def test_words_are_compared_without_the_blanks_around_them(tmp_path: Path) -> None:
    cells = ["NA", " NA ", "na", "N A", "none"]
    (tmp_path / "t.csv").write_text("\n".join(["word,class", *(f"{cell},a" for cell in cells)]))
    source = open_table(tmp_path / "t.csv", How(missing=("NA",)))
    assert source.profile(["word"]).columns["word"].values.tolist() == ["N A", "na", "none"]


def test_of_a_general_list_one_is_enough_and_a_comma_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x;class\nNA;a\n1,5;b\n")

    def unmet(*missing: str) -> tuple[str, ...]:
        source = open_table(tmp_path / "t.csv", How(missing=missing, decimal=","))
        source.read(source.names)
        return source.unmet()

    assert unmet("NA", "-999", "?", "x=NA") == ()
    assert unmet("null", "-999") == ("no cell says 'null' or '-999', which --missing names",)
    assert unmet("NA", "9,99") == ("no cell says '9,99', which --missing names",)


@pytest.mark.parametrize(
    ("listed", "decimal", "values"),
    [
        ("NA,-999", ".", ("NA", "-999")),
        ("9,99", ".", ("9", "99")),
        ("chol=0;9", ".", ("chol=0", "9")),
        ("chol=0,NA", ".", ("chol=0", "NA")),
        ("NA, -999 ,", ",", ("NA", "-999")),
        ("chol=0,0", ",", ("chol=0,0",)),
        ("chol=0,0;crp=9,9;NA,-1", ",", ("chol=0,0", "crp=9,9", "NA", "-1")),
    ],
)
def test_values_are_parted(listed: str, decimal: str, values: tuple[str, ...]) -> None:
    assert spellings_in(listed, decimal) == values


def test_a_comma_that_may_be_a_decimal_one_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"the comma in '0,0' .* `--decimal ,` too. .* `--missing 'chol=0;0'`"):
        spellings_in("NA,chol=0,0", ".")
