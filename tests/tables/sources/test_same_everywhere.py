"""A table counts the same wherever it is: as CSV, as Parquet, in DuckDB, PostgreSQL and SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from hypothesis import HealthCheck, Phase, given, settings

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.cells import MISSING
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.tables.counting import counted
from mixbayes.tables.profile import Profile
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table
from tests.tables.sources import tables
from tests.tables.sources.tables import Made

NUMBERS = ("whole", "wide", "narrow", "money")
GAPS = How(missing=("NA", "1"))


def dictionary(made: Made, numbers: type[Gaussian] | type[Binned]) -> Dictionary:
    """All texts of the table are values, and its numbers have bounds that some of them exceed."""
    texts = dict(zip(tables.TYPES, zip(*made.texts(), strict=True), strict=True))
    of_numbers: dict[str, Any] = {"low": -2.5, "high": 7.0}
    if numbers is Binned:
        of_numbers["cuts"] = (-2.5, 0.1, 0.5, 1.0)
    attributes = [
        numbers(name=made.name(kind), **of_numbers)
        if kind in NUMBERS
        else Nominal(name=made.name(kind), values=tuple(sorted({*texts[kind], "never"} - set(MISSING))))
        for kind in tables.TYPES
        if kind != "label"
    ]
    return Dictionary(class_column=made.name("label"), classes=("Well", "ill", "well"), attributes=tuple(attributes))


def said(profile: Profile) -> dict[str, Any]:
    """What of a profile does not depend on an order of rows."""
    return {
        name: (one.rows, one.missing, one.values.tolist(), one.counts.tolist(), one.complete, one.range)
        for name, one in profile.columns.items()
    }


@settings(
    max_examples=8,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example fills five tables: shrinking takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tables.made_tables())
def test_counts_and_profile(postgres_url: str, tmp_path: Path, made: Made) -> None:
    files = {kind: tmp_path / f"patients.{kind}" for kind in ("csv", "parquet", "duckdb", "sqlite")}
    for kind, path in files.items():
        getattr(tables, f"write_{kind}")(made, path)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        tables.write_postgres(made, connection)
    places = [f"{files['parquet']}", f"duckdb:{files['duckdb']}", f"sqlite:///{files['sqlite']}", postgres_url]
    layouts = [Layout(dictionary(made, numbers)) for numbers in (Gaussian, Binned)]
    for how in (How(), GAPS):
        reference = open_table(files["csv"], how)
        expected = [counted(layout, reference) for layout in layouts]
        for place in places:
            source = open_table(place, how)
            assert said(source.profile(source.names)) == said(reference.profile(reference.names)), place
            for layout, wanted in zip(layouts, expected, strict=True):
                found = counted(layout, source)
                assert (found.vector.tolist(), found.clipped) == (wanted.vector.tolist(), wanted.clipped), place
            rows = source.read(source.names)
            assert sorted(zip(*map(rows.texts, rows.names), strict=True)) == sorted(
                zip(*map(reference.read(rows.names).texts, rows.names), strict=True)
            ), place
