"""What applications send to a hospital's node."""

from __future__ import annotations

import pytest

from mixbayes.parties import applications
from mixbayes.parties.applications import table_of
from mixbayes.protocol.errors import BadData
from mixbayes.wire.v1.node_pb2 import Column


def test_rows_as_they_were_sent() -> None:
    table = table_of(
        [Column(name="sex", cells=["f", ""]), Column(name="tumour", cells=["none", "l\N{LATIN SMALL LETTER AE}"])]
    )
    assert table.names == ("sex", "tumour")
    assert [table.texts(name).tolist() for name in table.names] == [["f", ""], ["none", "l\N{LATIN SMALL LETTER AE}"]]
    assert table_of([]).rows == 0


def test_one_long_cell_among_many_takes_no_memory_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2 MB that a message may have, numpy would make gigabytes."""
    monkeypatch.setattr(applications, "_MOST_CHARACTERS", 100)
    assert table_of([Column(name="note", cells=["x" * 20] + [""] * 4)]).rows == 5
    with pytest.raises(BadData, match="Column 'note' has a cell of 21 characters among 5 rows"):
        table_of([Column(name="note", cells=["x" * 21] + [""] * 4)])


def test_many_columns_take_no_more_together_whatever_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applications, "_MOST_CHARACTERS", 100)
    with pytest.raises(BadData, match="Column 'note' has a cell of 11 characters among 5 rows"):
        table_of([Column(name="note", cells=["x" * 11] + [""] * 4)] * 2)
