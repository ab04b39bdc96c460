"""SAP where a federation uses it: what is suppressed is not counted, and rows without a class are said."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.attributes.cells import missing
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.protecting import protect, read_protection
from tests.tables.whole_release import protected

DICTIONARY = Dictionary(
    class_column="class",
    classes=("ill", "well"),
    attributes=(Nominal(name="colour", values=("blue", "red")), Gaussian(name="age", low=0, high=99)),
)


def patients(rows: int = 40) -> Columns:
    """Half ill and mostly blue, half well and mostly red; every eighth age is missing."""
    at = np.arange(rows)
    well = at % 2 == 1
    colour = np.where(well ^ (at % 10 == 0), "red", "blue")
    age = np.where(at % 8 == 0, "?", (20 + at % 5).astype(str))
    return Columns.of(("colour", "age", "class"), (colour, age, np.where(well, "well", "ill")), rows, "east.csv")


def test_rows_that_lost_their_class_are_dropped_and_counted() -> None:
    done = protected(Layout(DICTIONARY), patients(), read_protection("sap:p=0.2:target=class"), seed=1)
    assert (done.rows, done.unlabelled) == (32, 8)
    assert "the class is suppressed in a share of 0.2 of its rows" in done.guarantee
    assert "promises the people in the table nothing" in done.guarantee


def test_suppressed_attributes_are_missing_cells_of_counted_rows() -> None:
    table = patients()
    done = protect(table, DICTIONARY, read_protection("sap:p=0.5"), seed=1)
    assert done.unlabelled == 0
    assert np.array_equal(done.table.texts("class"), table.texts("class"))
    before, after = table.texts("colour"), done.table.texts("colour")
    gone = missing(after)
    ill = table.texts("class") == "ill"
    blue, red = ill & (before == "blue"), ~ill & (before == "red")
    assert (gone & blue).sum() == np.ceil(blue.sum() / 2)
    assert (gone & red).sum() == np.ceil(red.sum() / 2)
    assert not (gone & ~blue & ~red).any()
    assert np.array_equal(before[~gone], after[~gone])
    assert missing(done.table.texts("age")).sum() > missing(table.texts("age")).sum()
    assert protected(Layout(DICTIONARY), table, read_protection("sap:p=0.5"), seed=1).rows == 40


def test_a_release_without_a_class_is_refused() -> None:
    with pytest.raises(BadData, match="sap:p=1:target=class: it leaves no row a class"):
        protect(patients(), DICTIONARY, read_protection("sap:p=1:target=class"), seed=1)


def test_a_single_class_that_is_left_is_counted() -> None:
    one_of_nine = protect(patients(9), DICTIONARY, read_protection("sap:p=0.79:target=class"), seed=1)
    assert (one_of_nine.table.rows, one_of_nine.unlabelled) == (1, 8)


@pytest.mark.parametrize("text", ["sap:p", "sap:p=0", "sap:p=2", "sap:p=0.1:target=rows", "sap:p=0.1:share=1"])
def test_wrong_settings_are_a_matter_of_usage(text: str) -> None:
    with pytest.raises(Unsupported):
        read_protection(text)


def test_a_release_that_is_not_what_was_promised_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from mixbayes.local_methods.sap import sap

    monkeypatch.setattr(sap, "suppressed", lambda table, hidden: table)
    with pytest.raises(BadData, match="does not keep what it promises"):
        protect(patients(), DICTIONARY, read_protection("sap:p=0.5"), seed=1)
