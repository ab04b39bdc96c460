"""What is asked of real databases, and what they and their addresses are refused for."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from sqlalchemy import Connection
from sqlalchemy.sql.selectable import FromClause

from mixbayes.extras import NotInstalled
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables import profile
from mixbayes.tables.counting import counted
from mixbayes.tables.folding import folded
from mixbayes.tables.sources import addresses, statements
from mixbayes.tables.sources.engine import Engine, Rows, Statement
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table
from mixbayes.tables.sources.postgresql import PostgreSql
from mixbayes.tables.sources.source import SourceAway
from tests.tables.sources.test_same_everywhere import said

PATIENTS = """
    create table {} as select
        case when i % 7 = 0 then null when i % 3 = 0 then 'f' else 'm' end as sex,
        case when i % 5 = 0 then 'yes' else 'no' end as smokes,
        i * 0.25 as age, 'name ' || i as name, cast(i as varchar(9)) as code,
        case when i % 4 = 0 then 'ill' else 'well' end as outcome
    from {} as numbers(i)
"""
SEX = Nominal(name="sex", values=("f", "m"))
SMOKES = Nominal(name="smokes", values=("no", "yes"))
AGE = Gaussian(name="age", low=0, high=100)


def layout(*attributes: Nominal | Gaussian) -> Layout:
    return Layout(Dictionary(class_column="outcome", classes=("ill", "well"), attributes=attributes))


@pytest.fixture
def server(postgres_url: str) -> Iterator[psycopg.Connection]:
    """The server with one table of 200 patients."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("drop schema public cascade; create schema public")
        connection.execute(PATIENTS.format("patients", "generate_series(1, 200)").encode())
        yield connection


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of DuckDB's with the same table."""
    path = tmp_path / "patients.db"
    with duckdb.connect(path) as connection:
        connection.execute(PATIENTS.format("patients", "range(1, 201)"))
    return path


def query(folder: Path, text: str) -> How:
    path = folder / "query.sql"
    path.write_text(text)
    return How(query=path)


def test_one_scan_counts_all_attributes(
    server: psycopg.Connection, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, answer = open_table(postgres_url), PostgreSql.answer
    asked: list[str] = []

    def recorded(self: PostgreSql, connection: Connection, statement: Statement) -> Iterator[Rows]:
        asked.append(self.render(statement))
        return answer(self, connection, statement)

    monkeypatch.setattr(PostgreSql, "answer", recorded)
    counted(layout(SEX, SMOKES), source)
    assert scans(server, asked) == ["Seq Scan"]
    asked.clear()
    counted(layout(SEX, SMOKES, AGE), source)
    assert scans(server, asked) == ["Seq Scan"] * 2  # one more for all sums of numbers


def scans(server: psycopg.Connection, statements: Sequence[str]) -> list[str]:
    """The scans in the plans of these statements."""
    plans = [line for one in statements for (line,) in server.execute(f"explain {one}".encode()).fetchall()]
    return re.findall(r"\b\w+ Scan(?= on)", "\n".join(plans).replace("Subquery Scan on", ""))


def test_rights_to_read_suffice(server: psycopg.Connection, postgres_url: str) -> None:
    server.execute("drop role if exists reader; create role reader login")
    server.execute("grant usage on schema public to reader; grant select on patients to reader")
    url = postgres_url.replace("tester", "reader")
    assert counted(layout(SEX, AGE), open_table(url)).rows == 200
    server.execute("revoke select on patients from reader")
    with pytest.raises(BadData, match=r"permission denied for table patients"):
        open_table(url, How(table="patients"))


def test_a_query_in_order_is_dealt_into_folds_alike_wherever_its_rows_are(
    server: psycopg.Connection, postgres_url: str, tmp_path: Path
) -> None:
    query = tmp_path / "ordered.sql"
    query.write_text("select sex, age, outcome from patients order by age desc")
    with duckdb.connect(tmp_path / "t.db") as there:
        there.execute(PATIENTS.format("patients", "range(1, 201)"))
        rows = there.execute("select * replace (age::double as age) from patients").fetchall()
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("create table patients (sex, smokes, age, name, code, outcome)")
        connection.executemany("insert into patients values (?, ?, ?, ?, ?, ?)", [*rows[90:], *rows[:90]])
    connection.close()
    # PostgreSQL writes what changes behind all other rows.
    server.execute("update patients set age = age where sex = 'f'")
    in_folds = Layout(layout(SEX, AGE).dictionary, Terms(folds=3))
    found = [
        folded(in_folds, open_table(url, How(query=query)), test_share=0.2, secret=b"north", most=40)
        for url in (postgres_url, f"duckdb:{tmp_path / 't.db'}", f"sqlite:///{tmp_path / 't.sqlite'}")
    ]
    for other in found[1:]:
        assert other.counted.vector.tolist() == found[0].counted.vector.tolist()
        assert other.patients.codes.tolist() == found[0].patients.codes.tolist()
        assert other.aside.codes.tolist() == found[0].aside.codes.tolist()


def test_columns_and_tables_keep_any_name(server: psycopg.Connection, postgres_url: str) -> None:
    name = 'x"; drop table patients; --%s'
    quoted = name.replace('"', '""')
    server.execute(f'create table "Other; table" as select sex as "{quoted}", outcome from patients'.encode())
    source = open_table(postgres_url, How(table="Other; table"))
    assert source.names == (name, "outcome")
    assert counted(layout(Nominal(name=name, values=("f", "m"))), source).rows == 200
    assert open_table(postgres_url, How(table="patients")).names[0] == "sex"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no statement"),
        ("-- nothing\n;", "has no statement"),
        ("select 1; select 2", "has several statements"),
        ("drop table patients", "begins with neither WITH nor SELECT"),
    ],
)
def test_refuses_what_is_no_query(text: str, why: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(BadData, match=why):
        open_table(f"duckdb:{file}", query(tmp_path, text))


def test_a_query_cannot_write(server: psycopg.Connection, postgres_url: str, tmp_path: Path) -> None:
    server.execute("create function spoil() returns int language sql as 'delete from patients returning 1'")
    for text in ("select spoil() as sex", "with gone as (delete from patients returning *) select * from gone"):
        with pytest.raises(BadData, match=r"read-only transaction|must be at the top level"):
            open_table(postgres_url, query(tmp_path, text)).read(["sex"])
    row = server.execute("select count(*) from patients").fetchone()
    assert row == (200,)


def test_counts_the_answer_of_a_query(
    server: psycopg.Connection, postgres_url: str, file: Path, tmp_path: Path
) -> None:
    how = query(
        tmp_path, "select sex, age, outcome, ':x' as \"a;b\", age % 2 from patients where smokes = 'no'; -- ;\n"
    )
    there, here = open_table(postgres_url, how), open_table(f"duckdb:{file}", how)
    assert there.names[3] == "a;b"
    assert counted(layout(SEX, AGE), there).vector.tolist() == counted(layout(SEX, AGE), here).vector.tolist()


@pytest.mark.parametrize("most", [8, 1000])
def test_profile_of_many_values(
    most: int, server: psycopg.Connection, postgres_url: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile.Profiling.__init__, "__defaults__", (most,))
    monkeypatch.setattr(profile.Growing.__init__, "__defaults__", (most,))
    for how in (How(), How(missing=("0.5", "name 7", "9"))):
        there, here = open_table(postgres_url, how), open_table(f"duckdb:{file}", how)
        for source in (there, here):
            expected = profile.Profiling(source.names)
            expected.add(source.read(source.names))
            found, wanted = said(source.profile(source.names)), said(expected.done(""))
            for name, (rows, missing, values, counts, complete, bounds) in wanted.items():
                assert found[name][:2] == (rows, missing)
                assert found[name][4:] == (complete, bounds)
                assert len(found[name][2]) == len(values)
                if complete:
                    assert found[name][2:4] == (values, counts)


def test_computes_as_numpy_does(server: psycopg.Connection, postgres_url: str, file: Path) -> None:
    """Ties, numbers far beyond the bounds, and quotients too small for a float64."""
    values = [*((2 * k + 1) / 2**25 for k in range(50)), 0.0, 1.0, 5e-324, 1e-320, 0.3, 1e308, -1e308, 1.7e308]
    rows = ", ".join(f"(cast('{value!r}' as double precision), 'ill')" for value in values)
    made = f"create table measured as select * from (values {rows}) as measured(age, outcome)"
    server.execute(made.encode())
    with duckdb.connect(file) as connection:
        connection.execute(made)
    for bounds in ((0.0, 1.0), (0.0, 1e5), (1e-300, 1e308), (-1e-3, 0.3)):
        wanted = layout(Gaussian(name="age", low=bounds[0], high=bounds[1]))
        for address in (postgres_url, f"duckdb:{file}"):
            source = open_table(address, How(table="measured"))
            here = counted(wanted, source.read(source.names))
            there = counted(wanted, source)
            assert (there.vector.tolist(), there.clipped) == (here.vector.tolist(), here.clipped), (address, bounds)


def test_tells_apart_what_a_collation_does_not(server: psycopg.Connection, postgres_url: str, tmp_path: Path) -> None:
    server.execute("create collation loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    server.execute("create type kind as enum ('F', 'f', 'ф')")
    made = "create table loose (sex {}, kind {}, outcome text)"
    rows = "insert into loose values ('f', 'f', 'ill'), ('F', 'F', 'ill'), ('é', 'f', 'ill'), ('e', 'f', 'ill')"
    server.execute(made.format("text collate loose", "kind").encode())
    server.execute(rows.encode())
    with duckdb.connect(tmp_path / "loose.db") as in_duckdb:
        in_duckdb.execute(made.format("text collate nocase.noaccent", "text"))
        in_duckdb.execute(rows)
    with sqlite3.connect(tmp_path / "loose.sqlite") as in_sqlite:
        in_sqlite.execute(made.format("text collate nocase", "text"))
        in_sqlite.execute(rows)
    in_sqlite.close()
    wanted = layout(Nominal(name="sex", values=("F", "e", "f", "é")), Nominal(name="kind", values=("F", "f")))
    for address in (postgres_url, f"duckdb:{tmp_path / 'loose.db'}", f"sqlite:///{tmp_path / 'loose.sqlite'}"):
        found = counted(wanted, open_table(address, How(table="loose"))).vector
        assert found.reshape(-1, 2)[1:, 0].tolist() == [1, 1, 1, 1, 0, 1, 3, 0], address


def test_infinite_numbers_are_named(file: Path) -> None:
    with duckdb.connect(file) as connection:
        connection.execute("create table measured as select 'inf'::double as age, 'ill' as outcome")
    with pytest.raises(BadData, match="column 'age': 'inf' not a number"):
        counted(layout(AGE), open_table(f"duckdb:{file}", How(table="measured")))


def test_lists_tables_if_none_is_named(file: Path, tmp_path: Path) -> None:
    with duckdb.connect(file) as connection:
        connection.execute("create table doctors (name text)")
    with pytest.raises(BadData, match=r"it has 2 tables: 'main.doctors', 'main.patients'. Name one by --table"):
        open_table(f"duckdb:{file}")
    with pytest.raises(BadData, match="no tables"), sqlite3.connect(tmp_path / "empty.db"):
        open_table(f"sqlite:///{tmp_path / 'empty.db'}")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("postgres://tester@127.0.0.1:1/postgres", "connection"),
        ("postgresql://nowhere.invalid/postgres", "nowhere.invalid"),
        ("sqlite:///no/such/file.db", "unable to open"),
        ("duckdb:no/such/file.db", "does not exist"),
    ],
)
def test_says_why_it_cannot_connect(address: str, why: str) -> None:
    with pytest.raises((BadData, SourceAway), match=why) as error:
        open_table(address)
    assert len(str(error.value).splitlines()) == 1
    assert isinstance(error.value, SourceAway) == ("://" in address)


def test_names_a_table_that_is_not_there(server: psycopg.Connection, postgres_url: str, file: Path) -> None:
    for address in (postgres_url, f"duckdb:{file}"):
        with pytest.raises(BadData, match="nobody"):
            open_table(address, How(table="nobody"))


@pytest.mark.parametrize(
    "address", ["postgres://u:hush@h/db", "mysql://u@h/db?password=hush", "postgres://u:hush@h:x/db"]
)
def test_takes_no_password_in_an_address(address: str) -> None:
    with pytest.raises(Unsupported) as error:
        open_table(address)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize(("scheme", "driver"), [("mssql", "pymssql"), ("mysql", "pymysql"), ("oracle", "oracledb")])
def test_names_the_extra_of_a_driver(scheme: str, driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _ = addresses.SERVERS[scheme]
    monkeypatch.setitem(sys.modules, driver, None)
    monkeypatch.delitem(sys.modules, f"mixbayes.tables.sources.{module}", raising=False)
    with pytest.raises(NotInstalled, match=rf"needs {driver}.*'mixbayes\[sql\]'"):
        open_table(f"{scheme}://host/database")


def test_takes_a_table_or_a_query(file: Path) -> None:
    with pytest.raises(Unsupported, match="not both"):
        open_table(f"duckdb:{file}", How(table="patients", query=file))


def test_a_table_that_changes_meanwhile_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups, asked = statements.groups, list[object]()

    def others_leave(engine: Engine, relation: FromClause, *rest: Any) -> Statement:
        asked.append(relation)
        fewer = statements.of_query("select * from patients where age > 1")
        return groups(engine, relation if len(asked) == 1 else fewer, *rest)

    monkeypatch.setattr(statements, "groups", others_leave)
    with pytest.raises(BadData, match=r"patients\): its rows changed while they were counted"):
        counted(layout(SEX), open_table(f"duckdb:{file}"))
