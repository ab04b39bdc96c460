"""The statements as SQL Server, Oracle and MySQL get them. Other tests have PostgreSQL, DuckDB and SQLite answer."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.tables.sources import statements
from mixbayes.tables.sources.engine import Field, Holds, Statement
from mixbayes.tables.sources.mysql import MySql
from mixbayes.tables.sources.oracle import Oracle
from mixbayes.tables.sources.sql_engine import SqlEngine
from mixbayes.tables.sources.sql_server import SqlServer

OUTCOME = Field("outcome", Holds.OTHER)
SEX, NAMED, AGE = Field("sex", Holds.TEXT), Field("]\"`'", Holds.OTHER), Field("age", Holds.DECIMAL)
PATIENTS = statements.of_table("patients", "ward")
DATABASES: dict[type[SqlEngine], SqlEngine] = {
    kind: kind(make_url("x://user@host/db")) for kind in (SqlServer, Oracle, MySql)
}


def rendered(kind: type[SqlEngine], statement: Statement) -> str:
    return " ".join(DATABASES[kind].render(statement).split())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            SqlServer,
            "SELECT 0, cells.k, count_big(*) AS count_big_1, cells.v0 FROM (SELECT [outcome] AS k, CAST([sex] AS "
            "NVARCHAR(max)) COLLATE Latin1_General_100_BIN2 AS v0, datalength([sex]) AS v0_apart FROM ward.patients) "
            "AS cells GROUP BY cells.k, cells.v0, cells.v0_apart",
        ),
        (
            Oracle,
            'SELECT 0, cells.k, count(*) AS count_1, cells.v0 FROM (SELECT "outcome" AS k, "sex" AS v0 '
            "FROM ward.patients) cells GROUP BY cells.k, cells.v0",
        ),
        (
            MySql,
            "SELECT 0, cells.k, count(*) AS count_1, cells.v0 FROM (SELECT `outcome` AS k, CAST(convert(`sex` USING "
            "utf8mb4) AS BINARY) AS v0 FROM ward.patients) AS cells GROUP BY cells.k, cells.v0",
        ),
    ],
)
def test_groups(kind: type[SqlEngine], text: str) -> None:
    assert rendered(kind, statements.groups(DATABASES[kind], PATIENTS, OUTCOME, [SEX])) == text


def test_groups_in_one_scan() -> None:
    assert rendered(Oracle, statements.groups(DATABASES[Oracle], PATIENTS, OUTCOME, [None, SEX, AGE])) == (
        "SELECT CASE WHEN (grouping(cells.v1) = 0) THEN 1 WHEN (grouping(cells.v2) = 0) THEN 2 ELSE 0 END AS anon_1, "
        'cells.k, count(*) AS count_1, NULL AS anon_2, cells.v1, cells.v2 FROM (SELECT "outcome" AS k, "sex" AS v1, '
        '"age" AS v2 FROM ward.patients) cells GROUP BY GROUPING SETS((cells.k), (cells.k, cells.v1), '
        "(cells.k, cells.v2))"
    )


@pytest.mark.parametrize(
    ("kind", "cell", "half", "whole"),
    [
        (SqlServer, "CAST(CAST([age] AS VARCHAR(64)) AS DOUBLE PRECISION)", "0.5e0", "BIGINT"),
        (Oracle, 'to_binary_double(to_char("age"))', "0.5d", "NUMBER(19)"),
        (MySql, "`age` + 0.0e0", "0.5e0", "SIGNED INTEGER"),
    ],
)
def test_sums(kind: type[SqlEngine], cell: str, half: str, whole: str) -> None:
    sums = statements.Sums(DATABASES[kind], PATIENTS, OUTCOME)
    value = sums.cell(AGE)
    sums.add(Binned(name="age", low=0.5, high=9.0, cuts=()).summands(value, sums).beyond)
    text = rendered(kind, sums.statement())
    assert f"{cell} AS x0 FROM ward.patients)" in text
    assert f"CASE WHEN (x{0 if kind is not Oracle else 1} < {half}) THEN" in text
    assert f" AS {whole})) AS sum_1 FROM (" in text


def test_oracle_has_a_number_that_is_none() -> None:
    sums = statements.Sums(DATABASES[Oracle], PATIENTS, OUTCOME)
    sums.add(sums.infinite(sums.cell(AGE, [-9.0])))
    assert "CASE WHEN (x0 = -9.0d OR (x0 IS NAN)) THEN NULL ELSE x0 END AS x1" in rendered(Oracle, sums.statement())


@pytest.mark.parametrize(("kind", "name"), [(SqlServer, "[]]\"`']"), (Oracle, '"]""`\'"'), (MySql, "`]\"``'`")])
def test_quotes_names(kind: type[SqlEngine], name: str) -> None:
    text = rendered(kind, statements.values(DATABASES[kind], PATIENTS, NAMED))
    assert f"(SELECT {name} AS v0 FROM" in text


def test_a_query_is_taken_as_it_is() -> None:
    text = rendered(SqlServer, statements.nothing(statements.of_query("select ':x' as a, b % 2, '\\:' from c -- all")))
    assert text == "SELECT * FROM (select ':x' as a, b % 2, '\\:' from c -- all ) AS answer WHERE 0 = 1"
