import csv
import math
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import BadData, BadDictionary, DictionaryTooLarge, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer

REAL = [
    ["adult.csv", "adult_test.csv"],
    ["breast_cancer_ljubljana.csv"],
    ["credit_approval.csv"],
    ["german_credit.csv"],
    ["heart4/cleveland.csv", "heart4/hungarian.csv", "heart4/switzerland.csv", "heart4/va.csv"],
    ["heart4/switzerland.csv"],
    ["ionosphere.csv"],
    ["iris.csv"],
    ["pima.csv"],
    ["vote.csv"],
    ["wages_cps85.csv"],
    ["waveform.csv"],
    ["wine.csv"],
]

cells = st.sampled_from(["", "?", "1", "1.0", "2", "-3", "10", "9", "1e1", "a", "B", " 1", "nan", "inf", "0x1", "1_0"])


def table(header: str, *rows: str) -> Columns:
    columns = zip(*(row.split(",") for row in rows), strict=True) if rows else [[] for _ in header.split(",")]
    return Columns.of(tuple(header.split(",")), tuple(np.array(column, np.str_) for column in columns), len(rows))


def counting(column: Callable[[int], str], rows: int = 30) -> Columns:
    """A table of one attribute x and a class."""
    return table("x,class", *(f"{column(i)},{i % 2}" for i in range(rows)))


def read(path: Path) -> Columns:
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return Columns.of(tuple(header), tuple(np.array(c) for c in zip(*rows, strict=True)), len(rows))


def number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def ordered(texts: Collection[str]) -> tuple[str, ...]:
    if all(number(text) is not None for text in texts):
        return tuple(sorted(texts, key=lambda text: (float(text), text)))
    return tuple(sorted(texts))


def expected(name: str, tables: Sequence[Columns], bins: int | None) -> Nominal | Gaussian | Binned | None:
    """An attribute as the interface describes it, cell by cell."""
    present = [c for t in tables for c in t.texts(name).tolist() if c not in ("", "?")]
    read_as = [number(cell) for cell in present]
    values = [value for value in read_as if value is not None]
    if not present:
        return None
    if len(values) < len(present) or len(set(values)) <= 20:
        return Nominal(name=name, values=ordered(set(present)))
    if bins is None:
        return Gaussian(name=name, low=min(values), high=max(values))
    cuts = {float(np.quantile(values, i / bins)) for i in range(1, bins)}
    return Binned(name=name, low=min(values), high=max(values), cuts=tuple(sorted(cuts)))


@pytest.mark.real_tables
@pytest.mark.parametrize("bins", [None, 6])
@pytest.mark.parametrize("files", REAL, ids=" ".join)
def test_real_tables_as_the_interface_describes(files: list[str], bins: int | None) -> None:
    tables = [read(Path(os.environ["MIXBAYES_DATA"], file)) for file in files]
    dictionary = infer(tables, bins=bins)
    names = tables[0].names
    class_column = "class" if "class" in names else names[-1]
    attributes = [expected(name, tables, bins) for name in names if name != class_column]
    assert dictionary.class_column == class_column
    assert dictionary.classes == ordered({c for t in tables for c in t.texts(class_column).tolist()})
    assert list(dictionary.attributes) == [attribute for attribute in attributes if attribute]


@pytest.mark.real_tables
def test_a_measurement_as_the_class_is_refused() -> None:
    with pytest.raises(DictionaryTooLarge, match="Is it the right class column"):
        infer([read(Path(os.environ["MIXBAYES_DATA"], "boston_housing.csv"))])


@given(st.lists(cells, min_size=1), st.lists(cells, min_size=1))
def test_small_columns_are_nominal_in_order(one: list[str], two: list[str]) -> None:
    tables = [
        table("a,x,class", *(f"a,{cell},{i % 2}" for i, cell in enumerate(column)), "a,,0", "a,,1")
        for column in (one, two)
    ]
    attribute = expected("x", tables, None)
    assert infer(tables).attributes[1:] == ((attribute,) if attribute else ())


finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(
    st.one_of(st.lists(finite, min_size=2), st.lists(finite, min_size=21, max_size=40, unique=True)),
    st.one_of(st.none(), st.integers(1, 8)),
)
def test_columns_of_numbers(values: list[float], bins: int | None) -> None:
    tables = [counting(lambda i: repr(values[i]), len(values)), table("x,class", "?,0", ",1")]
    assert infer(tables, bins=bins).attributes == (expected("x", tables, bins),)


def test_more_than_20_different_numbers_over_all_tables_are_numeric() -> None:
    tables = [counting(lambda i: str(i % 11)), counting(lambda i: str(10 + i % 10))]
    assert infer(tables).attributes == (Nominal(name="x", values=tuple(map(str, range(20)))),)
    tables[1] = counting(lambda i: str(10 + i % 11))
    assert infer(tables).attributes == (Gaussian(name="x", low=0.0, high=20.0),)


def test_different_texts_of_one_number_count_once_and_stay_two_values() -> None:
    tables = [counting(lambda i: f"{i % 15}"), counting(lambda i: f"{i % 15}.0")]
    (x,) = infer(tables).attributes
    assert isinstance(x, Nominal)
    assert x.values[:4] == ("0", "0.0", "1", "1.0")


@pytest.mark.parametrize("word", ["nan", "inf", "-Infinity", "1e999", "n/a"])
def test_one_word_makes_a_column_nominal(word: str) -> None:
    assert infer([counting(lambda i: str(i) if i else word)]).attributes[0].kind == "nominal"


def test_named_nominal_or_numeric() -> None:
    many, few = counting(str), counting(lambda i: str(i % 3))
    assert infer([many], nominal=["x"]).attributes[0].kind == "nominal"
    assert infer([few], numeric=["x"]).attributes == (Gaussian(name="x", low=0.0, high=2.0),)
    assert infer([few], numeric=["x"], bins=2).attributes == (Binned(name="x", low=0.0, high=2.0, cuts=(1.0,)),)


@pytest.mark.parametrize(("value", "bounds"), [("0", (-0.5, 0.5)), ("8", (4.0, 12.0)), ("-8", (-12.0, -4.0))])
def test_numeric_column_that_never_changes_gets_a_width(value: str, bounds: tuple[float, float]) -> None:
    (x,) = infer([counting(lambda _: value)], numeric=["x"]).attributes
    assert isinstance(x, Gaussian)
    assert (x.low, x.high) == bounds


def test_binned_column_that_never_changes_keeps_its_one_cut() -> None:
    (x,) = infer([counting(lambda _: "3")], numeric=["x"], bins=4).attributes
    assert x == Binned(name="x", low=3.0, high=3.0, cuts=(3.0,))


def test_column_that_says_nothing_is_left_out() -> None:
    assert infer([table("a,b,class", "?,1,x", ",2,y")], numeric=["a"]).names == ("b",)


@pytest.mark.parametrize(
    ("header", "given_as", "chosen"),
    [("a,class,b", None, "class"), ("a,b,c", None, "c"), ("a,class,b", "b", "b"), ("a,class,b", "a", "a")],
)
def test_class_column(header: str, given_as: str | None, chosen: str) -> None:
    dictionary = infer([table(header, "1,2,3", "4,5,6")], class_column=given_as)
    assert dictionary.class_column == chosen
    assert dictionary.names == tuple(name for name in header.split(",") if name != chosen)


def test_classes_in_order_of_numbers_or_texts() -> None:
    assert infer([table("a,class", "1,10", "1,9")]).classes == ("9", "10")
    assert infer([table("a,class", "1,10", "1,9", "1,x")]).classes == ("10", "9", "x")


def test_tables_may_order_their_columns_differently() -> None:
    one, other = table("a,b,class", "1,x,0", "2,y,1"), table("class,b,a", "0,z,3")
    assert infer([one, other]).attributes == infer([table("a,b,class", "1,x,0", "2,y,1", "3,z,0")]).attributes


def test_agreed_numbers() -> None:
    small = table("a,class", "1,0", "1,1")
    assert infer([small]).max_rows == 2**20
    assert infer([small], max_rows=2).max_rows == 2
    assert str(infer([small], smoothing="0.5").smoothing) == "1/2"
    assert infer([small.take(np.resize([0, 1], 2**20))]).max_rows == 2**20
    assert infer([small.take(np.resize([0, 1], 2**20 + 1))]).max_rows == 2**21


REFUSALS: list[tuple[Callable[[], Dictionary], type[Exception], str]] = [
    (lambda: infer([]), BadData, "no training table"),
    (lambda: infer([table("a,class")]), BadData, "no rows"),
    (
        lambda: infer([table("a,b,class", "1,1,1"), table("a,c,class", "1,1,1")]),
        BadData,
        "'b'; only in table 2: 'c'",
    ),
    (lambda: infer([table("a,class", "1,1"), table("class", "1")]), BadData, "'a'; only in table 2: none"),
    (lambda: infer([table("class", "1"), table("a,class", "1,1")]), BadData, "none; only in table 2: 'a'"),
    (lambda: infer([table("a,class", "1,1")], class_column="x"), BadData, "no class column 'x'"),
    (
        lambda: infer([table("a,class", "1,x", "1,?", "1,")]),
        BadData,
        "row without a class is refused: 2 rows (first row 2) have none in column 'class'",
    ),
    (lambda: infer([table("a,b,", "1,x,", "2,y,")]), BadData, "no name: the header ends with a comma. Remove"),
    (lambda: infer([table("a,class", "1,x", "1,y")], nominal=["b"]), BadData, "no attribute 'b'"),
    (lambda: infer([table("a,class", "1,x", "1,y")], numeric=["class"]), BadData, "no attribute 'class'"),
    (lambda: infer([table("a,class", "1,x", "z,y")], numeric=["a"]), BadData, "no number: 'z'"),
    (
        lambda: infer([table("a,b,class", "1,1,x", "2,2,y")], nominal=["b", "a"], numeric=["a", "b"]),
        Unsupported,
        "both nominal and numeric: 'a', 'b'. Say one.",
    ),
    (lambda: infer([table("a,class", "1,x", "1,y")], max_rows=1), BadData, "2 rows, the agreed maximum is 1"),
    (lambda: infer([table("a,class", "?,x", "?,y")]), BadData, "No table has an attribute"),
    (lambda: infer([table("class", "x", "y")]), BadData, "No table has an attribute"),
    (lambda: infer([table("a,class", "1,x", "1,x")]), BadData, "two classes"),
    (lambda: infer([table("a,class", "1,x", "1,y")], smoothing="0"), BadDictionary, "positive"),
    (lambda: infer([table("a,class", "1,x", "1,y")], bins=0), Unsupported, "1 to 1000"),
    (
        lambda: infer([counting(str, 65 * 2)], class_column="x", nominal=["class"]),
        DictionaryTooLarge,
        "130 classes",
    ),
]


@pytest.mark.parametrize(("refused", "kind", "words"), REFUSALS, ids=[words for _, _, words in REFUSALS])
def test_refuses(refused: Callable[[], Dictionary], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        refused()
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_column_that_names_every_patient_is_refused_by_name() -> None:
    rows = 2**19
    patients = Columns.of(("patient", "class"), (np.arange(rows).astype("U7"), np.resize(["a", "b"], rows)), rows)
    with pytest.raises(DictionaryTooLarge, match="'patient'"):
        infer([patients], nominal=["patient"])
