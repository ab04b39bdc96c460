"""What classifiers reach after learning from a release."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from mixbayes.local_methods.classifiers import CLASSIFIERS, NAIVE_BAYES, NEAREST_NEIGHBOUR, SVM, TREE, Points, train
from mixbayes.local_methods.containers import read_columns, read_labels
from mixbayes.local_methods.coordinates import MOST_INDICATORS
from mixbayes.local_methods.measures.utility import Accuracy, Labelled, utility
from mixbayes.local_methods.tables import MISSING, Nominal, Numeric, Table

X, y = map(np.asarray, load_iris(return_X_y=True))


def labelled(rows: np.ndarray, classes: np.ndarray) -> Labelled:
    return Labelled(read_columns(rows)[0], read_labels(classes)[0])


IRIS = labelled(X, y)


def mixed(rows: int = 300, seed: int = 0) -> Labelled:
    """A class that one number and one name tell of, and a name that tells nothing."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, rows)
    number = truth + random.normal(0, 0.4, rows)
    name = np.where(random.random(rows) < 0.8, truth, 1 - truth)
    table = Table(
        ("number", "name", "noise"),
        (
            Numeric(number),
            Nominal(name, np.array(["low", "high"])),
            Nominal(random.integers(0, 3, rows), np.array(["a", "b", "c"])),
        ),
        rows,
    )
    return Labelled(table, Nominal(truth, np.array(["ill", "well"])))


def test_a_release_of_the_original_itself_is_as_good() -> None:
    found = utility(IRIS, IRIS)
    assert tuple(found) == CLASSIFIERS
    for accuracy in found.values():
        assert accuracy.original == accuracy.released
        assert accuracy.original is not None
        assert 0.9 < accuracy.original < 1


def test_a_release_with_wrong_classes_is_worse() -> None:
    wrong = labelled(X, (y + 1) % 3)
    for accuracy in utility(IRIS, wrong).values():
        assert accuracy.released is not None
        assert accuracy.released < 0.1


def test_rows_that_are_tested_are_not_learned_from() -> None:
    random = np.random.default_rng(1)
    noise = labelled(random.normal(size=(400, 3)), random.integers(0, 2, 400))
    for name, accuracy in utility(noise, noise).items():
        assert accuracy.released is not None, name
        assert 0.35 < accuracy.released < 0.65, name


def test_a_test_table_is_labelled_by_what_learned_from_all_rows() -> None:
    half = np.arange(150) % 2 == 0
    learn, test = labelled(X[half], y[half]), labelled(X[~half], y[~half])
    found = utility(learn, learn, test)[NEAREST_NEIGHBOUR]
    right = train(NEAREST_NEIGHBOUR, learn.table, learn.labels, 0)(test.table) == test.labels.codes
    assert found == Accuracy(float(right.mean()), float(right.mean()))


def test_the_same_seed_gives_the_same_folds() -> None:
    assert utility(IRIS, IRIS, seed=3) == utility(IRIS, IRIS, seed=3)
    assert utility(IRIS, IRIS, seed=3) != utility(IRIS, IRIS, seed=4)


def test_a_release_may_have_another_number_of_rows() -> None:
    fewer = IRIS.take(np.arange(0, 150, 3))
    for accuracy in utility(IRIS, fewer).values():
        assert accuracy.released is not None
        assert accuracy.released > 0.85


def test_rows_without_a_class_are_neither_learned_from_nor_tested() -> None:
    suppressed = np.where(np.arange(150) % 4 == 0, MISSING, y)
    released = Labelled(IRIS.table, IRIS.labels.with_codes(suppressed))
    assert released.known().table.rows == 112
    test = Labelled(IRIS.table, IRIS.labels.with_codes(np.where(np.arange(150) < 149, MISSING, y)))
    assert all(accuracy.released in (0.0, 1.0) for accuracy in utility(IRIS, released, test).values())


def test_nothing_to_learn_from_or_to_test_gives_no_accuracy() -> None:
    nobody = IRIS.take(np.arange(0))
    assert set(utility(IRIS, nobody).values()) >= {utility(IRIS, nobody)[TREE]}
    for accuracy in utility(IRIS, nobody).values():
        assert accuracy.original is not None
        assert accuracy.released is None
    assert set(utility(IRIS, IRIS, nobody).values()) == {Accuracy(None, None)}


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_few_rows_have_an_answer(rows: int) -> None:
    few = IRIS.take(np.arange(rows) * 37)
    for accuracy in utility(few, few).values():
        assert accuracy.original == accuracy.released


def test_one_class_is_always_right() -> None:
    same = labelled(X, np.zeros(150, int))
    assert set(utility(same, same).values()) == {Accuracy(1.0, 1.0)}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_learns_from_names_and_numbers(name: str) -> None:
    learn, test = mixed(), mixed(seed=1)
    right = train(name, learn.table, learn.labels, 0)(test.table) == test.labels.codes
    assert right.mean() > 0.8


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_takes_missing_cells_and_unseen_values(name: str) -> None:
    learn = mixed()
    number, named, noise = learn.table.columns
    assert isinstance(number, Numeric)
    assert isinstance(named, Nominal)
    holes = Table(
        learn.table.names,
        (
            Numeric(np.where(np.arange(300) % 5 == 0, np.nan, number.numbers)),
            Nominal(np.where(np.arange(300) % 7 == 0, MISSING, named.codes), np.array(["low", "high", "unseen"])),
            noise,
        ),
        300,
    )
    classify = train(name, holes, learn.labels, 0)
    assert (classify(holes) == learn.labels.codes).mean() > 0.75
    strange = holes.with_columns({1: Nominal(np.full(300, 2), np.array(["low", "high", "unseen"]))})
    assert set(classify(strange)) <= {0, 1}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_constant_and_empty_columns_are_taken(name: str) -> None:
    rows = np.column_stack([X, np.full(150, 3.0), np.full(150, np.nan)])
    given = labelled(rows, y)
    assert (train(name, given.table, given.labels, 0)(given.table) == y).mean() > 0.9


@pytest.mark.parametrize("name", [NEAREST_NEIGHBOUR, SVM])
def test_the_unit_of_a_column_does_not_matter(name: str) -> None:
    inches = labelled(X * [1, 1e6, 1e-300, 1e300], y)
    plain = train(name, IRIS.table, IRIS.labels, 0)(IRIS.table)
    assert (train(name, inches.table, inches.labels, 0)(inches.table) == plain).all()


def test_naive_bayes_of_numbers_is_scikit_learns() -> None:
    expected = GaussianNB().fit(X, y).predict(X)
    assert (train(NAIVE_BAYES, IRIS.table, IRIS.labels, 0)(IRIS.table) == expected).mean() > 0.99


def test_naive_bayes_of_names_is_scikit_learns() -> None:
    codes = np.random.default_rng(2).integers(0, 3, (200, 4))
    classes = codes[:, 0] % 2
    values = np.array(["a", "b", "c"])
    table = Table(tuple("pqrs"), tuple(Nominal(column, values) for column in codes.T), 200)
    expected = CategoricalNB(min_categories=4).fit(codes + 1, classes).predict(codes + 1)
    labels = Nominal(classes, np.array(["x", "y"]))
    assert np.array_equal(train(NAIVE_BAYES, table, labels, 0)(table), expected)


def test_naive_bayes_counts_the_prior_once() -> None:
    # A name that is ten times as frequent in the rarer class, which is four times as rare, and a number that tells
    # nothing: with the prior counted for either kind of column the rarer class would lose.
    classes = np.repeat([0, 1], [100, 400])
    name = Nominal(np.repeat([0, 1, 0, 1], [50, 50, 20, 380]), np.array(["telling", "usual"]))
    table = Table(("name", "number"), (name, Numeric(np.tile([-1.0, 1.0], 250))), 500)
    labels = Nominal(classes, np.array(["rare", "common"]))
    assert set(train(NAIVE_BAYES, table, labels, 0)(table.take(np.flatnonzero(name.codes == 0)))) == {0}


def test_columns_that_tell_nothing_leave_the_prior() -> None:
    flat = Table(("name", "number"), (Nominal(np.zeros(9, int), np.array(["a"])), Numeric(np.zeros(9))), 9)
    labels = Nominal(np.array([0] * 4 + [1] * 5), np.array(["rare", "common"]))
    assert set(train(NAIVE_BAYES, flat, labels, 0)(flat)) == {1}


def test_a_column_with_many_names_needs_no_column_for_each() -> None:
    names = Nominal(np.arange(5000), np.array([f"patient {i}" for i in range(5000)]))
    table = Table(("id",), (names,), 5000)
    assert Points.of(table).place(table).shape[1] <= MOST_INDICATORS + 1


def test_to_a_linear_svm_a_column_turned_around_says_the_same() -> None:
    """A charge for the intercept would favour lines through the lowest number."""
    one, other = (labelled(sign * np.arange(10.0)[:, None], np.repeat(["ill", "well"], [3, 7])) for sign in (1, -1))
    found = [train(SVM, given.table, given.labels, 0)(given.table).tolist() for given in (one, other)]
    assert found[0] == found[1]


def test_a_tree_has_no_leaf_of_one_row() -> None:
    ill_first = labelled(np.arange(10.0)[:, None], np.array(["ill", *["well"] * 9]))
    assert len(set(train(TREE, ill_first.table, ill_first.labels, 0)(ill_first.table))) == 1


def test_a_tree_is_cut_back_where_nothing_is_to_be_learned() -> None:
    random = np.random.default_rng(3)
    noise = labelled(random.normal(size=(300, 3)), random.random(300) < 0.7)
    assert len(set(train(TREE, noise.table, noise.labels, 0)(noise.table))) == 1


def test_progress_names_each_classifier() -> None:
    seen: list[str] = []
    utility(IRIS, IRIS, progress=lambda what, done, total: seen.append(what))
    assert [what.removeprefix("utility: ") for what in seen] == list(CLASSIFIERS)


def test_numbers_stand_on_the_range_of_their_column() -> None:
    table = Table(("x",), (Numeric(np.array([1000.0, 1000.5, 1001.0, np.nan])),), 4)
    assert Points.of(table).place(table)[:, 0] == pytest.approx([0, 0.5, 1, 0.5])
