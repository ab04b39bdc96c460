"""How released cells are written: as the hospital wrote them in columns left alone, in others all alike."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods import SAP, SVD, Condensation, Microaggregation
from mixbayes.local_methods.base import LocalMethod
from mixbayes.protocol.attributes.cells import missing
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_table import as_table
from mixbayes.tables.protecting import texts_of
from mixbayes.tables.released_texts import as_texts

AGES = ["07", "7", "", "7.0", "?", "8", "9.50", "9.5"] * 3
WARDS = ["a", "", "?", "a", "b", "b", "", "?"] * 3
NUMBERS = [str(2**60 + row) for row in range(24)]
TABLE = Columns.of(("age", "ward", "number"), tuple(map(np.array, (AGES, WARDS, NUMBERS))), 24)
LABELS = as_table(Columns.of(("class",), (np.array(["ill", "well"] * 12),), 24), []).columns[0]


def released(method: LocalMethod) -> Columns:
    table, _ = method.fit_resample(as_table(TABLE, ["age", "number"]), LABELS)
    return texts_of(method, TABLE, table)


def test_columns_left_alone_are_written_as_they_were() -> None:
    texts = released(Microaggregation(k=24, confidential=["number"]))
    assert texts.texts("age").tolist() == AGES
    assert texts.texts("ward").tolist() == WARDS
    assert set(texts.texts("number").tolist()) == {repr(float(2**60))}


@pytest.mark.parametrize(
    "method", [Condensation(k=4, random_state=0), Microaggregation(k=3, confidential=["age"]), SVD(rank=1)]
)
def test_in_columns_that_were_worked_on_equal_cells_are_written_alike(method: LocalMethod) -> None:
    texts = released(method)
    for name in set(TABLE.names) - set(method.kept_columns_):
        cells = texts.texts(name)
        assert set(cells[missing(cells)].tolist()) <= {"?"}
        numbers = [cell for cell in cells.tolist() if cell.replace(".", "").isdigit()]
        assert [repr(float(cell)).removesuffix(".0") for cell in numbers] == numbers


def test_what_is_not_suppressed_is_written_as_it_was_and_what_is_looks_like_a_gap() -> None:
    texts = released(method := SAP(p=0.5, random_state=0))
    assert method.suppressed_cells_ > 0
    for name in TABLE.names:
        cells, before = texts.texts(name), TABLE.texts(name)
        present = ~missing(cells)
        assert cells[present].tolist() == before[present].tolist()
        assert set(cells[~present].tolist()) == {"?"}


def test_filled_cells_are_numbers_among_cells_as_they_were() -> None:
    texts = released(Microaggregation(k=3, confidential=["number"], missing="fill")).texts("age")
    before = TABLE.texts("age")
    assert texts[~missing(before)].tolist() == before[~missing(before)].tolist()
    assert not missing(texts).any()


def test_an_empty_column_stays_as_empty_as_it_was() -> None:
    table = Columns.of(("age", "nothing"), (np.array(["1", "2", "3"]), np.array(["", "?", ""])), 3)
    method = Microaggregation(k=3)
    texts = texts_of(method, table, method.fit_resample(as_table(table, ["age"]))[0])
    assert texts.texts("nothing").tolist() == ["", "?", ""]


def test_without_an_original_all_is_written_alike() -> None:
    texts = as_texts(as_table(TABLE, ["age", "number"]))
    assert texts.texts("age").tolist()[:5] == ["7", "7", "?", "7", "?"]
    assert set(texts.texts("ward").tolist()) == {"a", "b", "?"}
