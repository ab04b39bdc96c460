from __future__ import annotations

import csv
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mixbayes.extras import NotInstalled
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import BadData, MixbayesError, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.profile import Growing
from mixbayes.tables.sources import database
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table
from mixbayes.tables.sources.source import Source
from tests.ports import free_port
from tests.tables.sources import spark_server

ROWS = 900
FEW = ("double", "single", "moment", "word")
"""Columns whose profiles are compared; each takes a job of Spark's."""
ROOT = Path(__file__).parents[3]
Found = dict[str, Any]


def described(source: Source, dictionary: Dictionary, names: Sequence[str] | None = None) -> Found:
    """All that is found out about a table, or of some of its columns, without fetching its rows."""
    profile = source.profile(source.names if names is None else names)
    columns = {
        name: [one.rows, one.missing, one.values.tolist(), one.counts.tolist(), one.complete, one.range]
        for name, one in profile.columns.items()
    }
    done = counted(Layout(dictionary), source)
    found = {"columns": columns, "rows": profile.rows, "vector": done.vector.tolist(), "clipped": done.clipped}
    return json.loads(json.dumps(found))


def rows_of(columns: Columns) -> list[tuple[str, ...]]:
    return sorted(zip(*(columns.texts(name).tolist() for name in columns.names), strict=True))


def spelled(value: object) -> str:
    """What the writer of a CSV export writes, independently of the program."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        ending = "" if value.tzinfo is None else "Z"
        return f"{value:%Y-%m-%d %H:%M:%S}" + (f".{value:%f}".rstrip("0") if value.microsecond else "") + ending
    if isinstance(value, (float, np.floating)):
        return "0" if value == 0 else str(value).removesuffix(".0")
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def patients() -> dict[str, tuple[pa.DataType, list[Any]]]:
    """A random table with a column of each type that has a text."""
    chance = random.Random(20)

    def some(make: Any, gaps: float = 0.1) -> list[Any]:
        return [None if chance.random() < gaps else make() for _ in range(ROWS)]

    days = [date(2023, 12, 28) + timedelta(days) for days in range(9)]
    times = [datetime(2024, 3, 10, hour, 30, 5, part) for hour in range(4) for part in (0, 1, 250_000)]
    halves = [-4 + 8 * (place + 0.5) / 2**24 for place in (0, 1, 2, 2**20)]  # between two places in [-4, 4]
    words = ["a", "A", "a ", "", "?", "NA", "é", "o'neill", "b\\c", 'say "x"', "1.0", "1", "%", "_"]
    return {
        "diagnosis": (pa.string(), some(lambda: chance.choice(["sick", "well"]), 0)),
        "whole": (pa.int16(), some(lambda: chance.randint(-99, 99))),
        "large": (pa.int64(), some(lambda: chance.choice([2**53 + 1, 7, -(2**62), chance.randint(0, 10**6)]))),
        "double": (pa.float64(), some(lambda: chance.choice([*halves, chance.gauss(0, 2), math.nan, -0.0, 0.1, 2.5]))),
        "single": (pa.float32(), some(lambda: np.float32(chance.choice([chance.random(), 0.1, 3.0])))),
        "decimal": (pa.decimal128(20, 6), some(lambda: Decimal(chance.randint(-(10**7), 10**7)) / 10**5)),
        "truth": (pa.bool_(), some(lambda: chance.random() < 0.5)),
        "day": (pa.date32(), some(lambda: chance.choice(days))),
        "moment": (pa.timestamp("us", "UTC"), some(lambda: chance.choice(times).replace(tzinfo=UTC))),
        "local": (pa.timestamp("us"), some(lambda: chance.choice(times))),
        "word": (pa.string(), some(lambda: chance.choice(words))),
        "odd `na.me": (pa.string(), some(lambda: chance.choice(["p", "q"]))),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table as CSV and as Parquet."""
    folder = tmp_path_factory.mktemp("spark")
    table = patients()
    pq.write_table(
        pa.table({name: pa.array(cells, kind) for name, (kind, cells) in table.items()}), folder / "t.parquet"
    )
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        columns = [map(spelled, cells) for _, cells in table.values()]
        csv.writer(file).writerows([list(table), *zip(*columns, strict=True)])
    return folder


@pytest.fixture(scope="module")
def dictionary(folder: Path) -> Dictionary:
    profile = open_table(folder / "t.csv").profile(list(patients()))

    def nominal(name: str) -> Nominal:
        return Nominal(name=name, values=tuple(profile.columns[name].values.tolist()))

    return Dictionary(
        class_column="diagnosis",
        classes=("sick", "well"),
        attributes=(
            Gaussian(name="whole", low=-80, high=90.5),
            Binned(name="large", low=0, high=10**6, cuts=(7, 1000, 99999.5)),
            Gaussian(name="double", low=-4, high=4),
            Gaussian(name="single", low=0, high=1),
            Gaussian(name="decimal", low=-95.3, high=100),
            *map(nominal, ("truth", "day", "moment", "local", "word", "odd `na.me")),
        ),
    )


@pytest.fixture(scope="module")
def expected(folder: Path, dictionary: Dictionary) -> Found:
    """What the CSV export says."""
    return described(open_table(folder / "t.csv"), dictionary)


def only(names: Sequence[str], found: Found) -> Found:
    return found | {"columns": {name: found["columns"][name] for name in names}}


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark Connect, which the environment names."""
    spark_server.require()
    from mixbayes.tables.sources.spark_session import session

    with (
        pytest.MonkeyPatch.context() as patch,
        spark_server.running(free_port(), tmp_path_factory.mktemp("server")) as remote,
    ):
        patch.setenv("SPARK_REMOTE", remote)
        opened = session()
        try:
            yield opened
        finally:
            opened.stop()


def without_spark() -> dict[str, str]:
    """The environment, without what names a session."""
    return {name: text for name, text in os.environ.items() if "SPARK" not in name}


def query(folder: Path, text: str) -> How:
    (folder / "query.sql").write_text(text)
    return How(query=folder / "query.sql")


def refusal(address: str, how: How | None = None) -> str:
    with pytest.raises(MixbayesError) as caught:
        open_table(address, how or How())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_parquet_says_what_csv_says(folder: Path, dictionary: Dictionary, expected: Found) -> None:
    assert described(open_table(folder / "t.parquet"), dictionary) == expected


def test_by_spark_connect(connect: Any, folder: Path, dictionary: Dictionary, expected: Found) -> None:
    connect.sql(f"CREATE TEMPORARY VIEW patients AS SELECT * FROM parquet.`{folder}/t.parquet`").collect()
    source = open_table("spark:patients")
    assert described(source, dictionary, FEW) == only(FEW, expected)
    assert source.names == tuple(patients())
    assert rows_of(source.read(source.names)) == rows_of(open_table(folder / "t.csv").read(source.names))


def test_a_spelling_of_a_missing_cell_means_the_same_cells(connect: Any, folder: Path, dictionary: Dictionary) -> None:
    connect.sql(f"CREATE OR REPLACE TEMPORARY VIEW patients AS SELECT * FROM parquet.`{folder}/t.parquet`").collect()
    how = How(missing=("decimal=1e2", "whole=7.0", "single=3.00", "double=2.50", "1.0", "double=77"))
    names = ("whole", "double", "single", "word")
    expected, found = open_table(folder / "t.csv", how), open_table("spark:patients", how)
    assert described(found, dictionary, names) == described(expected, dictionary, names)
    assert (
        set(found.unmet()) == set(expected.unmet()) >= {"no cell of column 'double' says '77', which --missing names"}
    )


def test_by_a_session_of_this_machine(folder: Path, dictionary: Dictionary, expected: Found, tmp_path: Path) -> None:
    spark_server.require()
    (tmp_path / "dictionary.json").write_text(dictionary.canonical())
    done = subprocess.run(
        [sys.executable, "-m", "tests.tables.sources.test_spark", f"spark:parquet.`{folder}/t.parquet`", str(tmp_path)],
        env=without_spark() | spark_server.JAVA | {"PYTHONPATH": str(ROOT), "TZ": "Asia/Kolkata"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=spark_server.PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == only(FEW[-2:], expected)
    assert [path.name for path in tmp_path.iterdir()] == ["dictionary.json"]


def test_spellings_of_missing_cells(connect: Any, folder: Path, dictionary: Dictionary) -> None:
    how = How(missing=("word=NA", "0.1", "7", "truth=true"))
    source, names = open_table(f"spark:parquet.`{folder}/t.parquet`", how), ("single", "word")
    assert described(source, dictionary, names) == described(open_table(folder / "t.csv", how), dictionary, names)


@pytest.mark.usefixtures("connect")
def test_columns_with_many_values_say_how_many_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "Growing", partial(Growing, most=1000))
    text = """
        SELECT id AS number, concat(id, ' x') AS word, timestamp_micros(id) AS moment FROM range(9000) UNION ALL
        SELECT NULL, '?', NULL UNION ALL SELECT 0.5 - 2e0, '', NULL;  -- a comment
    """
    source = open_table("spark:", query(tmp_path, text))
    found = source.profile(source.names).columns
    assert {name: (one.rows, one.missing, one.complete) for name, one in found.items()} == {
        "number": (9002, 1, False),
        "word": (9002, 2, False),
        "moment": (9002, 2, False),
    }
    assert found["number"].range == (-1.5, 8999.0)


def test_a_folder_that_spark_wrote(connect: Any, tmp_path: Path) -> None:
    wrote = tmp_path / "wrote"
    select = """
        SELECT id, if(id % 2 = 0, 'sick', 'well') AS diagnosis, id / 3 AS double, cast(id AS float) / 3 AS single,
        timestamp'2024-03-10 02:30:00' + make_interval(0, 0, 0, 0, id % 7) AS moment,
        timestamp_ntz'2024-03-10 02:30:00' AS local, cast(id / 10 AS decimal(10, 2)) AS decimal,
        id % 3 AS ward, if(id % 5 = 0, NULL, concat('p ', id % 2, '/', id % 3)) AS place FROM range(60)
    """
    connect.sql(select).repartition(2).write.partitionBy("ward", "place").parquet(str(wrote))
    here, there = open_table(wrote), open_table(f"spark:parquet.`{wrote}`")
    assert rows_of(here.read(there.names)) == rows_of(there.read(there.names))
    assert any(text.endswith("Z") for text in here.read(["moment"]).texts("moment"))


@pytest.mark.usefixtures("connect")
def test_columns_without_a_text_are_refused_if_they_are_used(tmp_path: Path) -> None:
    text = "SELECT 'a' AS word, array(1) AS list, map('a', 1) AS pairs, X'01' AS bytes, interval 1 month AS span"
    source = open_table("spark:", query(tmp_path, text))
    assert source.profile(["word"]).columns["word"].values.tolist() == ["a"]
    for name in ("list", "pairs", "bytes", "span"):
        with pytest.raises(BadData, match=f"Column '{name}' holds .*, which has no text"):
            source.profile([name])


@pytest.mark.usefixtures("connect")
def test_texts_that_are_equal_to_spark_are_kept_apart(tmp_path: Path) -> None:
    text = "SELECT word COLLATE UNICODE_CI_RTRIM AS word FROM VALUES ('a'), ('A'), ('a '), ('a') AS cells(word)"
    column = open_table("spark:", query(tmp_path, text)).profile(["word"]).columns["word"]
    assert dict(zip(column.values.tolist(), column.counts.tolist(), strict=True)) == {"a": 2, "A": 1, "a ": 1}


@pytest.mark.usefixtures("connect")
def test_what_spark_refuses_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "no such table or view" in refusal("spark:nothing.here")
    assert "Path does not exist" in refusal(f"spark:parquet.`{tmp_path}/none`")
    assert "`column`" in refusal("spark:", query(tmp_path, "SELECT column FROM range(3)"))
    assert "Syntax error" in refusal("spark:", query(tmp_path, "SELECT 1 +"))
    source = open_table("spark:", query(tmp_path, "SELECT assert_true(id > 5, 'small') AS a FROM range(9)"))
    with pytest.raises(BadData, match="Spark says"):
        source.profile(["a"])
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("address", ["spark:", "spark:a..b", "spark:a`b", "spark:.a", "spark:a."])
def test_addresses_without_a_table_are_refused(address: str) -> None:
    with pytest.raises(Unsupported, match=r"spark:catalog\.schema\.table"):
        open_table(address)


def test_a_table_and_a_query_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="--query"):
        open_table("spark:patients", query(tmp_path, "SELECT 1"))


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    spark_server.require()
    monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{free_port()}")
    assert "SPARK_REMOTE names: Connection refused" in refusal("spark:patients")


def test_java_that_is_not_there(tmp_path: Path) -> None:
    spark_server.require()
    code = "from mixbayes.tables.sources.opening import open_table; open_table('spark:patients')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=without_spark() | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=spark_server.PATIENCE,
        check=False,
    )
    *_, last = done.stderr.splitlines()
    assert "BadData: spark:patients: Spark does not start: it needs Java 17 or newer." in last


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("py4j", "pyspark")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("py4j", "pyspark"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NotInstalled, match=r"mixbayes\[spark\]"):
        open_table("spark:patients")


if __name__ == "__main__":
    agreed = dictionary_from(json.loads(Path(sys.argv[2], "dictionary.json").read_text()))
    print(json.dumps(described(open_table(sys.argv[1]), agreed, FEW[-2:])))
