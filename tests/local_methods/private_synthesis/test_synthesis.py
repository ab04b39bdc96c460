"""Private synthesis on tables of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mixbayes.local_methods import BadParameter, PrivateSynthesis, UnfitTable
from mixbayes.local_methods.classifiers import NAIVE_BAYES, train
from mixbayes.local_methods.registry import configured
from mixbayes.local_methods.tables import Column, Nominal, Numeric, Table, nominal_from
from tests.local_methods.mixed import classes, mixed_table

DOMAIN: dict[str, Any] = {
    "first": (0.0, 100.0),
    "second": (0.0, 200.0),
    "whole": (0, 20),
    "tied": ["high", "low"],
    "free": ["a", "b", "c"],
}


def released(table: Table, labels: Nominal | None, **settings: Any) -> tuple[Table, Nominal | None, PrivateSynthesis]:
    method = PrivateSynthesis(**{"epsilon": 2.0, "random_state": 1, **settings})
    made, of_rows = method.fit_resample(table, labels)
    assert method.guarantee_.holds
    assert isinstance(made, Table)
    assert made.names == table.names
    return made, of_rows, method


def of_names(*cells: str | None) -> Nominal:
    array = np.array(cells, object)
    return nominal_from(array, np.array([cell is None for cell in cells]))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_a_release_stays_within_what_is_public(gaps: float, missing: str) -> None:
    table = mixed_table(400, gaps=gaps)
    made, labels, method = released(table, classes(150, 250), domain=DOMAIN, missing=missing, epsilon=20)
    assert labels is not None
    assert len(labels) == made.rows
    numbers = made.numbers()
    assert (np.nanmin(numbers, axis=0) >= 0).all()
    assert (np.nanmax(numbers, axis=0) <= [100, 200, 20]).all()
    whole = numbers[:, 2][~np.isnan(numbers[:, 2])]
    assert np.array_equal(whole, np.rint(whole))
    assert (made.missing_cells() > made.rows) == (gaps > 0 and missing == "keep")
    assert method.outside_ == dict.fromkeys(table.names, 0)


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        ([Numeric(np.full(50, 7.0)), of_names(*["a"] * 50)], classes(20, 30)),
        ([Numeric(np.full(50, np.nan)), of_names(*[None] * 50), Numeric(np.arange(50.0))], classes(20, 30)),
        ([Numeric(np.arange(50.0)), of_names(*"ab" * 25)], classes(50)),
        ([Numeric(np.arange(50.0)), of_names(*"ab" * 25)], None),
        ([of_names(*map(str, range(50)))], classes(20, 30)),
        ([Numeric(np.array([3.5]))], classes(1)),
    ],
    ids=["constant", "nothing there", "one class", "no class", "every value once", "one row"],
)
def test_no_table_is_too_odd(columns: list[Column], labels: Nominal | None) -> None:
    table = Table(tuple(f"c{at}" for at in range(len(columns))), tuple(columns), len(columns[0]))
    made, of_rows, _ = released(table, labels)
    assert (of_rows is None) == (labels is None)
    assert made.rows >= 1
    assert [type(column) for column in made.columns] == [type(column) for column in columns]


def test_a_column_without_a_cell_does_not_change_how_rows_are_dropped() -> None:
    """One cell in such a column must not decide whether all other rows are left out."""
    table = mixed_table(40)
    empty = Table((*table.names, "empty"), (*table.columns, Numeric(np.full(40, np.nan))), 40)
    with pytest.raises(UnfitTable, match="Every row has a missing cell"):
        PrivateSynthesis(epsilon=1, missing="drop").fit_resample(empty, classes(20, 20))


def test_the_guarantee_says_what_it_promises_to_whom_and_what_not() -> None:
    table = mixed_table(60)
    *_, seeded = released(table, classes(30, 30))
    *_, unknown = released(table, classes(30, 30), domain=DOMAIN, random_state=None)
    promise, other = seeded.guarantee_, unknown.guarantee_
    assert promise.people == (
        "(2, 1e-06)-differential privacy for one row added or removed while nobody knows the seed, if the bounds and "
        "values on which nobody agreed are public"
    )
    assert "the bounds of first, second, whole tell nothing" in promise.not_promised
    assert "the values of tied, free tell nothing" in promise.not_promised
    assert "whoever knows the seed" in promise.not_promised
    assert other.people == "(2, 1e-06)-differential privacy for one row added or removed"
    assert "seed" not in other.not_promised
    assert "bounds" not in other.not_promised
    assert "adds up" in other.not_promised
    assert promise.measured is not None
    assert 0 < promise.measured <= 1e-6


def test_the_system_draws_other_noise_each_time_and_a_seed_the_same() -> None:
    table, labels = mixed_table(60), classes(30, 30)
    once, again = (released(table, labels)[0].numbers() for _ in range(2))
    assert np.array_equal(once, again, equal_nan=True)
    rows = {released(table, labels, random_state=None)[0].rows for _ in range(6)}
    assert len(rows) > 1


def test_what_is_learned_is_noisy_or_public() -> None:
    table = Table(("n", "x"), (of_names(*"a" * 300, *"b" * 290, "z"), Numeric(np.arange(591.0))), 591)
    *_, method = released(table, classes(300, 291), epsilon=4)
    assert method.learned().keys() == {"epsilon", "delta", "pairs", "deviation", "merged"}
    assert method.merged_ in ({}, {"n": ["z"]})
    assert method.deviation_ > 1


def test_classes_are_kept_apart_where_there_is_room_for_noise() -> None:
    X, y = load_iris(return_X_y=True)
    table = Table(tuple("abcd"), tuple(Numeric(column.copy()) for column in X.T), 150)
    made, labels, _ = released(table, Nominal(np.asarray(y, np.int64), np.arange(3)), epsilon=30)
    assert labels is not None
    assert (train(NAIVE_BAYES, made, labels, 0)(table) == y).mean() > 0.85


def parts(count: int) -> Iterator[tuple[Table, Nominal]]:
    for at in range(count):
        yield mixed_table(500, seed=at), classes(200 + at, 300 - at)


def test_parts_give_what_the_whole_table_gives() -> None:
    tables = list(parts(3))
    columns = zip(*(part.columns for part, _ in tables), strict=True)
    whole = Table(tables[0][0].names, tuple(map(_joined, columns)), 1500)
    labels = Nominal(np.concatenate([one.codes for _, one in tables]), tables[0][1].values)
    *_, once = released(whole, labels, domain=DOMAIN)
    in_parts = PrivateSynthesis(epsilon=2.0, domain=DOMAIN, random_state=1)
    found = list(in_parts.fit_resample_parts(iter(tables)))
    assert in_parts.learned() == once.learned()
    assert in_parts.guarantee_ == once.guarantee_
    (made, of_rows), *_ = found
    assert of_rows is not None
    assert made.rows == len(of_rows) == once.fit_resample(whole, labels)[0].rows


def _joined(columns: tuple[Column, ...]) -> Column:
    if isinstance(columns[0], Numeric):
        return Numeric(np.concatenate([one.cells() for one in columns]))
    cells = np.concatenate([one.cells() for one in columns])
    return nominal_from(cells, np.zeros(len(cells), bool))


def test_parts_need_a_domain_and_the_same_classes() -> None:
    with pytest.raises(UnfitTable, match="The domain says nothing of 'first'"):
        PrivateSynthesis(epsilon=1).fit_resample_parts(parts(1))
    with pytest.raises(UnfitTable, match="no part of a table"):
        PrivateSynthesis(epsilon=1).fit_resample_parts([])
    another = [(mixed_table(3), classes(2, 1)), (mixed_table(3), classes(1, 1, 1))]
    with pytest.raises(UnfitTable, match="class 'C' is not among those of the first part"):
        PrivateSynthesis(epsilon=1, domain=DOMAIN).fit_resample_parts(another)
    with pytest.raises(UnfitTable, match="Some parts of the table have classes"):
        PrivateSynthesis(epsilon=1, domain=DOMAIN).fit_resample_parts([another[0], (mixed_table(3), None)])


@pytest.mark.parametrize(
    "settings", [{"epsilon": "0"}, {"epsilon": "1", "delta": "1"}, {"epsilon": "1", "missing": "fill"}]
)
def test_settings_without_meaning_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(BadParameter):
        configured("private-synthesis", settings).fit_resample(mixed_table(10))
