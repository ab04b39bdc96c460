"""Tables in memory, one below the other."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns, rows_that, stacked


def table(source: str, **cells: str) -> Columns:
    columns = tuple(np.array(texts.split()) for texts in cells.values())
    return Columns.of(tuple(cells), columns, len(columns[0]), source)


def test_rows_are_stacked_by_the_names_of_their_columns() -> None:
    both = stacked([table("north.csv", id="1 2", ill="no yes"), table("south.csv", ill="no", id="123456")])
    assert both.names == ("id", "ill")
    assert both.texts("id").tolist() == ["1", "2", "123456"]
    assert both.texts("ill").tolist() == ["no", "yes", "no"]
    assert (both.rows, both.source) == (3, "north.csv, south.csv")


def test_rows_are_counted_below_the_header_from_one() -> None:
    assert f"{rows_that(np.array([False, True]))} none" == "row 2 below the header has none"
    assert f"{rows_that(np.array([False, True, True]))} none" == "2 rows (first row 2) have none"


def test_a_file_that_gave_two_of_the_tables_is_named_once() -> None:
    assert stacked([table("one.csv", id="1"), table("one.csv", id="2"), table("", id="3")]).source == "one.csv"


def test_other_columns_are_refused_by_the_name_of_the_file() -> None:
    with pytest.raises(BadData, match=r"^south.csv has other columns than north.csv\. Give all the same header\.$"):
        stacked([table("north.csv", id="1"), table("south.csv", sick="1")])
    with pytest.raises(BadData, match=r"^A table has other columns than the first one\."):
        stacked([table("", id="1"), table("", id="1", sick="1")])
