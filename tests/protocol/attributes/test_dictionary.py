import copy
import hashlib
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.protocol.attributes.formulas import no_formula
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.errors import BadDictionary, DictionaryTooLarge

HEART: dict[str, Any] = {
    "class_column": "class",
    "classes": ["absent", "present"],
    "attributes": [
        {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
        {"name": "age", "kind": "numeric", "low": 29, "high": 77.0},
        {"name": "chol", "kind": "binned", "low": 0.0, "high": 603.5, "cuts": [197.25, 300.0]},
    ],
    "smoothing": "1/2",
    "max_rows": 4096,
}
CANONICAL = (
    '{"attributes":[{"kind":"nominal","name":"sex","values":["f","m"]},'
    '{"high":77.0,"kind":"numeric","low":29.0,"name":"age"},'
    '{"cuts":[197.25,300.0],"high":603.5,"kind":"binned","low":0.0,"name":"chol"}],'
    '"class_column":"class","classes":["absent","present"],"max_rows":4096,"smoothing":"1/2"}'
)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = texts.filter(lambda text: text not in ("", "?"))
codes = values.filter(lambda text: ";" not in text and text == text.strip() and text != "none")
numbers = st.floats(-1e300, 1e300)


def changed(*path: str | int, to: object) -> dict[str, Any]:
    data = copy.deepcopy(HEART)
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return data


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Nominal | Gaussian | Binned | Several:
    low, *cuts, high = sorted(draw(st.lists(numbers, min_size=2, unique=True)))
    return draw(
        st.sampled_from(
            [
                Nominal(name=name, values=tuple(draw(st.lists(values, min_size=1, unique=True)))),
                Gaussian(name=name, low=low, high=high),
                Binned(name=name, low=low, high=high, cuts=tuple(cuts)),
                Several(name=name, values=tuple(draw(st.lists(codes, min_size=1, unique=True)))),
            ]
        )
    )


def is_no_formula(name: str) -> bool:
    try:
        return bool(no_formula(name))
    except ValueError:
        return False


@st.composite
def dictionaries(draw: st.DrawFn) -> Dictionary:
    class_column, *names = draw(st.lists(texts, min_size=2, max_size=5, unique=True))
    return Dictionary(
        class_column=class_column,
        classes=tuple(draw(st.lists(values.filter(is_no_formula), min_size=2, max_size=64, unique=True))),
        attributes=tuple(draw(attributes(name)) for name in names),
        smoothing=draw(st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)),
        max_rows=draw(st.integers(1, 2**40)),
    )


def test_canonical_text_and_digest_are_these_bytes() -> None:
    dictionary = dictionary_from(HEART)
    assert dictionary.canonical() == CANONICAL
    assert dictionary.digest() == hashlib.sha256(CANONICAL.encode()).hexdigest()


def test_canonical_text_of_a_list_has_all_of_its_fields() -> None:
    given_as = {"name": "diagnoses", "kind": "several", "values": ["I10", "E11"]}
    fields = '{"kind":"several","most":20,"name":"diagnoses","none":"none","separator":";","values":["I10","E11"]}'
    assert f'"attributes":[{fields},' in dictionary_from(changed("attributes", 0, to=given_as)).canonical()


@given(dictionaries())
def test_json_brings_back_the_same_dictionary(dictionary: Dictionary) -> None:
    again = dictionary_from(json.loads(dictionary.canonical()))
    assert again == dictionary
    assert again.digest() == dictionary.digest()


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("class_column",), "outcome"),
        (("classes",), ["present", "absent"]),
        (("attributes", 0, "values"), ["m", "f"]),
        (("attributes", 1, "low"), 28.0),
        (("attributes", 2, "cuts"), [197.25]),
        (("smoothing",), "1"),
        (("max_rows",), 4097),
    ],
)
def test_every_change_changes_the_digest(path: tuple[str | int, ...], to: object) -> None:
    assert dictionary_from(changed(*path, to=to)).digest() != dictionary_from(HEART).digest()


def test_negative_zero_is_zero() -> None:
    other = dictionary_from(changed("attributes", 2, "low", to=-0.0))
    assert other.digest() == dictionary_from(HEART).digest()


def test_defaults() -> None:
    dictionary = dictionary_from({key: HEART[key] for key in ("class_column", "classes", "attributes")})
    assert (dictionary.smoothing, dictionary.max_rows) == (1, 2**20)


def test_sizes_and_names() -> None:
    sex, _, chol = dictionary_from(HEART).attributes
    assert isinstance(sex, Nominal)
    assert isinstance(chol, Binned)
    assert (sex.size, chol.size) == (2, 3)
    assert dictionary_from(HEART).names == ("sex", "age", "chol")


@pytest.mark.parametrize(
    ("given_as", "means"),
    [
        ("1", "1"),
        ("1/2", "1/2"),
        ("0.5", "1/2"),
        ("2/4", "1/2"),
        (2, "2"),
        (0.1, "1/10"),
        (Fraction(1, 3), "1/3"),
        ("1048576", "1048576"),
        ("1/1048576", "1/1048576"),
    ],
)
def test_smoothing_is_read_exactly_and_written_as_text(given_as: object, means: str) -> None:
    dictionary = dictionary_from(changed("smoothing", to=given_as))
    assert dictionary.smoothing == Fraction(means)
    assert dictionary.model_dump(mode="json")["smoothing"] == means


@pytest.mark.parametrize(
    "wrong",
    ["0", "-1", "", "1/0", "nan", "1e9", "1e999999999", "1/2/3", " 1", True, None, "1048577", "1/1048577"],
)
def test_smoothing_refuses(wrong: object) -> None:
    with pytest.raises(BadDictionary, match="smoothing"):
        dictionary_from(changed("smoothing", to=wrong))


@pytest.mark.parametrize(
    ("path", "to", "words"),
    [
        (("classes",), ["one"], "classes"),
        (("classes",), ["one", "one"], "listed twice: 'one'"),
        (("classes",), ["one", "?"], "missing cell"),
        (("classes",), [0, 1], "classes.0"),
        (("attributes",), [], "attributes"),
        (("attributes", 0, "name"), "age", "listed twice: 'age'"),
        (("attributes", 0, "name"), "class", "listed twice: 'class'"),
        (("attributes", 0, "name"), "a\0", "NUL"),
        (("attributes", 0, "values"), [], "attributes.0.nominal.values"),
        (("attributes", 0, "values"), ["f", "m", "f"], "listed twice: 'f'"),
        (("attributes", 0, "values"), ["f", ""], "missing cell"),
        (("attributes", 0, "kind"), "ordinal", "attributes.0"),
        (("attributes", 0, "low"), 1.0, "attributes.0.nominal.low"),
        (("attributes", 1, "high"), 29.0, "low 29.0 must lie below high 29.0"),
        (("attributes", 1, "high"), float("inf"), "attributes.1.numeric.high"),
        (("attributes", 1, "low"), float("nan"), "attributes.1.numeric.low"),
        (("attributes", 1, "low"), "29", "attributes.1.numeric.low"),
        (
            ("attributes", 1),
            {"name": "x", "kind": "numeric", "low": -1e308, "high": 1e308},
            "finite distance",
        ),
        (("attributes", 2, "cuts"), [300.0, 197.25], "rise strictly"),
        (("attributes", 2, "cuts"), [300.0, 300.0], "rise strictly"),
        (("attributes", 2, "cuts"), [604.0], "enclose"),
        (("attributes", 2, "high"), -1.0, "enclose"),
        (("max_rows",), 0, "max_rows"),
        (("max_rows",), 2**40 + 1, "max_rows"),
        (("max_rows",), 1.0, "max_rows"),
        (("comment",), "hello", "comment"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[str | int, ...], to: object, words: str) -> None:
    with pytest.raises(BadDictionary) as caught:
        dictionary_from(changed(*path, to=to))
    assert words in str(caught.value)


def test_all_that_is_wrong_is_named_at_once() -> None:
    data = changed("max_rows", to=0)
    data["classes"] = ["one"]
    with pytest.raises(BadDictionary, match=r"(?s)classes.*max_rows"):
        dictionary_from(data)


@pytest.mark.parametrize("name", ["-1", "+1", "+", "-", "-ve", "+ve", "-1.5e3", "a=b", "<=50K", "x(1)"])
def test_classes_that_look_like_the_beginning_of_a_formula_are_names(name: str) -> None:
    assert dictionary_from(changed("classes", to=["0", name])).classes == ("0", name)


@pytest.mark.parametrize(
    "name",
    ["=1", "=cmd|' /C calc'!A0", "@SUM(1)", "+cmd|' /C calc'!A0", "-HYPERLINK(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"],
)
def test_classes_that_a_spreadsheet_would_run_are_refused(name: str) -> None:
    with pytest.raises(BadDictionary, match=r"classes.*would be a formula in a spreadsheet"):
        dictionary_from(changed("classes", to=["0", name]))


def test_64_classes_are_the_most() -> None:
    assert len(dictionary_from(changed("classes", to=[str(i) for i in range(64)])).classes) == 64
    with pytest.raises(DictionaryTooLarge, match="65 classes"):
        dictionary_from(changed("classes", to=[str(i) for i in range(65)]))


def test_column_that_never_changes_can_be_binned() -> None:
    assert Binned(name="x", low=3.0, high=3.0, cuts=()).size == 1
    assert Binned(name="x", low=3.0, high=3.0, cuts=(3.0,)).size == 2


def test_dictionary_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        dictionary_from(HEART).max_rows = 1  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
