"""Two tables compared: which measures they have, and why they do not have the others."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.measures.alignment import aligned, same_values
from mixbayes.local_methods.measures.comparison import CLUSTERS, Risk, compare
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.tables import MISSING, Nominal, Numeric, Table

PAIRED = {"confidence_interval", "vd", "rp", "rk", "clustering"}
NUMERIC = {"confidence_interval", "vd", "rp", "rk", "cp", "ck"}
LABELLED = {"attribute_disclosure", "utility"}


def iris(noise: float = 0.0) -> Table:
    rows, classes = map(np.asarray, load_iris(return_X_y=True))
    numbers = rows + np.random.default_rng(0).normal(0, noise, rows.shape)
    columns = [Numeric(column) for column in numbers.T]
    return Table((*"abcd", "class"), (*columns, Nominal(classes, np.array(["x", "y", "z"]))), 150)


def nominal(*columns: list[int], names: str = "pq") -> Table:
    values = np.array(["0", "1", "2"])
    return Table(tuple(names), tuple(Nominal(np.array(column), values) for column in columns), len(columns[0]))


def test_a_table_is_like_itself() -> None:
    found = compare(iris(), iris(), class_column="class")
    assert found.why_not == {}
    assert (found.vd, found.rp, found.rk, found.cp, found.ck) == (0, 0, 1, 0, 1)
    assert found.confidence_interval == 0
    assert found.risk == found.original_risk
    assert found.clustering is not None
    assert asdict(found.clustering) == {"misclassification_error": 0, "adjusted_rand": 1}
    assert found.clusters == 3
    assert list(found.quasi_identifiers) == list("abcd")


def test_more_noise_is_further_away() -> None:
    near, far = (compare(iris(), iris(noise), class_column="class") for noise in (0.05, 1.0))
    assert near.vd is not None
    assert far.vd is not None
    assert near.vd < far.vd
    assert near.confidence_interval is not None
    assert far.confidence_interval is not None
    assert near.confidence_interval < far.confidence_interval
    assert near.risk.attribute_disclosure is not None
    assert far.risk.attribute_disclosure is not None
    assert near.risk.attribute_disclosure > far.risk.attribute_disclosure
    assert near.clustering is not None
    assert far.clustering is not None
    assert near.clustering.adjusted_rand > far.clustering.adjusted_rand


def test_other_numbers_of_rows_leave_what_pairs_no_rows() -> None:
    found = compare(iris(), iris().take(np.arange(0, 150, 2)), class_column="class")
    assert set(found.why_not) == PAIRED
    assert "150 and 75" in found.why_not["vd"]
    assert found.ck == 1
    assert found.utility is not None
    assert found.risk.reidentification is not None


def test_names_alone_have_no_distances() -> None:
    table = nominal([0, 0, 1, 1], [0, 1, 0, 1])
    found = compare(table, table)
    assert set(found.why_not) == NUMERIC | LABELLED
    assert "numeric" in found.why_not["rp"]
    assert found.clustering is not None
    assert found.clusters == CLUSTERS


def test_without_a_class_nothing_is_classified() -> None:
    table = iris().select([0, 1, 2, 3])
    assert set(compare(table, table).why_not) == LABELLED
    found = compare(iris(), table, class_column="class")
    assert set(found.why_not) == LABELLED
    assert "release has no column 'class'" in found.why_not["utility"]
    assert found.utility is None
    assert found.risk.attribute_disclosure is None


def test_only_shared_attributes_are_compared() -> None:
    original, released = iris(), iris(0.5).select([4, 2, 0])
    found = compare(original, released, class_column="class")
    same = compare(original.select([0, 2, 4]), iris(0.5).select([0, 2, 4]), class_column="class")
    assert found == same
    assert list(found.quasi_identifiers) == ["a", "c"]


def test_an_empty_release_has_no_measures() -> None:
    found = compare(iris(), iris().take(np.arange(0)), class_column="class")
    assert found.risk.k_anonymity is None
    assert found.risk.reidentification == 0
    assert found.cp is None
    assert found.utility is not None
    assert all(accuracy.released is None for accuracy in found.utility.values())


def test_an_empty_original_and_tables_that_share_nothing_are_refused() -> None:
    with pytest.raises(UnfitTable, match="no row"):
        compare(iris().take(np.arange(0)), iris())
    with pytest.raises(UnfitTable, match="no attribute in common"):
        compare(iris(), nominal([0], [1]))
    with pytest.raises(UnfitTable, match="no attribute in common"):
        compare(iris(), iris().select([4]), class_column="class")


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(UnfitTable, match="'outcome'"):
        compare(iris(), iris(), class_column="outcome")
    with pytest.raises(BadParameter, match="'class' is no attribute"):
        compare(iris(), iris(), class_column="class", quasi_identifiers=["a", "class"])
    with pytest.raises(UnfitTable, match="'d'"):
        compare(iris(), iris(), class_column="class", test=iris().select([0, 1, 2, 4]))


def test_a_test_table_is_what_classifiers_are_tested_on() -> None:
    test = iris().take(np.arange(0, 150, 10))
    found = compare(iris(), iris(), class_column="class", test=test)
    assert found.utility is not None
    assert found.utility["nearest-neighbour"].original == 1


def test_quasi_identifiers_are_what_anonymity_and_attackers_go_by() -> None:
    table = nominal([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
    assert compare(table, table).risk.k_anonymity == 1
    found = compare(table, table, quasi_identifiers=["p"])
    assert found.risk == Risk(k_anonymity=3, reidentification=1 / 3, attribute_disclosure=None)
    assert found.queries == 2


def test_missing_cells_are_read_as_asked() -> None:
    original = nominal([0, 0, 1, 1], names="p")
    released = nominal([0, MISSING, 1, MISSING], names="p")
    wildcard = compare(original, released, unknown=Unknown.WILDCARD)
    no_match = compare(original, released, unknown=Unknown.NO_MATCH)
    assert wildcard.risk.reidentification == pytest.approx(1 / 3)
    assert no_match.risk.reidentification == 1
    assert wildcard.original_risk == no_match.original_risk


def test_numbers_are_asked_for_by_their_bins() -> None:
    moved = compare(iris(), iris(1e-9), class_column="class").risk.reidentification
    still = compare(iris(), iris(), class_column="class").risk.reidentification
    assert moved is not None
    assert moved > 0.5 * (still or 0)


def test_a_column_of_numbers_released_as_intervals_is_nominal_in_both() -> None:
    original = Table(("age",), (Numeric(np.array([30.0, 30.5, 41.0])),), 3)
    released = Table(("age",), (Nominal(np.array([0, 0, 1]), np.array(["30-39", "40-49"])),), 3)
    before, after = aligned([original, released], ["age"])
    assert [column.cells().tolist() for column in (before.columns[0], after.columns[0])] == [
        ["30", "30.5", "41"],
        ["30-39", "30-39", "40-49"],
    ]
    found = compare(original, released)
    assert found.vd is None
    assert found.risk.k_anonymity == 1
    assert found.risk.reidentification == 0


def test_lists_of_values_are_joined_and_missing_cells_stay() -> None:
    first = Nominal(np.array([1, 0, MISSING]), np.array(["a", "c"]))
    second = Nominal(np.array([0, 1]), np.array(["b", "c"]))
    joined = same_values([first, second])
    assert [column.cells().tolist() for column in joined] == [["c", "a", None], ["b", "c"]]
    assert joined[0].values.tolist() == joined[1].values.tolist() == ["a", "b", "c"]


def test_all_missing_columns_have_no_measure() -> None:
    empty = Table(("a",), (Numeric(np.full(3, np.nan)),), 3)
    found = compare(empty, empty)
    assert set(found.why_not) >= NUMERIC
    assert found.risk.k_anonymity == 3
    assert found.risk.reidentification is None


def test_the_same_seed_measures_the_same() -> None:
    assert compare(iris(), iris(1.0), class_column="class", seed=5) == compare(
        iris(), iris(1.0), class_column="class", seed=5
    )


def test_bins_are_those_of_the_original() -> None:
    original, moved = (Table(("a",), (Numeric(np.arange(100.0) + by),), 100) for by in (0, 50))
    risk = compare(original, moved).risk
    assert risk.reidentification == pytest.approx((5 * 0 + 4 * 1 / 10 + 1 / 60) / 10)


def test_a_measurement_that_is_called_the_class_is_not_classified() -> None:
    values = Nominal(np.arange(150), np.array([f"{number:03}" for number in range(150)]))
    table = iris().with_columns({4: values})
    found = compare(table, table, class_column="class")
    assert set(found.why_not) == {"utility"}
    assert "150 values" in found.why_not["utility"]
    assert found.clusters == CLUSTERS
