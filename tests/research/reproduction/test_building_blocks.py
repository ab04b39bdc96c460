"""What the experiments are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from mixbayes.protocol.errors import BadData
from mixbayes.research.reproduction import jena, kim, li_xi, peters, public_tables, roy
from mixbayes.research.reproduction.attributes import labelled, numeric_attributes
from mixbayes.research.reproduction.experiment import Laboratory
from mixbayes.tables.columns import Columns


def columns(names: str, *rows: str) -> Columns:
    cells = np.array([row.split() for row in rows])
    return Columns(tuple(names.split()), tuple(cells.T), len(rows), "t.csv")


def two_classes(rows: int) -> Labelled:
    random = np.random.default_rng(0)
    table = Table(("x", "y"), (Numeric(random.normal(size=rows)), Numeric(random.normal(size=rows))), rows)
    return Labelled(table, Nominal(np.arange(rows) % 2, np.array(["a", "b"])))


def test_incomplete_rows_are_left_out_only_if_asked() -> None:
    read = columns("x class", "1 a", "? b", "3 b")
    assert labelled(read).table.rows == 3
    kept = labelled(read, complete=True)
    assert kept.table.numbers().ravel().tolist() == [1, 3]
    assert kept.labels.cells().tolist() == ["a", "b"]


def test_rows_without_a_class_are_refused() -> None:
    with pytest.raises(BadData, match="without a class"):
        labelled(columns("x class", "1 a", "2 ?"))


def test_numbers_that_are_names_are_nominal_where_it_is_said() -> None:
    read = columns("sex age class", "1 30 0", "0 40 1")
    assert labelled(read, {"sex", "thal"}).table.nominal == [0]
    assert numeric_attributes(read).names == ("sex", "age")


def test_a_table_whose_codes_are_known_is_read_so(tmp_path: Path) -> None:
    """Its seven columns of codes, whatever they are called."""
    (tmp_path / "cmc.csv").write_text("a,b,c,d,e,f,g,h,i,class\n24,2,3,3,1,1,2,3,0,1\n45,1,3,10,1,1,3,4,0,2\n")
    read = jena.read_rows(Laboratory(tmp_path), [public_tables.CMC])
    assert [read.table.names[at] for at in read.table.numeric] == ["a", "d"]


def test_a_laboratory_makes_things_once() -> None:
    lab = Laboratory(None)
    assert lab.once("key", lambda: 1) == lab.once("key", lambda: 2) == 1
    assert (lab.times(50, 3), Laboratory(None, quick=True).times(50, 3)) == (50, 3)


def test_halves_hold_every_row_once_and_half_of_each_class() -> None:
    rows = two_classes(40)
    pairs = list(jena.halves(rows.labels, 2))
    assert len(pairs) == 4
    for training, test in pairs:
        assert sorted([*training, *test]) == list(range(40))
        assert rows.labels.take(training).counts().tolist() == [10, 10]


def test_the_combined_f_test_knows_equal_and_different() -> None:
    random = np.random.default_rng(0)
    one = random.normal(0.7, 0.01, 10)
    assert jena.combined_f(one, one) == 1
    assert jena.combined_f(one, one + random.normal(0, 0.01, 10)) > jena.SIGNIFICANT
    assert jena.combined_f(one, one + 0.2 + random.normal(0, 0.01, 10)) < jena.SIGNIFICANT


def test_a_longer_table_begins_with_the_table_and_draws_from_it() -> None:
    rows = two_classes(20)
    longer = jena.lengthened(rows, 3)
    numbers = longer.table.numbers()
    assert numbers.shape == (60, 2)
    assert np.array_equal(numbers[:20], rows.table.numbers())
    assert np.isin(numbers[:, 0], rows.table.numbers()[:, 0]).all()
    assert len(longer.labels) == 60


def test_ranks_in_the_order_of_rows_tell_equal_values_apart() -> None:
    ranks = li_xi.ranks_in_row_order(np.array([[2.0], [1.0], [2.0], [1.0]]))
    assert ranks.ravel().tolist() == [2, 0, 3, 1]


def test_folds_ask_about_every_row_once_a_repeat() -> None:
    asked = [part for _, part in peters.folds(23, 2)]
    assert len(asked) == 10
    assert sorted(np.concatenate(asked[:5])) == list(range(23))


def test_sizes_of_training_classes_are_those_of_nine_tenths() -> None:
    labels = Nominal(np.repeat([0, 1, 2], 50), np.array(list("abc")))
    assert set(kim.gcds(labels, 10, 20).tolist()) <= {10, 20, 30, 40}


def test_a_column_of_one_value_scales_to_nothing() -> None:
    table = Table(("x", "y"), (Numeric(np.array([1.0, 3.0])), Numeric(np.array([2.0, 2.0]))), 2)
    assert roy.scaled(table, table).tolist() == [[0, 0], [1, 0]]


def test_salaries_are_found_by_name() -> None:
    numbers = [Numeric(np.arange(3.0))] * 3
    assert roy.salary_and_another(Table(("Salary offered", "load", "years"), tuple(numbers), 3)) == (
        "Salary offered",
        ("Salary offered", "years"),
    )
    with pytest.raises(BadData, match="salary"):
        roy.salary_and_another(Table(("a", "b", "c"), tuple(numbers), 3))
