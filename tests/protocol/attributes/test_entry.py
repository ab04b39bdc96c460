"""What a form offers for each kind of attribute, and the words for people that an agreement may have."""

from __future__ import annotations

from typing import Any

import pytest

from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.protocol.attributes.entry import Measurement, OneOption, Option, SomeOptions
from mixbayes.protocol.errors import BadDictionary

PLAIN: dict[str, Any] = {
    "class_column": "num",
    "classes": ["0", "1"],
    "attributes": [
        {"name": "cp", "kind": "nominal", "values": ["1", "2"]},
        {"name": "trestbps", "kind": "numeric", "low": 80.0, "high": 220.0},
        {"name": "oldpeak", "kind": "binned", "low": 0.0, "high": 6.0, "cuts": [1.0, 2.0]},
        {"name": "icd", "kind": "several", "values": ["E11", "I10"], "most": 1},
    ],
}
LABELS: list[dict[str, Any]] = [
    {"title": "Chest pain", "meanings": ["typical angina", "atypical angina"]},
    {"title": "Blood pressure at rest", "unit": "mmHg"},
    {"title": "ST depression", "unit": "mm"},
    {"title": "Other diagnoses", "meanings": ["diabetes", "hypertension"]},
]


def labelled(*labels: dict[str, Any]) -> Dictionary:
    attributes = [plain | words for plain, words in zip(PLAIN["attributes"], labels, strict=True)]
    return dictionary_from(PLAIN | {"attributes": attributes})


def test_without_words_for_people_forms_show_names_and_values() -> None:
    pain, pressure, depression, others = dictionary_from(PLAIN).attributes
    assert (pain.heading, pressure.heading) == ("cp", "trestbps")
    assert pain.entry == OneOption((Option("1", "1"), Option("2", "2")))
    assert pressure.entry == Measurement(80.0, 220.0, "")
    assert depression.entry == Measurement(0.0, 6.0, "")
    assert others.entry == SomeOptions((Option("E11", "E11"), Option("I10", "I10")), ";", "none", 1)


def test_with_words_for_people_forms_show_those() -> None:
    pain, pressure, _, others = labelled(*LABELS).attributes
    assert (pain.heading, pressure.heading) == ("Chest pain", "Blood pressure at rest")
    assert pain.entry == OneOption((Option("1", "typical angina"), Option("2", "atypical angina")))
    assert pressure.entry == Measurement(80.0, 220.0, "mmHg")
    assert isinstance(others.entry, SomeOptions)
    assert others.entry.options == (Option("E11", "diabetes"), Option("I10", "hypertension"))


def test_words_for_people_are_agreed_too_and_leave_older_digests_as_they_are() -> None:
    plain = dictionary_from(PLAIN)
    assert "title" not in plain.canonical()
    assert "meanings" not in plain.canonical()
    assert labelled(*LABELS).digest() != plain.digest()
    assert labelled(*[{"title": ""}] * 4).digest() == plain.digest()
    assert labelled({}, {"unit": "mmHg"}, {}, {}).digest() != labelled({}, {"unit": "kPa"}, {}, {}).digest()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"meanings": ["typical angina"]}, "1 meanings for 2 values"),
        ({"title": "Chest\npain"}, "one line"),
        ({"title": "x" * 121}, "one line"),
        ({"unit": "mm"}, "unit"),
    ],
)
def test_words_that_fit_nothing_are_refused(words: dict[str, Any], why: str) -> None:
    with pytest.raises(BadDictionary, match=why):
        labelled(words, {}, {}, {})


def test_classes_have_words_for_people_too() -> None:
    plain, words = dictionary_from(PLAIN), {"class_title": "Heart disease", "class_meanings": ["absent", "present"]}
    found = dictionary_from(PLAIN | words)
    assert [option.meaning for option in found.class_options] == ["absent", "present"]
    assert [option.meaning for option in plain.class_options] == ["0", "1"]
    assert "class_title" not in plain.canonical()
    assert found.digest() != plain.digest()
    with pytest.raises(BadDictionary, match="1 meanings for 2 values"):
        dictionary_from(PLAIN | {"class_meanings": ["absent"]})
