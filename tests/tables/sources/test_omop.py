"""The query of docs/operations/omop.sql on the tables of OMOP that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from mixbayes.tables.inference import infer
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table, read_table

QUERY = Path(__file__).parents[3] / "docs" / "operations" / "omop.sql"
TABLES = """
    create table person (person_id int, year_of_birth int, gender_concept_id int);
    create table observation_period (person_id int, observation_period_end_date date);
    create table drug_era (person_id int, drug_concept_id int, drug_era_end_date date);
    create table concept (concept_id int, concept_code text);
    create table measurement (
        person_id int, measurement_concept_id int, measurement_date date, value_as_number numeric
    );
    create table death (person_id int);
    insert into person values (1, 1950, 8507), (2, 1961, 8532), (3, 1970, 0), (4, 1980, 8507);
    insert into observation_period values
        (1, '2020-05-01'), (1, '2023-05-01'), (2, '2024-01-31'), (3, '2024-01-31');
    insert into concept values (10, '1191'), (11, '5224');
    insert into drug_era values
        (1, 11, '2023-01-01'), (1, 10, '2023-02-01'), (1, 10, '2019-01-01'), (2, 10, '2021-01-01');
    insert into measurement values
        (1, 3020460, '2022-01-01', 5.20), (1, 3020460, '2023-01-01', 7.50), (2, 1, '2023-01-01', 1);
    insert into death values (1);
"""


@pytest.fixture
def server(postgres_url: str) -> Iterator[str]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("drop schema public cascade; create schema public")
        connection.execute(TABLES.encode())
        yield postgres_url
        connection.execute("drop schema public cascade; create schema public")


def test_one_row_for_each_patient_who_was_observed(server: str) -> None:
    table = read_table(server, How(query=QUERY))
    rows = sorted(zip(*(table.texts(name).tolist() for name in table.names), strict=True))
    assert table.names == ("age", "sex", "drugs", "crp_mg_l", "class")
    assert rows == [
        ("54", "", "none", "", "alive"),
        ("63", "f", "none", "", "alive"),
        ("73", "m", "1191;5224", "7.5", "dead"),
    ]


def test_the_database_counts_it(server: str) -> None:
    source = open_table(server, How(query=QUERY))
    dictionary = infer([source.profile(source.names)], several={"drugs": ";"})
    assert [attribute.kind for attribute in dictionary.attributes] == ["nominal", "nominal", "several", "nominal"]
