from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.attributes.several import MOST_VALUES, Several
from mixbayes.protocol.errors import BadData
from mixbayes.tables.code_lists import listed_values


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["I10;E11", "N18", "E11; I10 "], ["E11", "I10", "N18"]),
        (["10;9", "100;none", "9"], ["9", "10", "100"]),
        (["none", "", "?", " ; "], []),
        (["E11;;?;"], ["E11"]),
        ([], []),
    ],
)
def test_values_are_in_the_dictionary_s_order(cells: list[str], values: list[str]) -> None:
    assert listed_values("diagnoses", np.array(cells, np.str_)) == values


def test_separator_and_word_for_nothing_are_those_that_are_given() -> None:
    cells = np.array(["a;b|c", "healthy|none"])
    assert listed_values("x", cells, "|", "healthy") == ["a;b", "c", "none"]


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


@given(st.lists(st.lists(words, min_size=1, max_size=4).map(";".join), min_size=1, max_size=9))
def test_the_cells_fit_the_attribute_of_their_values(cells: list[str]) -> None:
    column = np.array(cells, np.str_)
    values = listed_values("x", column)
    if values:
        reading = Several(name="x", values=tuple(values)).read(column)
        assert not reading.foreign.any()
        assert {*reading.codes.ravel().tolist()} >= {*range(len(values))}


def test_a_thousand_values_are_the_most() -> None:
    cells = np.array([f"{i};{i + 1}" for i in range(0, MOST_VALUES, 2)])
    assert len(listed_values("diagnoses", cells)) == MOST_VALUES
    with pytest.raises(BadData, match=r"'diagnoses' has 1001 different values between ';'; at most 1000.*I10 for I10"):
        listed_values("diagnoses", np.append(cells, "X"))
