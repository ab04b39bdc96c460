import csv
import os
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes import counts
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.errors import LocalError
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted as counted_table
from mixbayes.tables.inference import infer


@st.composite
def tables(draw: st.DrawFn) -> tuple[Layout, Codes]:
    rows, classes = draw(st.integers(0, 20)), draw(st.integers(2, 5))
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    attributes = [
        Nominal(name=str(i), values=tuple(map(str, range(size)))) if size else Gaussian(name=str(i), low=0.0, high=1.0)
        for i, size in enumerate(sizes)
    ]
    column = {
        size: st.integers(0, size) if size else st.sampled_from([ABSENT_CODE]) | st.integers(0, 2**24) for size in sizes
    }
    codes = [draw(st.lists(column[size], min_size=rows, max_size=rows)) for size in sizes]
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    dictionary = Dictionary(class_column="class", classes=tuple(map(str, range(classes))), attributes=tuple(attributes))
    return Layout(dictionary), Codes(np.array(codes, np.int32).reshape(len(sizes), rows), np.array(labels, np.int32))


def slow_count(layout: Layout, codes: Codes) -> list[int]:
    """Cell by cell, in Python's integers."""
    assert codes.labels is not None
    labels: list[int] = codes.labels.tolist()
    classes = range(layout.classes)
    vector = [labels.count(c) for c in classes]
    for attribute, column in zip(layout.dictionary.attributes, codes.codes.tolist(), strict=True):
        rows = list(zip(column, labels, strict=True))
        if isinstance(attribute, Gaussian):
            here = [[x for x, label in rows if label == c and x != ABSENT_CODE] for c in classes]
            vector += [len(xs) for xs in here]
            vector += [sum(xs) for xs in here]
            vector += [sum(x * x % 2**24 for x in xs) for xs in here]
            vector += [sum(x * x // 2**24 for x in xs) for xs in here]
            vector += [rows.count((ABSENT_CODE, c)) for c in classes]
        else:
            vector += [rows.count((v, c)) for v in range(attribute.rows) for c in classes]
    return vector


@pytest.mark.parametrize("block", [1, 7, counts.BLOCK])
@given(tables())
def test_counts_equal_counting_by_hand(block: int, table: tuple[Layout, Codes]) -> None:
    layout, codes = table
    with patch.object(counts, "BLOCK", block):
        assert count(layout, codes).tolist() == slow_count(layout, codes)


@given(tables(), st.integers(0, 20))
def test_counts_of_two_hospitals_add_up(table: tuple[Layout, Codes], cut: int) -> None:
    layout, codes = table
    assert codes.labels is not None
    one = count(layout, Codes(codes.codes[:, :cut], codes.labels[:cut]))
    other = count(layout, Codes(codes.codes[:, cut:], codes.labels[cut:]))
    np.testing.assert_array_equal(one + other, count(layout, codes))


def test_sums_of_many_large_squares_are_exact() -> None:
    """Two full blocks and one row; a float64 sum of the squares would have lost the last bits."""
    rows, value = 2 * counts.BLOCK + 1, 2**24 - 1
    layout = Layout(
        Dictionary(class_column="c", classes=("0", "1"), attributes=(Gaussian(name="x", low=0.0, high=1.0),))
    )
    vector = count(layout, Codes(np.full((1, rows), value, np.int32), np.ones(rows, np.int32)))
    _, total, low, high, _ = layout.block(vector, 0)[:, 1].tolist()
    assert total == rows * value
    assert low + 2**24 * high == rows * value**2


def test_no_row_counts_nothing() -> None:
    layout = Layout(Dictionary(class_column="c", classes=("0", "1"), attributes=(Nominal(name="x", values=("a",)),)))
    assert count(layout, Codes(np.empty((1, 0), np.int32), np.empty(0, np.int32))).tolist() == [0] * layout.size


def test_rows_without_labels_are_not_counted() -> None:
    layout = Layout(Dictionary(class_column="c", classes=("0", "1"), attributes=(Nominal(name="x", values=("a",)),)))
    with pytest.raises(LocalError, match="without labels"):
        count(layout, Codes(np.zeros((1, 3), np.int32)))


def row_of(attribute: Nominal | Binned, cell: str) -> int:
    if cell in ("", "?"):
        return attribute.size
    if isinstance(attribute, Nominal):
        return attribute.values.index(cell)
    return sum(cut <= float(cell) for cut in attribute.cuts)


def moments(attribute: Gaussian, cells: list[str]) -> list[int]:
    present = [float(cell) for cell in cells if cell not in ("", "?")]
    scaled = [round((v - attribute.low) / (attribute.high - attribute.low) * 2**24) for v in present]
    squares = [x * x for x in scaled]
    halves = [sum(s % 2**24 for s in squares), sum(s >> 24 for s in squares)]
    return [len(present), sum(scaled), *halves, len(cells) - len(present)]


@pytest.mark.real_tables
@pytest.mark.parametrize("bins", [None, 6])
@pytest.mark.parametrize("file", ["adult.csv", "heart4/hungarian.csv", "credit_approval.csv", "wine.csv"])
def test_real_tables_from_text_to_counts(file: str, bins: int | None) -> None:
    with open(Path(os.environ["MIXBAYES_DATA"], file), newline="") as source:
        header, *rows = csv.reader(source)
    columns = Columns.of(tuple(header), tuple(np.array(c) for c in zip(*rows, strict=True)), len(rows))
    layout = Layout(infer([columns], bins=bins))
    found = counted_table(layout, columns)
    vector = found.vector
    assert not found.clipped
    for k, label in enumerate(layout.dictionary.classes):
        assert_class(layout, vector, k, [dict(zip(header, row, strict=True)) for row in rows if label in row], label)


def assert_class(layout: Layout, vector: Words, k: int, rows: list[dict[str, str]], label: str) -> None:
    mine = [row for row in rows if row[layout.dictionary.class_column] == label]
    assert layout.class_counts(vector)[k] == len(mine)
    for i, attribute in enumerate(layout.dictionary.attributes):
        cells = [row[attribute.name] for row in mine]
        counted = layout.block(vector, i)[:, k].tolist()
        if isinstance(attribute, Gaussian):
            assert counted == moments(attribute, cells)
        else:
            assert isinstance(attribute, Nominal | Binned)
            tally = Counter(row_of(attribute, cell) for cell in cells)
            assert counted == [tally[row] for row in range(attribute.size + 1)]
