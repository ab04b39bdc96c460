"""Cells with several values, read, counted and scored. Labels equal those of scikit-learn's BernoulliNB."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError
from sklearn.naive_bayes import BernoulliNB

from mixbayes.protocol.arrays import Bits, Values, Words
from mixbayes.protocol.attributes.asking import Asking
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.kind import SUM_BITS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import MOST_VALUES, Several
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.bayes.two_hospitals import run_partner_classification
from mixbayes.protocol.bayes.validity import run_validation
from mixbayes.protocol.circuits.logarithm import ERROR, FRACTION, fixed_log2_of
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.shares import split
from tests.protocol.pairs import SEEDS, seed

VALUES = "I10", "E11", "N18", "J44", "C50"
DIAGNOSES = Several(name="diagnoses", values=VALUES)
MISSING, NOTHING = 6, 5
THREE_SEEDS = seed(1), seed(2), seed(3)


def layout_of(attributes: list[Attribute], classes: int, smoothing: str = "1", max_rows: int = 2**20) -> Layout:
    content = {"class_column": "class", "classes": [f"class {c}" for c in range(classes)], "attributes": attributes}
    return Layout(Dictionary.model_validate({**content, "smoothing": smoothing, "max_rows": max_rows}))


def read(attribute: Several, *cells: str) -> list[list[int]]:
    """The codes of each cell."""
    return attribute.read(np.array(cells, np.str_)).codes.T.tolist()


# The dictionary


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"values": ()}, "at least 1"),
        ({"values": tuple(map(str, range(MOST_VALUES + 1)))}, "at most 1000"),
        ({"values": ("I10", "I10")}, "listed twice: 'I10'"),
        ({"values": ("I10", "?")}, "missing cell"),
        ({"values": ("I10", "none")}, "'none' means no value at all"),
        ({"values": ("I10", "E11;N18")}, "'E11;N18' contains the separator ';'"),
        ({"values": ("I10", " E11")}, "' E11' has a blank at an end"),
        ({"none": "no;code"}, "contains the separator"),
        ({"none": "none "}, "blank at an end"),
        ({"none": ""}, "missing cell"),
        ({"separator": ""}, "one visible character"),
        ({"separator": "||"}, "one visible character"),
        ({"separator": " "}, "one visible character"),
        ({"separator": "x"}, "no letter and no digit"),
        ({"separator": "7"}, "no letter and no digit"),
        ({"most": 0}, "greater than or equal to 1"),
        ({"most": MOST_VALUES + 1}, "less than or equal to 1000"),
        ({"most": 2.0}, "integer"),
    ],
)
def test_what_cannot_be_read_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Several.model_validate({"name": "x", "values": VALUES, **changes})


def test_defaults() -> None:
    assert (DIAGNOSES.separator, DIAGNOSES.most, DIAGNOSES.none) == (";", 20, "none")
    assert (DIAGNOSES.columns, DIAGNOSES.listed, DIAGNOSES.rows, DIAGNOSES.asking.words) == (5, 5, 7, 6)


def test_a_patient_is_no_larger_than_what_counts() -> None:
    """However many values the dictionary lists."""
    assert Several(name="x", values=tuple(map(str, range(MOST_VALUES))), most=3).columns == 3


def test_a_summary_names_some_of_many_values() -> None:
    assert DIAGNOSES.described() == (
        "I10, E11, N18, J44, C50 (between ';'; of a cell at most 5 count; 'none' is none of them)"
    )
    assert THOUSAND.described().startswith("C000, C001, ")
    assert "C019 and 980 more (between ';'; of a cell at most 20 count" in THOUSAND.described()


# Cells


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("I10;N18", [0, 2]),
        ("N18;I10", [0, 2]),
        (" N18 ;\tI10 ", [0, 2]),
        ("I10;;N18;", [0, 2]),
        ("I10;I10; I10", [0]),
        ("C50", [4]),
        ("none", []),
        (" none ", []),
        ("none;I10", [0]),
        ("I10;?", [0]),
        ("", [MISSING] * 5),
        ("?", [MISSING] * 5),
        ("  ", [MISSING] * 5),
        (" ; ;", [MISSING] * 5),
    ],
)
def test_cells_that_fit(cell: str, codes: list[int]) -> None:
    assert read(DIAGNOSES, cell) == [codes + [NOTHING] * (5 - len(codes))]
    assert not DIAGNOSES.read(np.array([cell])).foreign.any()


@pytest.mark.parametrize(
    ("cell", "codes", "shown"),
    [
        ("X99;I10", [0], ["X99"]),
        ("i10;E11,N18", [MISSING] * 5, ["i10", "E11,N18"]),
        ("X99;none", [], ["X99"]),
        ("None", [MISSING] * 5, ["None"]),
    ],
)
def test_values_not_listed_are_named_and_the_rest_counts(cell: str, codes: list[int], shown: list[str]) -> None:
    reading = DIAGNOSES.read(np.array([cell, "I10"]))
    assert reading.foreign.tolist() == [True, False]
    assert reading.codes[:, 0].tolist() == codes + [NOTHING] * (5 - len(codes))
    assert DIAGNOSES.shown(np.array([cell])).tolist() == shown


def test_the_first_in_the_dictionary_s_order_count() -> None:
    two = Several(name="x", values=VALUES, most=2)
    cells = "C50;N18;E11;J44", "C50", "none", ""
    assert read(two, *cells) == [[1, 2], [4, NOTHING], [NOTHING] * 2, [MISSING] * 2]
    assert two.read(np.array(cells)).beyond.tolist() == [True, False, False, False]


def test_another_separator_and_another_word_for_nothing() -> None:
    piped = Several(name="x", values=("a;b", "none"), separator="|", none="healthy")
    assert read(piped, "a;b | none", "healthy") == [[0, 1], [2, 2]]


def test_no_cells() -> None:
    assert DIAGNOSES.read(np.array([], np.str_)).codes.shape == (5, 0)


def slowly(attribute: Several, cell: str) -> tuple[list[int], bool]:
    """The codes of a cell, and whether it is foreign, word by word."""
    words = {word.strip() for word in cell.split(attribute.separator)} - {"", "?"}
    unlisted = words - {*attribute.values, attribute.none}
    present = sorted(attribute.values.index(word) for word in words if word in attribute.values)
    if not words - unlisted:
        return [len(attribute.values) + 1] * attribute.columns, bool(unlisted)
    counted = present[: attribute.columns]
    return counted + [len(attribute.values)] * (attribute.columns - len(counted)), bool(unlisted)


words = st.sampled_from([*VALUES, "none", "X99", "", "?", " ", "I1", "I10,E11"])
blanks = st.sampled_from(["", " ", "\t", "\u00a0"])
cells = st.lists(st.tuples(blanks, words, blanks).map("".join), min_size=1, max_size=9).map(";".join)


@given(st.lists(cells, max_size=30), st.integers(1, 6), st.integers(1, 5))
def test_cells_are_read_as_word_by_word(column: list[str], most: int, many: int) -> None:
    attribute = Several(name="x", values=VALUES[:many], most=most)
    reading = attribute.read(np.array(column, np.str_))
    expected = [slowly(attribute, cell) for cell in column]
    assert reading.codes.dtype == np.int32
    assert reading.codes.T.tolist() == [codes for codes, _ in expected]
    assert reading.foreign.tolist() == [foreign for _, foreign in expected]
    sets = [{*map(str.strip, cell.split(";"))} & {*attribute.values} for cell in column]
    assert reading.beyond.tolist() == [len(present) > most for present in sets]


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    column = np.array(["I10;E11", "", "X99;C50", "none", "N18"] * 3)
    whole = DIAGNOSES.read(column)
    monkeypatch.setattr("mixbayes.protocol.attributes.several._CELLS", 4)
    for one, other in zip(whole, DIAGNOSES.read(column), strict=True):
        np.testing.assert_array_equal(one, other)


# Counts


@given(st.lists(st.tuples(cells, st.integers(0, 2), st.integers(0, 9)), max_size=30), st.integers(1, 6))
def test_counts_are_those_of_sets(rows: list[tuple[str, int, int]], most: int) -> None:
    attribute = Several(name="x", values=VALUES, most=most)
    codes = attribute.read(np.array([cell for cell, _, _ in rows], np.str_)).codes
    labels, times = (np.array([row[i] for row in rows], np.int64) for i in (1, 2))
    block, in_groups = np.zeros((2, attribute.rows, 3), np.uint64)
    attribute.count(block, codes, labels)
    attribute.count(in_groups, codes, labels, times)
    expected = np.zeros((2, attribute.rows, 3), np.uint64)
    for cell, label, many in rows:
        own, _ = slowly(attribute, cell)
        for row in [6] if own[0] == MISSING else [5, *(code for code in own if code < NOTHING)]:
            expected[:, row, label] += np.array([1, many], np.uint64)
    np.testing.assert_array_equal([block, in_groups], expected)


def test_codes_that_do_not_rise_count_once() -> None:
    """Nothing reads such codes in a table, but a hospital can show them."""
    shown = np.array([[3, 3, 2, 3, 5], [2, 4, 2, 4, 5], [6, 1, 2, 0, 5], [0, 6, 1, 5, 5]], np.int32).T
    proper = np.array([[3], [5], [5], [5], [5]])
    assert named_bits(DIAGNOSES.asking, shown).T.tolist() == [
        [1, 0, 0, 0, 1, 0],
        [1, 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
    ]
    block, other = np.zeros((2, 7, 1), np.uint64)
    DIAGNOSES.count(block, shown[:, :1], np.zeros(1, np.int64))
    DIAGNOSES.count(other, proper.astype(np.int32), np.zeros(1, np.int64))
    np.testing.assert_array_equal(block, other)


@given(SEEDS)
def test_scores_are_the_words_of_the_features(number: int) -> None:
    rng = np.random.default_rng(number)
    codes = rng.integers(0, DIAGNOSES.codes, (DIAGNOSES.columns, 20)).astype(np.int32)
    table = rng.integers(0, 2**64, (6, 2), dtype=np.uint64)
    total = np.zeros((2, 20), np.uint64)
    DIAGNOSES.asking.add_scores(total, table, codes)
    bits = named_bits(DIAGNOSES.asking, codes)
    np.testing.assert_array_equal(total, table.T @ bits.astype(np.uint64))
    one_by_one = [named_bits(DIAGNOSES.asking, codes[:, row : row + 1]) for row in range(20)]
    np.testing.assert_array_equal(bits, np.concatenate(one_by_one, axis=1))


# Labels


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """One to three columns of lists, and now and then a nominal one."""
    attributes: list[Attribute] = [
        Several(
            name=f"lists {i}",
            values=tuple(map(str, range(draw(st.integers(1, 12))))),
            most=draw(st.integers(1, 6)),
        )
        for i in range(draw(st.integers(1, 3)))
    ]
    if draw(st.booleans()):
        attributes.append(Nominal(name="sex", values=("f", "m")))
    return layout_of(attributes, draw(st.integers(2, 4)), draw(st.sampled_from(["1", "1/2", "0.01", "7/3"])), 2**14)


def patients(layout: Layout, rng: np.random.Generator, rows: int, missing: float = 0.1) -> tuple[Values, Values]:
    """Codes and classes: values are more frequent in later classes; some cells are missing, some are "none"."""
    labels = rng.integers(0, layout.classes, rows).astype(np.int32)
    columns: list[Values] = []
    for attribute in layout.dictionary.attributes:
        if isinstance(attribute, Several):
            present = rng.random((len(attribute.values), rows)) < 0.5 * labels / layout.classes + 0.05
            texts = [";".join(np.array(attribute.values)[own]) or "none" for own in present.T]
            column = np.where(rng.random(rows) < missing, "?", np.array(texts, np.str_))
            columns.append(attribute.read(column).codes)
        else:
            columns.append(rng.integers(0, attribute.codes, (1, rows)).astype(np.int32))
    return np.concatenate(columns), labels


@pytest.mark.usefixtures("dealt_base_transfers")
@given(layouts(), SEEDS, st.booleans())
@settings(max_examples=12, deadline=None)
def test_labels_on_shares_are_those_of_both_references(layout: Layout, number: int, private: bool) -> None:
    rng = np.random.default_rng(number)
    tables = [count(layout, Codes(*patients(layout, rng, rows))) for rows in (120, 40, 0)]
    asked, _ = patients(layout, rng, 30)
    models = run_training(layout, tables, THREE_SEEDS)
    labels = run_classification(layout, models, asked, THREE_SEEDS, private=private)
    alone = run_partner_classification(layout, models, asked, THREE_SEEDS[:2], private=private)
    np.testing.assert_array_equal(labels, alone)
    joint = tables[0] + tables[1]
    np.testing.assert_array_equal(labels, fixed_labels(layout, fixed_model(layout, joint), asked))
    real = real_scores(layout, joint, asked)
    np.testing.assert_array_equal(labels[clear(layout, real)], real.argmax(axis=0)[clear(layout, real)])


def clear(layout: Layout, real: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where the two best scores are further apart than the margin, float64's own rounding included."""
    best = np.sort(real, axis=0)[-2:]
    return best[1] - best[0] > precision_for(layout).margin + 1e-9


@given(layouts(), SEEDS)
@settings(max_examples=40)
def test_scores_and_labels_are_those_of_scikit_learn(layout: Layout, number: int) -> None:
    """Where every cell says something; it knows no missing ones."""
    lists: list[Attribute] = [a for a in layout.dictionary.attributes if isinstance(a, Several)]
    layout = layout_of(lists, layout.classes, str(layout.dictionary.smoothing))
    rng = np.random.default_rng(number)
    codes, labels = patients(layout, rng, 150, missing=0)
    asked, _ = patients(layout, rng, 40, missing=0)
    theirs: Any = BernoulliNB(alpha=float(layout.dictionary.smoothing)).fit(flags(layout, codes), labels)
    joint = count(layout, Codes(codes, labels))
    scores = theirs.predict_joint_log_proba(flags(layout, asked)).T / np.log(2)
    real = real_scores(layout, joint, asked)[theirs.classes_]
    np.testing.assert_allclose(real, scores, rtol=0, atol=1e-9)
    ours = fixed_labels(layout, fixed_model(layout, joint), asked)
    sure = clear(layout, real)
    np.testing.assert_array_equal(ours[sure], theirs.predict(flags(layout, asked))[sure])


def named_bits(asking: Asking, codes: Values) -> Bits:
    """(words, n): which words these codes name, each once."""
    named, columns = asking.named(codes), np.arange(codes.shape[1])
    times = np.zeros((asking.words + 1, columns.size), np.uint8)
    np.add.at(times, (named, np.broadcast_to(columns, named.shape)), np.uint8(1))
    assert times[:-1].max(initial=0) <= 1
    return times[:-1]


def flags(layout: Layout, codes: Values) -> NDArray[np.uint8]:
    """(rows, values of all attributes): which are present."""
    return np.concatenate([named_bits(a.asking, own)[1:] for a, own in layout.cells(codes)]).T


def test_a_missing_cell_adds_nothing_and_none_adds_every_absence() -> None:
    layout = layout_of([DIAGNOSES], 2)
    codes = DIAGNOSES.read(np.array(["I10", "I10;E11", "none", "", "I10", "?"])).codes
    joint = count(layout, Codes(codes, np.array([0, 0, 0, 0, 1, 1], np.int32)))
    assert layout.block(joint, 0).T.tolist() == [[2, 1, 0, 0, 0, 3, 1], [1, 0, 0, 0, 0, 1, 1]]
    asked = DIAGNOSES.read(np.array(["", "none", "X99"])).codes
    missing, nothing, unknown = (2 ** real_scores(layout, joint, asked)).T
    np.testing.assert_allclose(missing, [4 / 6, 2 / 6])
    np.testing.assert_allclose(nothing, [4 / 6 * 2 / 5 * 3 / 5 * (4 / 5) ** 3, 2 / 6 * 1 / 3 * (2 / 3) ** 4])
    np.testing.assert_allclose(unknown, missing)


# Widths


THOUSAND = Several(name="codes", values=tuple(f"C{i:03d}" for i in range(MOST_VALUES)))


@pytest.mark.parametrize("classes", [2, 5, 64])
def test_a_thousand_codes_fit(classes: int) -> None:
    layout = layout_of([THOUSAND], classes)
    precision = precision_for(layout)
    assert (layout.size, layout.columns) == (classes * 1003, 20)
    assert (precision.count_bits, precision.fraction, precision.width) == (21, FRACTION, 47)
    # A score has two logarithms a value and the prior, each off by at most ERROR.
    assert 2 * (2 * MOST_VALUES + 1) * ERROR <= precision.margin < 1e-5
    assert MOST_VALUES <= 2**SUM_BITS


def test_a_thousand_codes_on_shares() -> None:
    layout = layout_of([THOUSAND], 3)
    rng = np.random.default_rng(1)

    def some(rows: int) -> tuple[Values, Values]:
        """Five codes each, from overlapping parts of the list."""
        labels = rng.integers(0, 3, rows).astype(np.int32)
        codes = (rng.normal(300 * labels[:, None], 200, (rows, 5)).astype(int) % MOST_VALUES).tolist()
        cells = np.array([";".join(THOUSAND.values[code] for code in own) for own in codes])
        return THOUSAND.read(cells).codes, labels

    joint = count(layout, Codes(*some(3000)))
    assert run_validation(layout, [split(joint, seed(4))], THREE_SEEDS[:2])[0] == [True]
    models = run_training(layout, [joint], THREE_SEEDS)
    asked, _ = some(40)
    labels = run_classification(layout, models, asked, THREE_SEEDS)
    np.testing.assert_array_equal(labels, fixed_labels(layout, fixed_model(layout, joint), asked))
    real = real_scores(layout, joint, asked)
    assert clear(layout, real).all()
    np.testing.assert_array_equal(labels, real.argmax(axis=0))


def test_more_columns_of_a_thousand_codes_fit_and_rows_that_are_too_many_are_refused() -> None:
    many: list[Attribute] = [THOUSAND.model_copy(update={"name": str(i)}) for i in range(20)]
    assert precision_for(layout_of(many, 5, max_rows=2**40)).width <= 54
    with pytest.raises(DictionaryTooLarge, match="Lower max_rows"):
        precision_for(layout_of([THOUSAND], 2, "1/1048576", 2**40))


def exact_scores(layout: Layout, vector: Words, codes: Values) -> list[int]:
    """The scores of one row in integers, with the sentinel for classes without rows; no width, no table."""
    precision, smoothing = precision_for(layout), layout.dictionary.smoothing
    p, q = smoothing.numerator, smoothing.denominator
    of_class = layout.class_counts(vector).tolist()
    totals = [fixed_log2_of(n) if n else -precision.empty for n in of_class]
    for (attribute, block), (_, own) in zip(layout.blocks(vector), layout.cells(codes), strict=True):
        answered, *present = named_bits(attribute.asking, own)[:, 0].tolist()
        for c, counts in enumerate(block.T.tolist()):
            for row, has in enumerate(present):
                here = counts[row] if has else counts[-2] - counts[row]
                totals[c] += answered * (fixed_log2_of(q * here + p) - fixed_log2_of(q * counts[-2] + 2 * p))
    return totals


@given(st.data(), st.sampled_from([Fraction(1), Fraction(1, 1000), Fraction(7, 3)]))
@settings(max_examples=60)
def test_differences_of_extreme_counts_fit(data: st.DataObject, smoothing: Fraction) -> None:
    """All patients in one or two classes, every value in all of them or in none, up to what `most` allows."""
    many, most, rows = data.draw(st.sampled_from([1, 3, 40, 200])), data.draw(st.sampled_from([1, 20, 200])), 2**20
    attribute = Several(name="x", values=tuple(map(str, range(many))), most=most)
    layout = layout_of([attribute, attribute.model_copy(update={"name": "y"})], 3, str(smoothing), rows)
    vector = np.zeros(layout.size, np.uint64)
    share = data.draw(st.sampled_from([0, 1, rows // 2, rows - 1, rows]))
    layout.class_counts(vector)[:] = of_class = [share, rows - share, 0]
    for _, block in layout.blocks(vector):
        missing = data.draw(st.sampled_from([[0, 0, 0], [share, 0, 0]]))
        block[-1], block[-2] = missing, np.array(of_class) - missing
        for c in range(3):
            common = data.draw(st.integers(0, min(most, many)))
            rows_of_values = slice(0, common) if c == 0 else slice(many - common, many)
            block[rows_of_values, c] = block[-2, c]
    for texts in (attribute.values[:most], attribute.values[-most:], ("none",), ("",)):
        codes = np.concatenate([attribute.read(np.array([";".join(texts)])).codes] * 2)
        scores = exact_scores(layout, vector, codes)
        assert max(scores) - min(scores) < 1 << (precision_for(layout).width - 1)
        winner = scores.index(max(scores))
        assert of_class[winner] > 0
        assert fixed_labels(layout, fixed_model(layout, vector), codes).tolist() == [winner]


# The Paillier protocol


def test_paillier_says_what_to_agree_on_instead() -> None:
    dictionary = layout_of([DIAGNOSES, Nominal(name="sex", values=("f", "m"))], 2).dictionary
    with pytest.raises(Unsupported, match=r"Of other kinds are 1: diagnoses\. .*nominal attribute for every value"):
        exact.comparison_bits(Layout(dictionary))
