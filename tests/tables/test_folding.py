"""A table in folds: nothing is counted otherwise, every row is dealt to one fold, and the sample is fair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.errors import BadData, LocalError
from mixbayes.tables.cells import Cells, Column, Listed
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.folding import Dealing, Folded, Patients, folded
from mixbayes.tables.sources.opening import open_table
from mixbayes.tables.sources.source import InMemory, Part, Progress, Source, no_progress
from mixbayes.tables.tallying import Counting

KINDS: tuple[Attribute, ...] = (
    Nominal(name="sex", values=("m", "f")),
    Gaussian(name="age", low=0.0, high=100.0),
    Binned(name="chol", low=0.0, high=100.0, cuts=(10.0, 20.0)),
    Several(name="codes", values=("I10", "E11", "X9"), most=2),
)
CELLS: dict[str, st.SearchStrategy[str]] = {
    "sex": st.sampled_from(["m", "f", "", "?"]),
    "age": st.sampled_from(["", "7", "-3", "101"]) | st.floats(-10, 110).map(repr),
    "chol": st.sampled_from(["", "10", "15.5", "1e9"]),
    "codes": st.sampled_from(["I10;E11", "X9", "none", "", "X9;I10;E11"]),
    "class": st.sampled_from(["no", "yes"]),
}
SECRET = b"a secret"
ALL = 1 << 12
"""Patients: more than any table has here, even in one fold."""


class InParts(Source):
    """A table whose rows come in several parts, as texts in lists or with each text once."""

    title = "in parts"

    def __init__(self, columns: Columns, cuts: Sequence[int] = (), listed: bool = True) -> None:
        self.names = columns.names
        self._columns = columns
        self._cuts = cuts
        self._listed = listed

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        columns = self._columns.chosen(names)
        for start, stop in pairwise([0, *sorted(self._cuts), columns.rows]):
            part = columns.take(np.arange(start, stop))
            yield Part(replace(part, cells=tuple(map(self._column, names, part.cells))))

    def _column(self, name: str, column: Column) -> Column:
        return Listed(name, column.coded().texts().tolist()) if self._listed else column


class CountsItself(InParts):
    """It has its rows counted, and yields none."""

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        raise AssertionError("rows are fetched")

    def count(self, counting: Counting, progress: Progress = no_progress) -> None:
        InMemory(self._columns).count(counting)


def layout_of(*attributes: Attribute, folds: int = 1, rows: int = 2**20, least: int = 0) -> Layout:
    dictionary = Dictionary(class_column="class", classes=("no", "yes"), attributes=attributes, max_rows=rows)
    return Layout(dictionary, Terms(folds=folds, min_rows=least))


def table(**columns: Sequence[str]) -> Columns:
    cells = tuple(np.array(column, np.str_) for column in columns.values())
    return Columns.of(tuple(columns), cells, len(cells[0]))


@st.composite
def tables(draw: st.DrawFn) -> Columns:
    rows = draw(st.lists(st.tuples(*CELLS.values()), max_size=60))
    return table(**{name: [row[at] for row in rows] for at, name in enumerate(CELLS)})


@st.composite
def sources(draw: st.DrawFn, columns: Columns) -> InParts:
    cuts = draw(st.lists(st.integers(0, columns.rows), max_size=4))
    return InParts(columns, cuts, draw(st.booleans()))


def counts_of(layout: Layout, patients: Patients, fold: int) -> list[int]:
    here = patients.folds == fold
    return count(layout, Codes(patients.codes[:, here], patients.labels[here])).tolist()


def by_fold(layout: Layout, found: Folded) -> Words:
    return found.counted.vector.reshape(layout.terms.folds, layout.size)


def shown(found: Folded) -> list[list[object]]:
    """All that there is of it."""
    parts = (found.counted.vector, *(part for one in (found.patients, found.aside) for part in vars(one).values()))
    return [part.tolist() for part in parts]


@given(st.data(), tables(), st.integers(1, 5), st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1, 2)]))
def test_what_is_counted_and_what_is_kept_aside_are_the_table(
    data: st.DataObject, columns: Columns, folds: int, share: Fraction
) -> None:
    layout, whole = layout_of(*KINDS, folds=folds), counted(layout_of(*KINDS), columns)
    source = data.draw(sources(columns))
    found = folded(layout, source, test_share=share, secret=SECRET, most=ALL)
    vectors = by_fold(layout, found)
    together = vectors.sum(axis=0) + np.array(counts_of(layout, found.aside, 0), np.uint64)
    assert together.tolist() == whole.vector.tolist()
    assert found.counted.rows + found.aside.rows == columns.rows == whole.rows
    if not share:
        assert found.counted.clipped == whole.clipped
    sizes = layout.class_counts(vectors).sum(axis=1)
    assert sizes.max() - sizes.min() <= 1
    if folds > 1:
        for fold in range(folds):
            assert counts_of(layout, found.patients, fold) == vectors[fold].tolist()


@given(st.data(), tables(), st.integers(1, 4), st.integers(0, 30))
def test_rows_are_dealt_alike_into_whatever_parts_they_come(
    data: st.DataObject, columns: Columns, folds: int, most: int
) -> None:
    layout = layout_of(*KINDS, folds=folds)
    one, other = (
        folded(layout, data.draw(sources(columns)), test_share=0.3, secret=SECRET, most=most) for _ in range(2)
    )
    assert shown(one) == shown(other)


def test_another_secret_deals_otherwise() -> None:
    columns = table(sex=["m", "f"] * 50, **{"class": ["no"] * 100})
    layout = layout_of(KINDS[0], folds=2)
    dealt = [folded(layout, columns, test_share=0.5, secret=secret) for secret in (SECRET, b"another")]
    assert shown(dealt[0]) != shown(dealt[1])


def numbered(rows: int) -> tuple[Attribute, Columns]:
    """Patients whose only code is their position."""
    names = [f"{at}" for at in range(rows)]
    return Nominal(name="row", values=tuple(names)), table(row=names, **{"class": ["no"] * rows})


def test_rows_that_count_are_dealt_in_turn() -> None:
    attribute, columns = numbered(100)
    layout = layout_of(attribute, folds=3)
    found = folded(layout, InParts(columns, (1, 5, 50)), test_share=0.2, secret=SECRET, most=ALL)
    rows, folds = found.patients.codes[0], found.patients.folds
    in_order = folds[np.argsort(rows)]
    assert in_order.tolist() == [at % 3 for at in range(len(rows))]
    assert sorted([*rows.tolist(), *found.aside.codes[0].tolist()]) == list(range(100))
    assert 5 < found.aside.rows < 40
    assert not found.aside.folds.any()
    # Fold by fold, and within each in reading order.
    assert (np.diff(folds) >= 0).all()
    assert all((np.diff(rows[folds == fold]) > 0).all() for fold in range(3))


@given(st.integers(1, 60), st.integers(2, 5), st.integers(0, 70), st.lists(st.integers(0, 60), max_size=3))
def test_as_many_patients_are_kept_as_there_may_be(rows: int, folds: int, most: int, cuts: list[int]) -> None:
    attribute, columns = numbered(rows)
    layout = layout_of(attribute, folds=folds)
    source = InParts(columns, [min(cut, rows) for cut in cuts])
    found = folded(layout, source, test_share=Fraction(1, 4), secret=SECRET, most=most)
    sizes = layout.class_counts(by_fold(layout, found)).sum(axis=1)
    for fold, size in enumerate(sizes.tolist()):
        assert (found.patients.folds == fold).sum() == min(size, math.ceil(most / folds))
    assert found.aside.rows == min(rows - found.counted.rows, most)


def test_every_row_is_in_the_sample_as_often() -> None:
    """Of 61 rows some are kept aside, and 12 of the others are patients: no place in the table is better."""
    attribute, columns = numbered(61)
    layout, source = layout_of(attribute, folds=2), InParts(columns, (7, 8, 40), listed=False)
    draws, times = 1000, np.zeros(61)
    for draw in range(draws):
        found = folded(layout, source, test_share=0.25, secret=draw.to_bytes(2, "big"), most=12)
        times[found.patients.codes[0]] += 1
    expected = draws * 12 / 61
    deviations = (times - expected) / math.sqrt(expected * (1 - 12 / 61))
    assert np.abs(deviations).max() < 4
    assert (deviations**2).sum() < 61 + 5 * math.sqrt(2 * 61)


def test_each_row_is_kept_aside_independently_of_all_others() -> None:
    draws = [Dealing(2, Fraction(1, 4), draw.to_bytes(2, "big")).deal(61).folds == 2 for draw in range(4000)]
    kept = (np.array(draws) - 1 / 4) / math.sqrt(3 / 16)
    between = kept.T @ kept / len(draws)
    assert np.abs(between - np.eye(61)).max() < 5 / math.sqrt(len(draws))
    assert np.abs(kept.mean(axis=0)).max() < 4 / math.sqrt(len(draws))


def test_a_row_is_dealt_by_its_position_whatever_is_in_the_others() -> None:
    dealt = Dealing(4, Fraction(1, 3), SECRET).deal(1000)
    again = Dealing(4, Fraction(1, 3), SECRET)
    parts = [again.deal(rows) for rows in (1, 0, 499, 500)]
    assert np.concatenate([part.folds for part in parts]).tolist() == dealt.folds.tolist()
    assert np.concatenate([part.numbers for part in parts]).tolist() == dealt.numbers.tolist()
    kept = np.count_nonzero(dealt.folds == 4)
    assert abs(kept - 1000 / 3) < 5 * math.sqrt(1000 * 2 / 9)
    assert (Dealing(4, Fraction(1, 2), SECRET).deal(1000).folds[dealt.folds == 4] == 4).all()


BROKEN = {
    "values": table(sex=["m", "x", "F", "m"] * 3, age=["1", "old", "nan", "?"] * 3, **{"class": ["no", "yes"] * 6}),
    "often": table(sex=["m", "x", "F", "m"] * 9, age=["1", "old", "nan", "?"] * 9, **{"class": ["no", "yes"] * 18}),
    "many rows": table(sex=["m"] * 13, age=["1"] * 13, **{"class": ["no"] * 13}),
    "few rows": table(sex=["m"] * 3, age=["1"] * 3, **{"class": ["no"] * 3}),
    "no class": table(sex=["m"] * 6, age=["1"] * 6, **{"class": ["no", "yes", "no", "", "no", "?"]}),
    "foreign class": table(sex=["m"] * 6, age=["1"] * 6, **{"class": ["no", "maybe", "no", "dead", "no", "no"]}),
    "no column": table(sex=["m"], age=["1"]),
}


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(BadData) as caught:
        work()
    return f"{caught.type} {caught.value}"


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("columns", BROKEN.values(), ids=BROKEN.keys())
def test_a_table_is_refused_as_without_folds(columns: Columns, listed: bool) -> None:
    source = InParts(columns, (1, 1), listed)
    wanted = refusal(lambda: counted(layout_of(*KINDS[:2], rows=12, least=4), source))
    layout = layout_of(*KINDS[:2], folds=4, rows=12, least=4)
    assert refusal(lambda: folded(layout, source, secret=SECRET)) == wanted


@pytest.mark.parametrize("kind", ["values", "often", "no class", "foreign class", "no column"])
def test_rows_kept_aside_must_fit_too(kind: str) -> None:
    wanted = refusal(lambda: counted(layout_of(*KINDS[:2]), InParts(BROKEN[kind])))
    layout, source = layout_of(*KINDS[:2], folds=2), InParts(BROKEN[kind], (0, 1), listed=False)
    share = 1 - Fraction(1, 10**9)
    assert refusal(lambda: folded(layout, source, test_share=share, secret=SECRET)) == wanted


def test_values_of_rows_that_were_left_out_need_not_fit() -> None:
    columns = BROKEN["often"].take(np.tile(np.arange(0, 36, 4), 3))
    assert columns.column("sex").values.size > 1
    assert folded(layout_of(*KINDS[:2], folds=2), columns, secret=SECRET).counted.rows == 27


def test_agreed_are_the_rows_that_count() -> None:
    columns = table(sex=["m"] * 40, **{"class": ["no"] * 40})
    roomy = folded(layout_of(KINDS[0], folds=2), columns, test_share=0.5, secret=SECRET).counted.rows
    assert roomy < 40
    exact = layout_of(KINDS[0], folds=2, rows=roomy, least=roomy)
    assert folded(exact, columns, test_share=0.5, secret=SECRET).counted.rows == roomy
    for rows, least, said in ((roomy - 1, 0, "a hospital may have"), (40, roomy + 1, "every hospital needs")):
        narrow = layout_of(KINDS[0], folds=2, rows=rows, least=least)
        found = refusal(lambda narrow=narrow: folded(narrow, columns, test_share=0.5, secret=SECRET))  # type: ignore[misc]
        assert f"it has {roomy} rows beside {40 - roomy} that are kept aside" in found
        assert said in found


@pytest.mark.parametrize("share", [-0.1, 1, 1.5])
def test_all_rows_cannot_be_kept_aside(share: float) -> None:
    with pytest.raises(LocalError, match="cannot be kept aside"):
        folded(layout_of(KINDS[0]), table(sex=["m"], **{"class": ["no"]}), test_share=share, secret=SECRET)


def test_one_fold_and_no_share_leave_the_counting_to_the_source() -> None:
    columns = table(sex=["m", "f", "m"], **{"class": ["no", "yes", "no"]})
    layout = layout_of(KINDS[0])
    found = folded(layout, CountsItself(columns), secret=SECRET)
    assert found.counted.vector.tolist() == counted(layout, columns).vector.tolist()
    assert (found.patients.rows, found.aside.rows, found.patients.codes.shape) == (0, 0, (1, 0))


def test_one_fold_has_no_patients() -> None:
    attribute, columns = numbered(50)
    found = folded(layout_of(attribute), columns, test_share=0.5, secret=SECRET)
    assert found.patients.rows == 0
    assert found.aside.rows + found.counted.rows == 50
    assert 10 < found.aside.rows < 40


def test_files_and_databases_are_dealt_as_what_is_in_memory(tmp_path: Path) -> None:
    rng, rows = np.random.default_rng(3), 30_000
    cells = {
        "sex": rng.choice(["m", "f", ""], rows),
        "age": rng.normal(50, 30, rows).round(3),
        "class": rng.choice(["no", "yes"], rows),
    }
    arrow = pa.table({name: pa.array(values.tolist()) for name, values in cells.items()})
    pq.write_table(arrow, tmp_path / "t.parquet", row_group_size=7000)
    pacsv.write_csv(arrow, tmp_path / "t.csv")
    with duckdb.connect(tmp_path / "t.db") as connection:
        connection.execute(f"create table patients as from '{tmp_path / 't.parquet'}'")
    layout = layout_of(*KINDS[:2], folds=3)
    columns = table(**{name: list(map(str, values)) for name, values in cells.items()})
    wanted = folded(layout, columns, test_share=0.1, secret=SECRET, most=500)
    for name in ("t.parquet", "t.csv"):
        found = folded(layout, open_table(str(tmp_path / name)), test_share=0.1, secret=SECRET, most=500)
        assert shown(found) == shown(wanted)
    of_database = folded(layout, open_table(f"duckdb:{tmp_path / 't.db'}"), secret=SECRET)
    assert by_fold(layout, of_database).sum(axis=0).tolist() == counted(layout_of(*KINDS[:2]), columns).vector.tolist()


def test_nothing_of_a_patient_shows_in_a_repr() -> None:
    attribute = Nominal(name="secret column", values=("hidden",))
    columns = table(**{"secret column": ["hidden"] * 4, "class": ["yes"] * 4})
    found = folded(layout_of(attribute, folds=2), columns, secret=SECRET)
    assert repr(found.patients) == "Patients(rows=4)"
    assert "array" not in repr(found)


def test_columns_of_every_form_are_taken_alike() -> None:
    texts = ["b", "", "a", "b"]
    for rows in (np.array([3, 1]), np.array([False, True, False, True])):
        for column in (Listed("x", texts), Cells.of(texts)):
            assert column.take(rows).coded().texts().tolist() == np.array(texts)[rows].tolist()
