"""Data files change by whole records, and say the same as any other JSON of the same content."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mixbayes.research.records import LONGEST, one_a_line

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | st.text(max_size=20)
documents = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=60,
)


@given(documents)
def test_what_is_written_is_read_back(document: Any) -> None:
    assert json.loads(one_a_line(document)) == document


def test_a_changed_record_is_a_changed_line() -> None:
    def written(third: int) -> list[str]:
        records = [{"name": "north", "rows": 1}, {"name": "south", "rows": third}]
        return one_a_line({"seed": 0, "hospitals": records, "none": []}).splitlines()

    assert written(2) == [
        "{",
        ' "seed": 0,',
        ' "hospitals": [',
        '  {"name": "north", "rows": 1},',
        '  {"name": "south", "rows": 2}',
        " ],",
        ' "none": []',
        "}",
    ]
    assert sum(one != other for one, other in zip(written(2), written(3), strict=True)) == 1


def test_a_record_that_is_too_long_is_opened() -> None:
    lines = one_a_line([{"short": 1}, {"long": {"one": "x" * LONGEST, "other": 2}, "after": 3}]).splitlines()
    assert [line[:12] for line in lines] == [
        "[",
        ' {"short": 1',
        " {",
        '  "long": {',
        '   "one": "x',
        '   "other": ',
        "  },",
        '  "after": 3',
        " }",
        "]",
    ]
