"""What a form says of a patient, and what is understood of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.pages.patient import BEYOND, CONFIRMED, NOT_A_NUMBER, UNKNOWN, field_of, read_patient
from mixbayes.protocol.attributes.dictionary import dictionary_from
from mixbayes.tables.encoding import encode_query
from tests.pages.ward import DICTIONARY

HEART = dictionary_from(DICTIONARY)
AGE, SEX, PAIN, PRESSURE, OTHERS = map(field_of, range(5))


def test_an_empty_form_says_nothing() -> None:
    found = read_patient(HEART, {})
    assert found.empty
    assert not found.problems
    assert list(found.cells) == list(HEART.names)


def test_what_is_left_out_is_missing() -> None:
    found = read_patient(HEART, {AGE: [" 61 "], PAIN: ["4"], OTHERS: ["E11", "E78"], SEX: [""]})
    assert found.cells == {"age": "61.0", "sex": "", "cp": "4", "trestbps": "", "dx": "E11;E78"}
    codes = encode_query(HEART, found.columns()).codes
    assert codes.shape[1] == 1


@pytest.mark.parametrize("text", ["61.5", "61,5", " 61.5", "6.15e1"])
def test_numbers_have_a_point_or_a_comma(text: str) -> None:
    assert read_patient(HEART, {AGE: [text]}).cells["age"] == "61.5"


@pytest.mark.parametrize("text", ["sixty", "61 years", "1.2.3", "nan", "inf", "1,000.5", "０x1"])
def test_what_is_no_number_is_said(text: str) -> None:
    found = read_patient(HEART, {AGE: [text]})
    assert found.problems == {"age": NOT_A_NUMBER}


@pytest.mark.parametrize("text", ["17.9", "100.1", "-5", "1e300"])
def test_numbers_out_of_range_are_asked_about_and_may_be_confirmed(text: str) -> None:
    assert read_patient(HEART, {AGE: [text]}).problems == {"age": BEYOND}
    confirmed = read_patient(HEART, {AGE: [text], CONFIRMED: ["yes"]})
    assert not confirmed.problems
    assert float(confirmed.cells["age"]) == float(text)


def test_confirming_is_for_numbers_out_of_range_alone() -> None:
    found = read_patient(HEART, {AGE: ["old"], SEX: ["x"], CONFIRMED: ["yes"]})
    assert found.problems == {"age": NOT_A_NUMBER, "sex": UNKNOWN}


@pytest.mark.parametrize("answers", [{SEX: ["2"]}, {PAIN: ["no pain"]}, {OTHERS: ["E11", "J45"]}])
def test_values_that_nobody_agreed_on_are_said(answers: dict[str, list[str]]) -> None:
    assert list(read_patient(HEART, answers).problems.values()) == [UNKNOWN]


def test_none_of_a_list_is_not_the_same_as_nothing_known() -> None:
    none, silent = read_patient(HEART, {OTHERS: ["none"]}), read_patient(HEART, {})
    assert none.cells["dx"] == "none"
    assert not none.problems
    assert not none.empty
    assert (encode_query(HEART, none.columns()).codes != encode_query(HEART, silent.columns()).codes).any()


@given(st.dictionaries(st.sampled_from([AGE, SEX, PAIN, PRESSURE, OTHERS, "a9", "x"]), st.lists(st.text(), max_size=3)))
def test_whatever_a_form_says_is_read_or_named(answers: dict[str, list[str]]) -> None:
    found = read_patient(HEART, answers)
    assert set(found.problems) <= set(HEART.names)
    if not found.problems:
        encode_query(HEART, found.columns())


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_number_survives_the_form(number: float) -> None:
    found = read_patient(HEART, {PRESSURE: [repr(number)], CONFIRMED: ["yes"]})
    assert math.isclose(float(found.cells["trestbps"]), number)
