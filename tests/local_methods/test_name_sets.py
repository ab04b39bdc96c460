"""Lists of names, and lists of such lists, out of texts and as parameters."""

from __future__ import annotations

import pytest

from mixbayes.local_methods import BadParameter
from mixbayes.local_methods.name_set_check import ListsOfNames
from mixbayes.local_methods.name_sets import name_sets
from mixbayes.local_methods.registry import configured


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("age, sex", [["age", "sex"]]),
        ("age,sex/zip,occupation", [["age", "sex"], ["zip", "occupation"]]),
        ("mg//dl,age/zip", [["mg/dl", "age"], ["zip"]]),
    ],
)
def test_a_slash_divides_what_outsiders_know(text: str, sets: list[list[str]]) -> None:
    known = configured("dmpd", {"quasi_identifiers": text}).get_params()["quasi_identifiers"]
    assert name_sets(known) == sets


def test_nothing_said_is_none() -> None:
    assert configured("dmpd", {"quasi_identifiers": "none"}).get_params()["quasi_identifiers"] == ["none"]
    assert name_sets([]) == [[]]


@pytest.mark.parametrize("value", [3, "age", [1, 2], [["age"], "sex"], {"age"}])
def test_what_is_no_list_of_names_is_refused(value: object) -> None:
    assert not ListsOfNames().is_satisfied_by(value)


def test_the_refusal_says_what_is_wanted() -> None:
    with pytest.raises(BadParameter, match="l of dmpd must be"):
        configured("dmpd", {"l": "zero"})
