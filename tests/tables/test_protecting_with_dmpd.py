"""DMPD in a federation: a hospital counts its discretised projections, and the joint classifier is the pooled one."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.registry import configured
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import infer
from mixbayes.tables.method_table import as_table
from mixbayes.tables.protecting import Protection, protect, read_protection
from tests.cli.oracle import Row, Rules, classify
from tests.tables.whole_release import protected

PROTECTION = "dmpd:k=10:population=12:generations=6"
NAMES = ("age", "pressure", "smokes", "ward", "class")


def hospital(seed: int, rows: int = 120) -> Columns:
    """The class goes with the age and with smoking; one ward is so rare that `ward` cannot be released at k = 10."""
    random = np.random.default_rng(seed)
    sick = random.random(rows) < 0.5
    ages = np.where(sick, 70, 50) + random.normal(0, 8, rows)
    pressure = random.normal(120, 15, rows).round(1)
    smokes = np.where(random.random(rows) < 0.8, sick, ~sick)
    ward = random.choice(["a", "b"], rows)
    ward[:3] = "c"
    cells = [ages.round(2), pressure, np.where(smokes, "yes", "no"), ward, np.where(sick, "sick", "well")]
    texts = [np.where(random.random(rows) < 0.1, "?", np.array(column, np.str_)) for column in cells[:-1]]
    return Columns.of(NAMES, (*texts, np.array(cells[-1], np.str_)), rows, f"hospital {seed}")


def rows_of(table: Columns) -> list[Row]:
    return [
        dict(zip(table.names, row, strict=True))
        for row in zip(*(table.texts(name).tolist() for name in table.names), strict=True)
    ]


def discretised(table: Columns, dictionary: Dictionary, protection: Protection, seed: int) -> Columns:
    """The hospital's rows in their own order, in the terms of its release: what its counts must be those of."""
    method = configured(protection.method, protection.settings, seed)
    numeric = [a.name for a in dictionary.attributes if a.name in ("age", "pressure")]
    assert isinstance(method, DMPD)
    whole = as_table(table, numeric)
    attributes = whole.select([whole.position(name) for name in dictionary.names])
    method.fit(attributes, whole.column("class"))
    given = method.transform(attributes)
    cells = []
    for column in given.columns:
        texts = np.array([repr(c) if isinstance(c, float) else str(c) for c in column.cells().tolist()], np.str_)
        cells.append(np.where(column.missing, "?", texts))
    return Columns.of((*given.names, "class"), (*cells, table.texts("class")), table.rows)


@pytest.mark.parametrize("bins", [None, 4])
def test_the_joint_classifier_is_that_of_the_discretised_rows(bins: int | None) -> None:
    tables = [hospital(seed) for seed in range(3)]
    questions = hospital(9, rows=60)
    dictionary = infer(tables, "class", numeric=["age", "pressure"], bins=bins)
    layout = Layout(dictionary)
    protection = read_protection(PROTECTION)
    contributions = [protected(layout, table, protection, seed) for seed, table in enumerate(tables[:2])]
    contributions.append(counted(layout, tables[2]))
    vector = sum((one.vector for one in contributions[1:]), contributions[0].vector)
    codes = encode_query(dictionary, questions).codes
    labels = [dictionary.classes[at] for at in fixed_labels(layout, fixed_model(layout, vector), codes)]
    pooled = [discretised(table, dictionary, protection, seed) for seed, table in enumerate(tables[:2])]
    verdict = classify(
        [row for table in (*pooled, tables[2]) for row in rows_of(table)],
        rows_of(questions),
        Rules(bins=bins, numeric=["age", "pressure"]),
        known=[row for table in tables for row in rows_of(table)],
    )
    assert verdict.contradicts(labels, 0.01) == []
    assert np.mean([a == b for a, b in zip(labels, questions.texts("class"), strict=True)]) > 0.75


def test_counts_are_those_of_the_discretised_rows_to_the_last_bit() -> None:
    table = hospital(0)
    dictionary = infer([table], "class", numeric=["age", "pressure"])
    layout = Layout(dictionary)
    protection = read_protection(PROTECTION)
    expected = counted(layout, discretised(table, dictionary, protection, 5)).vector
    assert (protected(layout, table, protection, 5).vector == expected).all()


def test_a_left_out_attribute_is_missing_and_numbers_are_means_of_intervals() -> None:
    table = hospital(0)
    dictionary = infer([table], "class", numeric=["age", "pressure"])
    done = protect(table, dictionary, read_protection(PROTECTION), 0)
    assert set(done.table.texts("ward")) == {"?"}
    ages = done.table.texts("age")
    assert 1 < len(set(ages) - {"?"}) < 10
    assert "verified" in done.guarantee
    assert done.unlabelled == 0


def test_rows_are_not_paired_with_the_table() -> None:
    """A cell that by chance equals the one that stood there keeps nothing of how it was written."""
    table = hospital(0)
    padded = np.array([text if text == "?" else f"0{text}" for text in table.texts("pressure")], np.str_)
    table = Columns.of(NAMES, (table.texts(NAMES[0]), padded, *map(table.texts, NAMES[2:])), table.rows)
    dictionary = infer([table], "class", numeric=["age", "pressure"])
    released = protect(table, dictionary, read_protection("dmpd:k=1:population=4:generations=0"), 0).table
    assert not any(text.startswith("0") for text in released.texts("pressure"))


def test_a_hospital_with_nothing_to_release_is_told() -> None:
    table = hospital(0)
    dictionary = infer([table], "class", numeric=["age", "pressure"])
    with pytest.raises(BadData, match="leaves no cell to count"):
        protect(table, dictionary, read_protection("dmpd:k=119"), 0)
