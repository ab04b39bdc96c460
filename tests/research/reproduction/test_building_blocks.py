"""What the experiments are made of."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from mixbayes.protocol.errors import BadData
from mixbayes.research.reproduction import jena, kim, li_xi, peters, public_tables, roy, roy_noise, roy_risk
from mixbayes.research.reproduction.attributes import labelled, numeric_attributes
from mixbayes.research.reproduction.experiment import Laboratory
from mixbayes.tables.columns import Columns


def columns(names: str, *rows: str) -> Columns:
    cells = np.array([row.split() for row in rows])
    return Columns.of(tuple(names.split()), tuple(cells.T), len(rows), "t.csv")


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


def test_numbers_as_names_are_bins_only_where_they_are_many() -> None:
    few, many = np.array([2.0, np.nan, 7.0, 2.0]), np.append(np.arange(11.0), np.nan)
    assert peters.as_names(few, 5).codes.tolist() == [0, -1, 1, 0]
    assert peters.as_names(many, 5).codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, -1]


def test_of_two_values_in_the_middle_the_lower_one_is_taken() -> None:
    assert peters.lower_median(np.array([0.9, 0.1, np.nan, 0.2, 0.8])) == 0.2


def test_a_shuffled_release_has_every_row() -> None:
    split = li_xi.Split((np.arange(6.0).reshape(6, 1), np.arange(6)), (np.zeros((1, 1)), np.zeros(1, int)))
    ((rows, classes),) = li_xi.Runs(li_xi.CASES[0], [split], Laboratory(None)).shuffled()
    assert rows.ravel().tolist() == classes.tolist() != list(range(6))
    assert sorted(classes) == list(range(6))


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


def records(education: list[float], experience: list[float], wage: list[float]) -> Table:
    cells = [Numeric(np.array(column)) for column in (education, experience, wage)]
    return Table(roy.PRINTED, tuple(cells), len(wage))


def test_leaves_of_the_printed_records_cut_each_other_attribute_once() -> None:
    table = records([8, 8, 16, 16, 9, 9, 15, 15], [0, 1, 0, 1, 40, 41, 40, 41], [1, 2, 3, 4, 5, 6, 7, 8])
    assert roy.printed_leaves(table, "wage").tolist() == [0, 0, 2, 2, 1, 1, 3, 3]


def test_leaves_of_the_printed_records_leave_no_record_alone() -> None:
    table = records([8, 8, 8, 16, 8, 8], [0, 1, 0, 41, 40, 40], [1, 2, 3, 4, 5, 6])
    assert roy.printed_leaves(table, "wage").tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.real_tables
def test_the_means_of_table_5_1_are_those_of_its_records() -> None:
    lab = Laboratory(Path(os.environ["MIXBAYES_DATA"]), quick=True)
    same = [row.measured["as printed"] for row in roy.table_5_1(roy.CASES[1], lab) if "as printed" in row.measured]
    assert same == [18, 19]


@pytest.mark.parametrize("make", [roy_noise.independent, roy_noise.correlated, roy_noise.multiplicative])
def test_noise_is_as_far_from_the_table_as_asked(make: roy_noise.Make) -> None:
    table = two_classes(80).table
    released, scale = roy_noise.as_far(table, 0.05, make, ["y"], 0)
    assert roy_noise.distance(table, released) == pytest.approx(0.05, rel=1e-3)
    assert 0 < scale < 1
    assert (released.column("x").cells() == table.column("x").cells()).all()


def test_a_distance_that_truncated_factors_do_not_reach_gives_the_nearest() -> None:
    _, scale = roy_noise.as_far(two_classes(80).table, 5.0, roy_noise.multiplicative, ["y"], 0)
    assert scale == roy_noise.LARGEST_SCALE


def test_what_a_release_lets_through() -> None:
    before = np.array([[100.0, 0], [100, 10], [200, 0], [200, 10]])
    after = before + np.array([[4, 0], [6, 0], [-10, 1], [2, 0.2]])
    assert roy_noise.close_cells(before, after) == 6 / 8
    assert roy_noise.drisk(before, after) == 1 / 4


def test_the_tree_is_compared_with_noise_as_large() -> None:
    found = roy_noise.outcomes(two_classes(80).table, ["x", "y"], 5, 0)
    assert list(found) == ["tree", "additive noise", "additive noise, correlated", "multiplicative noise"]
    assert [one.changed for one in found.values()] == pytest.approx([found["tree"].changed] * 4, rel=1e-3)
    assert "additive noise, correlated" not in roy_noise.kinds(["x"])


def test_the_tree_is_compared_with_uma_of_the_nearest_distance() -> None:
    table = two_classes(80).table
    grown = roy_risk.measured(table, "y", roy.tree(5, ["y"], 0))
    sizes = roy_risk.every_size(table, "y")
    nearest = roy_risk.as_far(sizes, grown)
    assert nearest[0] == pytest.approx(grown[0], rel=0.05)
    assert all(abs(one[0] - grown[0]) >= abs(nearest[0] - grown[0]) for one in sizes)
    assert [rows for _, rows, _, _ in sizes[:3]] == [2, 80 / 26, 4]
