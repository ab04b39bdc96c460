from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.cells import in_order, numbers, positions
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.bayes.counts import Codes
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import TableMismatch, encode_query
from mixbayes.tables.tallying import Counted

SEX = Nominal(name="sex", values=("m", "f"))
AGE = Gaussian(name="age", low=0.0, high=2.0**25)
CHOL = Binned(name="chol", low=0.0, high=100.0, cuts=(10.0, 20.0))

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
number_texts = st.one_of(
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from([" 1 ", "1_0", "٣", "1e5", ".5", "5.", "+1", "1__0"]),
)


CORRECT = "Correct the spelling, leave missing cells empty, or agree on the value"


def dictionary_of(*attributes: Attribute, max_rows: int = 2**20) -> Dictionary:
    return Dictionary(class_column="class", classes=("no", "yes"), attributes=attributes, max_rows=max_rows)


def table(**columns: list[str]) -> Columns:
    cells = tuple(np.array(column, np.str_) for column in columns.values())
    return Columns.of(tuple(columns), cells, len(cells[0]))


def trained(dictionary: Dictionary, patients: Columns) -> Counted:
    return counted(Layout(dictionary), patients)


def slow_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    return value if abs(value) < float("inf") else float("nan")


@given(st.lists(st.one_of(number_texts, texts, st.sampled_from(["", "?", "nan", "inf", "1e999"]))))
def test_numbers_are_what_python_reads(cells: list[str]) -> None:
    expected = [float("nan") if cell in ("", "?") else slow_number(cell) for cell in cells]
    np.testing.assert_array_equal(numbers(np.array(cells, np.str_)), expected)


@given(st.lists(texts), st.lists(texts, min_size=1, unique=True))
def test_positions_are_those_in_the_list(cells: list[str], values: list[str]) -> None:
    cells += values
    expected = [values.index(cell) if cell in values else len(values) for cell in cells]
    assert positions(np.array(cells, np.str_), values).tolist() == expected


@given(st.sets(number_texts.filter(lambda text: slow_number(text) == slow_number(text)), min_size=1))
def test_numbers_are_ordered_as_numbers(distinct: set[str]) -> None:
    expected = sorted(distinct, key=lambda text: (float(text), text))
    assert in_order(np.array(list(distinct))).tolist() == expected


def test_codes() -> None:
    codes = encode_query(
        dictionary_of(SEX, AGE, CHOL),
        table(
            chol=["9.99", "10", "20", "1e2", "?", "-0.0"],
            age=["0", "1", "3", "33554432", "", "?"],
            ignored=["x"] * 6,
            sex=["m", "f", "f", "", "?", "m"],
            **{"class": ["yes", "no", "no", "yes", "no", "yes"]},
        ),
    )
    assert codes.codes.dtype == np.int32
    assert codes.codes.tolist() == [
        [0, 1, 1, 2, 2, 0],
        [0, 0, 2, 2**24, ABSENT_CODE, ABSENT_CODE],  # 1/2 and 3/2 go to the even neighbour
        [0, 1, 2, 2, 3, 0],
    ]


def test_values_of_a_list_that_are_not_listed_are_named_without_the_rest_of_the_cell() -> None:
    several = Several(name="diagnoses", values=("I10", "E11"))
    columns = table(diagnoses=["I10;X99", "E11", "B01; I10;X99", "none"], **{"class": ["no", "yes", "no", "yes"]})
    with pytest.raises(TableMismatch) as caught:
        trained(dictionary_of(several), columns)
    assert str(caught.value) == (
        "The table breaks the dictionary:\n"
        "  column 'diagnoses': 'B01', 'X99' not in the list of values. Correct the spelling, agree on the value, or "
        "remove it from the cell; a patient without any listed value has 'none'"
    )
    assert encode_query(dictionary_of(several), columns).codes.T.tolist() == [[0, 2], [1, 2], [0, 2], [2, 2]]


def test_training_values_beyond_the_bounds_are_clipped_and_counted() -> None:
    dictionary = dictionary_of(AGE, CHOL)
    patients = table(age=["-1", "1e9", "5"], chol=["-1", "1000", "101"], **{"class": ["no", "no", "yes"]})
    assert trained(dictionary, patients).clipped == {"age": 2, "chol": 3}
    assert encode_query(dictionary, patients).codes[:, :2].tolist() == [[0, 2**24], [0, 2]]


def test_value_below_a_bound_that_is_a_cut_falls_in_the_empty_bin() -> None:
    at_the_bound = Binned(name="x", low=0.0, high=9.0, cuts=(0.0, 5.0))
    codes = encode_query(dictionary_of(at_the_bound), table(x=["-1", "0", "5", "99"]))
    assert codes.codes.tolist() == [[0, 1, 2, 2]]


@given(st.data())
def test_scaled_numbers_are_the_nearest_integers(data: st.DataObject) -> None:
    numbers = st.floats(-1e12, 1e12)
    low, high = sorted(data.draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    values = data.draw(st.lists(st.one_of(st.floats(low, high), numbers), min_size=1))
    codes = encode_query(dictionary_of(Gaussian(name="x", low=low, high=high)), table(x=list(map(repr, values))))
    for value, code in zip(values, codes.codes[0].tolist(), strict=True):
        inside = Fraction(min(max(value, low), high))
        exact = (inside - Fraction(low)) / (Fraction(high) - Fraction(low)) * 2**24
        assert abs(code - exact) <= Fraction(1, 2) + Fraction(1, 2**20)  # the last for two roundings of a float64
        assert 0 <= code <= 2**24


@given(st.lists(st.floats(-1e6, 1e6), unique=True, max_size=9), st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_bins_hold_from_their_cut_up_to_the_next(cuts: list[float], values: list[float]) -> None:
    cuts.sort()
    binned = Binned(name="x", low=-1e6, high=1e6, cuts=tuple(cuts))
    codes = encode_query(dictionary_of(binned), table(x=[*map(repr, values), *map(repr, cuts), "?"]))
    assert codes.codes[0].tolist() == [bisect_right(cuts, v) for v in [*values, *cuts]] + [len(cuts) + 1]


def test_query_takes_what_it_does_not_know_as_missing() -> None:
    codes = encode_query(
        dictionary_of(SEX, AGE, CHOL),
        table(
            sex=["M", "", "?", "f ", "f"],
            age=["old", "nan", "inf", "", "-7"],
            chol=["high", "NaN", "1e999", "?", "500"],
        ),
    )
    assert codes.codes.tolist() == [[2, 2, 2, 2, 1], [*4 * [ABSENT_CODE], 0], [3, 3, 3, 3, 2]]
    assert codes.labels is None


def test_query_ignores_a_class_column_and_others() -> None:
    rows = {"sex": ["m"], "class": ["never heard of"], "id": ["7"]}
    assert encode_query(dictionary_of(SEX), table(**rows)).codes.tolist() == [[0]]


def test_query_without_an_attribute_is_refused() -> None:
    with pytest.raises(BadData, match=r"(?s)column 'age' is missing.*column 'chol' is missing"):
        encode_query(dictionary_of(SEX, AGE, CHOL), table(sex=["m"]))


def test_as_many_rows_as_all_may_have_are_no_error() -> None:
    full = table(sex=["m", "f", "m"], **{"class": ["no", "yes", "no"]})
    assert trained(dictionary_of(SEX, max_rows=3), full).rows == 3


def test_no_rows_are_no_error() -> None:
    found = trained(dictionary_of(SEX, AGE), table(sex=[], age=[], **{"class": []}))
    assert (found.rows, found.clipped, found.vector.any()) == (0, {}, False)


def test_training_names_every_column_that_is_missing() -> None:
    with pytest.raises(TableMismatch, match=r"(?s)'age' is missing.*'class' is missing"):
        trained(dictionary_of(SEX, AGE), table(sex=["m"]))


def test_training_lists_every_column_and_value_that_breaks_the_dictionary() -> None:
    broken = table(
        sex=["m", "x", "x", "F"],
        age=["1", "old", "nan", "?"],
        chol=["1", "2", "3", "lots"],
        **{"class": ["no", "?", "", "maybe"]},
    )
    with pytest.raises(TableMismatch) as caught:
        trained(dictionary_of(SEX, AGE, CHOL, max_rows=3), broken)
    assert str(caught.value).splitlines()[1:] == [
        "  it has 4 rows, a hospital may have 3. Agree on more",
        "  column 'class': 2 rows (first row 2) have no class. Fill it in, or remove the row",
        f"  column 'class': 'maybe' not among the classes. {CORRECT}",
        f"  column 'sex': 'F', 'x' not in the list of values. {CORRECT}",
        "  column 'age': 'nan', 'old' not a number. Write numbers without units, and leave missing cells empty",
        "  column 'chol': 'lots' not a number. Write numbers without units, and leave missing cells empty",
    ]


@pytest.mark.parametrize(
    ("cell", "remedy"),
    [
        ("1,5", "Write decimal points, not commas"),
        ("-", "Write numbers without units, and leave missing cells empty"),
    ],
)
def test_what_is_no_number_is_told_with_what_to_write_instead(cell: str, remedy: str) -> None:
    with pytest.raises(TableMismatch) as caught:
        trained(dictionary_of(AGE), table(age=["1", cell], **{"class": ["no", "yes"]}))
    assert str(caught.value).endswith(f"  column 'age': {cell!r} not a number. {remedy}")


def test_a_column_that_is_missing_and_a_row_without_a_class_are_told_with_what_to_do() -> None:
    with pytest.raises(TableMismatch, match=r"column 'age' is missing\. Add it$"):
        trained(dictionary_of(AGE), table(**{"class": ["no", "yes"]}))
    with pytest.raises(TableMismatch, match=r"row 2 below the header has no class\. Fill it in, or remove the row$"):
        trained(dictionary_of(AGE), table(age=["1", "2"], **{"class": ["no", ""]}))


def test_training_shows_20_values_of_a_column_and_counts_the_others() -> None:
    wrong = [f"v{i:02}" for i in range(23)]
    with pytest.raises(TableMismatch) as caught:
        trained(dictionary_of(SEX), table(sex=wrong * 2, **{"class": ["no"] * 46}))
    assert "'v19' and 3 more not in the list" in str(caught.value)
    assert "'v20'" not in str(caught.value)
    with pytest.raises(TableMismatch, match="'v19' not in the list"):
        trained(dictionary_of(SEX), table(sex=wrong[:20], **{"class": ["no"] * 20}))


def test_nothing_of_a_patient_shows_in_a_repr() -> None:
    patients = table(sex=["secret"])
    assert "secret" not in repr(patients)
    assert repr(Codes(np.array([[987]], np.int32), np.array([987], np.int32))) == "Codes(rows=1)"


def test_rows_are_taken_by_position_or_mask() -> None:
    some = table(a=["x", "y", "z"], b=["1", "2", "3"])
    for rows in (np.array([0, 2]), np.array([True, False, True])):
        taken = some.take(rows)
        assert (taken.rows, taken.texts("a").tolist(), taken.texts("b").tolist()) == (
            2,
            ["x", "z"],
            ["1", "3"],
        )


def test_table_must_be_one() -> None:
    column = np.array(["x"])
    with pytest.raises(BadData, match="same name: 'a'"):
        Columns.of(("a", "a"), (column, column), 1)
    with pytest.raises(BadData, match="2 columns of 1 rows"):
        Columns.of(("a", "b"), (column, np.array(["x", "y"])), 1)
