"""Two tables compared: which measures they have, and why they do not have the others."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.measures.alignment import aligned, same_values
from mixbayes.local_methods.measures.attacker import Risk
from mixbayes.local_methods.measures.comparison import CLUSTERS, Comparison, compare
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.measures.ranking import Verdict
from mixbayes.local_methods.tables import MISSING, Nominal, Numeric, Table

PAIRED = {"confidence_interval", "vd", "rp", "rk", "clustering", "clusterings"}
NUMERIC = {"confidence_interval", "vd", "rp", "rk", "cp", "ck"}
SENSITIVE = {"l_diversity", "entropy_l_diversity", "t_closeness"}
LABELLED = {"attribute_disclosure", "utility", "delta_r", "detection", *SENSITIVE}
ONCE = {"quartiles", "membership", "attribute_inference"}  # folds drawn once, and nobody held out
"""What is only there where folds are drawn more than once."""


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
    assert set(found.why_not) == ONCE
    assert (found.vd, found.rp, found.rk, found.cp, found.ck) == (0, 0, 1, 0, 1)
    assert found.confidence_interval == 0
    assert found.risk == found.original_risk
    assert found.clustering is not None
    assert asdict(found.clustering) == {"misclassification_error": 0, "adjusted_rand": 1}
    assert found.clusters == 3
    assert list(found.quasi_identifiers) == list("abcd")


@pytest.mark.parametrize("columns", [["a", "b", "c", "d"], ["ward", "sex"]], ids=["numbers", "names"])
def test_rows_that_were_shuffled_are_paired_by_chance(columns: list[str]) -> None:
    random, whole = np.random.default_rng(0), iris()
    names = [Nominal(random.integers(0, 3, 150), np.array(["x", "y", "z"])) for _ in range(2)]
    table = Table((*whole.names, "ward", "sex"), (*whole.columns, *names), 150)
    part = table.select(table.positions(columns))
    assert not compare(part, part).paired_by_chance
    assert compare(part, part.take(random.permutation(150))).paired_by_chance
    assert not compare(part, part.take(np.arange(149))).paired_by_chance  # no pairs at all


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
    assert set(found.why_not) == PAIRED | ONCE
    assert "150 and 75" in found.why_not["vd"]
    assert found.ck == 1
    assert found.utility is not None
    assert found.risk.reidentification is not None


def test_names_alone_have_no_distances() -> None:
    table = nominal([0, 0, 1, 1], [0, 1, 0, 1])
    found = compare(table, table)
    assert set(found.why_not) == NUMERIC | LABELLED | ONCE
    assert "numeric" in found.why_not["rp"]
    assert found.clustering is not None
    assert found.clusters == CLUSTERS


def test_without_a_class_nothing_is_classified() -> None:
    table = iris().select([0, 1, 2, 3])
    assert set(compare(table, table).why_not) == LABELLED | ONCE
    found = compare(iris(), table, class_column="class")
    assert set(found.why_not) == LABELLED | ONCE
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
    assert set(found.why_not) == {"utility", "delta_r", "detection"} | ONCE
    assert len({found.why_not[name] for name in ("utility", "delta_r", "detection", "quartiles")}) == 1
    assert "150 values" in found.why_not["utility"]
    assert found.clusters == CLUSTERS


def people() -> Table:
    """Four couples who look alike: age and ward are known, disease and stay are not."""
    age = Nominal(np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array(["old", "young"]))
    ward = Nominal(np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.array(["a", "b"]))
    disease = Nominal(np.array([0, 1, 0, 0, 2, 1, 2, 2]), np.array(["flu", "gout", "pox"]))
    stay = Numeric(np.array([1.0, 9.0, 2.0, 3.0, 9.0, 1.0, 5.0, np.nan]))
    return Table(("age", "ward", "stay", "class"), (age, ward, stay, disease), 8)


def test_the_class_is_sensitive_unless_another_column_is_named() -> None:
    known = ["age", "ward"]
    by_class = compare(people(), people(), class_column="class", quasi_identifiers=known)
    assert by_class.sensitive == "class"
    assert by_class.risk.k_anonymity == 2
    assert by_class.risk.l_diversity == 1  # two of the old in ward b have the flu, and nobody there anything else
    assert by_class.risk.t_closeness == pytest.approx(1 - 3 / 8)
    by_stay = compare(people(), people(), class_column="class", sensitive="stay")
    assert list(by_stay.quasi_identifiers) == known
    assert by_stay.risk.l_diversity == 1
    assert by_stay.original_risk == by_stay.risk
    assert by_stay.risk.k_anonymity == 2
    assert by_stay.utility is not None


def test_what_is_sensitive_is_not_known() -> None:
    with pytest.raises(BadParameter, match="'stay' is the sensitive column"):
        compare(people(), people(), sensitive="stay", quasi_identifiers=["stay"])
    with pytest.raises(UnfitTable, match="'height'"):
        compare(people(), people(), sensitive="height")
    found = compare(people(), people().select([0, 1, 3]), class_column="class", sensitive="stay")
    assert found.risk.l_diversity is None
    assert "release has no column 'stay'" in found.why_not["t_closeness"]
    alone = people().select([2])
    assert compare(alone, alone, sensitive="stay").risk.k_anonymity == 8


def test_a_sensitive_column_that_became_names_is_compared_as_names() -> None:
    released = people().with_columns({2: Nominal(np.array([0] * 8), np.array(["1-9"]))})
    found = compare(people(), released, sensitive="stay", quasi_identifiers=["age"])
    assert (found.original_risk.l_diversity, found.risk.l_diversity) == (3, 1)
    assert found.risk.t_closeness == 0


def test_utility_is_kept_within_the_tolerance() -> None:
    found = drawn(1)
    assert found.utility is not None
    assert found.kept_utility is not None
    for name, accuracy in found.utility.items():
        assert accuracy.original is not None
        assert accuracy.released is not None
        expected = accuracy.released - 0.98 * accuracy.original
        assert found.kept_utility.delta_r[name] == pytest.approx(expected)
        assert found.kept_utility.kept[name] == (expected >= 0)
    assert found.kept_utility.by_all is False
    few = iris(2.0).take(np.arange(0, 150, 5))
    patient = compare(few, few, class_column="class", tolerance=0.5)
    assert patient.kept_utility is not None
    assert (patient.kept_utility.by_all, patient.kept_utility.tolerance) == (True, 0.5)


def test_the_answers_of_all_folds_give_accuracy_and_detection() -> None:
    found = drawn(1)
    assert found.utility is not None
    assert found.detection is not None
    for name, classes in found.detection.items():
        assert list(classes) == ["x", "y", "z"]
        recalls = [each.released.pd for each in classes.values()]
        assert np.mean(np.array(recalls, float)) == pytest.approx(found.utility[name].released)  # classes of one size


@cache
def drawn(times: int) -> Comparison:
    """Iris beside a noisy release of it, with folds drawn so many times."""
    return compare(iris(), iris(2.0), class_column="class", repeats=times)


def test_folds_drawn_anew_give_quartiles_and_a_test() -> None:
    once, twice = drawn(1), drawn(2)
    assert once.folds is None
    assert "drawn once" in once.why_not["quartiles"]
    assert twice.folds is not None
    assert "quartiles" not in twice.why_not
    accuracy = twice.folds.of_classifier["tree"]["accuracy"]
    assert accuracy.of_all.test is not None
    assert accuracy.of_all.test.verdict is Verdict.LOSS
    assert list(accuracy.of_class) == ["x", "y", "z"]
    assert [len(side.values) for side in (accuracy.of_all.original, accuracy.of_class["x"].original)] == [30, 10]
    assert sum(map(twice.folds.count, Verdict)) == 16
    assert twice.folds.count(Verdict.WIN) == 0


def test_the_first_folds_are_those_of_a_single_time() -> None:
    once, twice = drawn(1), drawn(2)
    assert once.utility != twice.utility
    assert twice.folds is not None
    found = twice.folds.of_classifier["tree"]["pd"].of_class["y"].original.values
    assert once.detection is not None
    assert np.mean(np.array(found[:5], float)) == pytest.approx(once.detection["tree"]["y"].original.pd)


def test_folds_and_a_test_table_exclude_each_other() -> None:
    with pytest.raises(BadParameter, match="test table"):
        compare(iris(), iris(), class_column="class", test=iris(), repeats=2)
    assert "test table" in compare(iris(), iris(), class_column="class", test=iris()).why_not["quartiles"]


def test_a_class_that_nobody_has_left_has_a_share_of_nothing_and_a_reason() -> None:
    test = iris().take(np.arange(100))
    found = compare(iris(), iris(), class_column="class", test=test)
    assert found.detection is not None
    third = found.detection["naive-bayes"]["z"].original
    assert third.pd is None
    assert third.pf is not None
    assert "no row that was asked about" in found.why_not["pd"]
    assert "pf" not in found.why_not


def test_several_numbers_of_clusters_are_looked_for_beside_the_original_itself() -> None:
    found = compare(iris(), iris(0.5), class_column="class", clusters=[2, 3, 3, 6])
    assert found.clusterings is not None
    assert [each.clusters for each in found.clusterings] == [2, 3, 6]
    assert found.clusters == 3
    assert found.clustering == found.clusterings[1].released
    assert found.clusterings[1].unperturbed.adjusted_rand == 1
    assert found.clusterings[0].unperturbed.adjusted_rand == 1
    assert found.clusterings[2].unperturbed.adjusted_rand < 1  # k-means differs from itself
    few = iris().take(np.arange(0, 150, 15))
    assert compare(few, few, class_column="class", clusters=[2, 6]).clusters == 2
