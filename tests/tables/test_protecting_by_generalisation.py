"""Generalisation in a federation: what a hospital counts of cells that its release says less of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mixbayes.protocol.attributes.dictionary import dictionary_from
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.inference import infer
from mixbayes.tables.protecting import protect, read_protection
from tests.tables.whole_release import protected

TREES = {"job": {"any": [{"health": ["nurse", "surgeon"]}, {"law": ["judge", "lawyer"]}]}}
NAMES = ("age", "job", "town", "class")


def hospital(rows: int = 40) -> Columns:
    """Nurses and judges are many, and one is a surgeon; two towns are rare."""
    jobs = ["surgeon", *["nurse"] * 19, *["judge"] * 19, "lawyer"]
    towns = [*["north"] * 18, "?", "east", *["south"] * 19, "west"]
    ages = [f"{30 + at}.0" for at in range(rows)]
    cells = (ages, jobs, towns, ["sick", "well"] * 10 + ["well"] * 20)
    return Columns.of(NAMES, tuple(np.array(column, np.str_) for column in cells), rows, "hospital")


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.json"
    path.write_text(json.dumps(TREES))
    return path


def test_names_of_several_values_count_as_missing_and_are_told(trees: Path) -> None:
    table = hospital()
    dictionary = infer([table], "class", numeric=["age"])
    protection = read_protection(f"generalisation:k=5:quasi_identifiers=job:taxonomies={trees}")
    done = protect(table, dictionary, protection, 0)
    assert set(done.table.texts("job")) == {"?"}
    assert (done.coarsened, done.people) == (40, "5-anonymity of job")
    assert "(job) stands for at least 5 rows" in done.guarantee
    assert done.table.texts("age").tolist() == table.texts("age").tolist()


def test_what_the_dictionary_lists_is_counted(trees: Path) -> None:
    """Hospitals can agree on the names of nodes as values."""
    table = hospital()
    plain = infer([table], "class", numeric=["age"]).model_dump(mode="json")
    (job,) = (attribute for attribute in plain["attributes"] if attribute["name"] == "job")
    job["values"] = [*job["values"], "health", "law"]
    layout = Layout(dictionary_from(plain))
    protection = read_protection(f"generalisation:k=5:quasi_identifiers=job:taxonomies={trees}")
    done = protect(table, layout.dictionary, protection, 0)
    assert done.table.texts("job").tolist() == ["health"] * 20 + ["law"] * 20
    assert done.coarsened == 0
    found = protected(layout, table, protection, 0)
    assert (found.vector == counted(layout, done.table).vector).all()


def test_suppressed_cells_are_told_too() -> None:
    """East and west, with the gap, are three rows; the gap was there before."""
    table = hospital()
    layout = Layout(infer([table], "class", numeric=["age"]))
    found = protected(layout, table, read_protection("generalisation:k=3:quasi_identifiers=town"), 0)
    assert found.coarsened == 2
    assert found.rows == 40
    assert found.protection == "generalisation:k=3:quasi_identifiers=town"


def test_another_method_coarsens_nothing() -> None:
    table = hospital()
    layout = Layout(infer([table], "class", numeric=["age"]))
    assert protected(layout, table, read_protection("sap:p=0.5"), 0).coarsened == 0


def test_a_hospital_with_nothing_to_count_is_told(trees: Path) -> None:
    table = hospital().take(np.arange(40))
    table = Columns.of(("job", "class"), (table.texts("job"), table.texts("class")), 40, "hospital")
    protection = read_protection(f"generalisation:k=30:taxonomies={trees}")
    with pytest.raises(BadData, match="leaves no cell to count"):
        protect(table, infer([table], "class"), protection, 0)


def test_a_value_that_the_taxonomy_lacks_is_not_named(tmp_path: Path) -> None:
    path = tmp_path / "trees.json"
    path.write_text('{"job": {"any": ["nurse", "judge", "lawyer"]}}')
    table = hospital()
    with pytest.raises(BadData, match=r"hospital: .*no leaf for 1 of the values.*stands in row 1\b") as refused:
        protect(table, infer([table], "class"), read_protection(f"generalisation:taxonomies={path}"), 0)
    assert "surgeon" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read: No such file"), (b"{", "no JSON: line 1"), (b"\xff\xfe", "no text in UTF-8")],
)
def test_a_file_that_is_no_taxonomy_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "trees.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadData, match=said):
        read_protection(f"generalisation:taxonomies={path}")


def test_json_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trees.json"
    path.write_text("[1]")
    with pytest.raises(Unsupported, match="a mapping from the names of columns"):
        read_protection(f"generalisation:taxonomies={path}")
