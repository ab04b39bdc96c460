"""DMPD as an estimator: what it releases, what it promises, and what it does with awkward tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mixbayes.local_methods import DMPD, BadParameter, UnfitTable
from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.projections import rejoined
from mixbayes.local_methods.tables import Nominal, Numeric, Table, nominal_from
from tests.local_methods.mixed import classes, mixed_table, real_table


def labels_of(table: Table, seed: int = 0) -> Nominal:
    """Mostly what the column `tied` says."""
    random = np.random.default_rng(seed)
    tied = table.column("tied").cells() == "high"
    sick = np.where(random.random(table.rows) < 0.1, ~tied, tied)
    return nominal_from(np.where(sick, "sick", "well"), np.zeros(table.rows, bool))


def method(**settings: Any) -> DMPD:
    return DMPD(**{"k": 8, "population": 12, "generations": 6, "random_state": 0, **settings})


def cells(table: Table, names: list[str], labels: Nominal | None = None) -> Counter[tuple[Any, ...]]:
    """How often each combination occurs, with the class if it is given; a missing cell is None."""
    columns = [[None if c != c else c for c in table.column(name).cells().tolist()] for name in names]
    return Counter(zip(*columns, *([labels.cells().tolist()] if labels else []), strict=True))


@pytest.mark.parametrize("inducer", ["naive-bayes", "tree"])
def test_the_promise_counted_by_hand(inducer: str) -> None:
    table = mixed_table(200, gaps=0.1)
    labels = labels_of(table)
    chosen = method(inducer=inducer)
    released, released_labels = chosen.fit_resample(table, labels)
    assert chosen.projections_
    for names in chosen.projections_:
        assert min(cells(released, names).values()) >= 8
    assert chosen.anonymity_ == min(min(cells(released, names).values()) for names in chosen.projections_)
    assert chosen.guarantee_.holds
    assert chosen.guarantee_.people == "8-anonymity of the quasi-identifiers in each projection by itself"
    assert chosen.guarantee_.measured == chosen.anonymity_
    assert sorted([name for names in chosen.projections_ for name in names] + chosen.left_out_) == sorted(table.names)
    assert sorted(released_labels.cells()) == sorted(labels.cells())


def test_every_count_by_class_is_that_of_the_intervals() -> None:
    """What a hospital counts: the joint classifier must not notice that projections were shuffled."""
    table = mixed_table(200, gaps=0.1)
    labels = labels_of(table)
    chosen = method(inducer="tree")
    released, released_labels = chosen.fit_resample(table, labels)
    discretised = chosen.transform(table)
    for name in table.names:
        assert cells(released, [name], released_labels) == cells(discretised, [name], labels)


def test_numbers_are_the_means_of_their_intervals() -> None:
    table = mixed_table(200)
    labels = labels_of(table)
    chosen = method(k=2)
    discretised = chosen.fit(table, labels).transform(table)
    kept = [name for names in chosen.projections_ for name in names if isinstance(table.column(name), Numeric)]
    assert kept
    for name in kept:
        before, after = table.column(name).cells(), discretised.column(name).cells()
        assert np.all(np.diff(after[before.argsort()]) >= 0)
        for mean in np.unique(after):
            assert mean == pytest.approx(before[after == mean].mean())


def test_new_rows_have_the_intervals_of_the_rows_that_were_learned_from() -> None:
    table, asked = mixed_table(200), mixed_table(200, seed=3)
    chosen = method(k=2)
    released, _ = chosen.fit_resample(table, labels_of(table))
    answered = chosen.transform(asked)
    kept = [name for names in chosen.projections_ for name in names if isinstance(table.column(name), Numeric)]
    assert kept
    for name in kept:
        assert set(answered.column(name).cells()) <= set(released.column(name).cells())


def test_left_out_columns_are_missing() -> None:
    table = mixed_table(100)
    chosen = method(k=40)
    released, _ = chosen.fit_resample(table, labels_of(table))
    assert "free" in chosen.left_out_
    for name in chosen.left_out_:
        assert released.column(name).missing.all()
        assert chosen.transform(table).column(name).missing.all()


def test_projections_apart_say_what_the_release_says() -> None:
    table = mixed_table(100)
    chosen = method(k=4, inducer="tree")
    released, labels = chosen.fit_resample(table, labels_of(table))
    apart = chosen.projections(released, labels)
    assert [list(one.table.names) for one in apart] == chosen.projections_
    for one in apart:
        names = list(one.table.names)
        assert cells(one.table, names, one.labels) == cells(released, names, labels)
    assert len({one.labels.codes.tobytes() for one in apart}) == len(apart)


def test_projections_apart_are_in_an_order_that_the_seed_alone_decides() -> None:
    """Whose table is in another order has them in the same, and who has another seed in another."""
    table = mixed_table(100)
    chosen = method(k=4)
    released, labels = chosen.fit_resample(table, labels_of(table))
    order = np.random.default_rng(5).permutation(100)
    one = chosen.projections(released, labels)
    for before, after in zip(one, chosen.projections(released.take(order), labels.take(order)), strict=True):
        assert before.labels.codes.tolist() == after.labels.codes.tolist()
    shuffled = [method(k=4, random_state=seed).fit(table, labels_of(table))._shuffle for seed in (0, 1)]
    assert shuffled[0] != shuffled[1]


def test_who_knows_the_seed_cannot_undo_the_shuffle() -> None:
    """The release depends on the rows, not on their order."""
    table, labels = mixed_table(60, gaps=0.1), classes(20, 40)
    order = np.random.default_rng(5).permutation(60)
    one, same = (
        rejoined(t, y, [(0, 3), (4,)], np.random.default_rng(0))
        for t, y in ((table, labels), (table.take(order), labels.take(order)))
    )
    assert one[1].codes.tolist() == same[1].codes.tolist()
    for before, after in zip(one[0].columns, same[0].columns, strict=True):
        np.testing.assert_array_equal(before.cells(), after.cells())


def test_rows_of_different_projections_are_not_linked() -> None:
    """Two columns that are equal in every row, in two projections: no more rows agree than by chance."""
    column = nominal_from(np.random.default_rng(0).choice(list("abcdefgh"), 4000), np.zeros(4000, bool))
    table = Table(("one", "two"), (column, column), 4000)
    released, _ = rejoined(table, classes(2000, 2000), [(0,), (1,)], np.random.default_rng(1))
    agree = (released.column("one").cells() == released.column("two").cells()).mean()
    assert agree == pytest.approx(1 / 8, abs=0.03)


def test_only_quasi_identifiers_are_held_to_k() -> None:
    table = mixed_table(100)
    unique = nominal_from(np.array([f"p{row}" for row in range(100)]), np.zeros(100, bool))
    table = Table((*table.names, "name"), (*table.columns, unique), 100)
    assert "name" in method().fit(table, labels_of(table)).left_out_
    chosen = method(quasi_identifiers=["tied", "free"], mutation=0.0, crossover=0.0)
    released, _ = chosen.fit_resample(table, labels_of(table))
    assert chosen.guarantee_.holds
    held = [set(names) & {"tied", "free"} for names in chosen.projections_]
    assert min(min(cells(released, sorted(names)).values()) for names in held if names) >= 8


def test_with_the_class_in_the_key_rejoining_is_safe() -> None:
    table, labels = mixed_table(300), classes(100, 100, 100)
    chosen = method(k=5, class_in_key=True, inducer="tree")
    released, released_labels = chosen.fit_resample(table, labels)
    for names in chosen.projections_:
        assert min(cells(released, names, released_labels).values()) >= 5
    assert "of one class" in chosen.guarantee_.claim
    assert chosen.rejoined_anonymity_ >= 5 ** len(chosen.projections_)


def test_a_release_below_k_is_found_out() -> None:
    """The promise is checked on the release, not on what the search believed."""
    table = mixed_table(100)
    chosen = method()
    work = chosen.work(table, labels_of(table))
    released = chosen._release(work)
    chosen.k = 101
    assert not chosen._guarantee(work, released).holds


def test_a_release_with_other_counts_is_found_out() -> None:
    table = mixed_table(100)
    chosen = method()
    work = chosen.work(table, labels_of(table))
    released = chosen._release(work)
    assert chosen._guarantee(work, released).holds
    assert released.labels is not None
    swapped = released.labels.with_codes(1 - released.labels.codes)
    assert not chosen._guarantee(work, type(released)(released.table, swapped)).holds


def test_the_combined_classifier_is_about_as_good_as_the_search_says() -> None:
    table, asked = mixed_table(400), mixed_table(400, seed=1)
    for inducer in ("naive-bayes", "tree"):
        chosen = method(inducer=inducer).fit(table, labels_of(table))
        found = chosen.classifier_.predict(chosen.transform(asked))
        right = (found == labels_of(asked, seed=1).codes).mean()
        assert right == pytest.approx(chosen.accuracy_, abs=0.06)
        assert right > 0.8


def test_values_that_training_did_not_have_tell_nothing() -> None:
    table = mixed_table(200)
    chosen = method(k=2).fit(table, labels_of(table))
    strange = mixed_table(3, seed=2).with_columns(
        {at: nominal_from(np.array(["new"] * 3), np.zeros(3, bool)) for at in (3, 4)}
        | {at: Numeric(np.full(3, np.nan)) for at in (0, 1, 2)}
    )
    assert len(set(chosen.classifier_.predict(chosen.transform(strange)))) == 1


def test_new_rows_of_other_types_and_widths() -> None:
    table = mixed_table(100)
    chosen = method().fit(table, labels_of(table))
    with pytest.raises(UnfitTable, match="expecting 5 features"):
        chosen.transform(table.select([0, 1]))
    renamed = Table(("first", "second", "whole", "other", "free"), table.columns, 100)
    with pytest.raises(UnfitTable, match="no column 'tied'"):
        chosen.transform(renamed)


def test_more_than_there_are_rows() -> None:
    table = mixed_table(20)
    with pytest.raises(UnfitTable, match="k = 21"):
        method(k=21).fit(table, labels_of(table))


def test_all_rows_alike_reach_any_k() -> None:
    table = Table(("a",), (nominal_from(np.array(["x"] * 9), np.zeros(9, bool)),), 9)
    assert method(k=9).fit(table, classes(9)).anonymity_ == 9


def test_where_no_column_can_be_released_nothing_is() -> None:
    random = np.random.default_rng(0)
    numbers = Table(("a", "b"), tuple(Numeric(random.normal(size=50)) for _ in range(2)), 50)
    chosen = method()
    released, labels = chosen.fit_resample(numbers, classes(25, 25))
    assert chosen.projections_ == []
    assert released.missing().all()
    assert np.bincount(labels.codes).tolist() == [25, 25]
    assert "nothing is released" in chosen.guarantee_.claim
    assert chosen.accuracy_ == pytest.approx(0.5)


@pytest.mark.parametrize(("k", "people"), [(1, None), (2, "2-anonymity of the quasi-identifiers")])
def test_one_row_by_itself_is_no_promise_to_people(k: int, people: str | None) -> None:
    promised = method(k=k).fit(mixed_table(50), classes(25, 25)).guarantee_.people
    assert promised == people or (people is not None and str(promised).startswith(people))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_tiny_tables(rows: int) -> None:
    released, _ = method(k=1).fit_resample(mixed_table(rows), classes(rows))
    assert released.rows == rows


def test_one_class_is_always_right() -> None:
    table = mixed_table(50)
    for inducer in ("naive-bayes", "tree"):
        assert method(inducer=inducer).fit(table, classes(50)).accuracy_ == 1


def test_missing_cells_three_ways() -> None:
    table = mixed_table(200, gaps=0.05)
    labels = labels_of(table)
    kept, _ = method(missing="keep").fit_resample(table, labels)
    filled, _ = method(missing="fill").fit_resample(table, labels)
    dropped, _ = method(missing="drop").fit_resample(table, labels)
    tied = [r.column("tied").missing.sum() for r in (kept, filled, dropped)]
    assert tied == [table.column("tied").missing.sum(), 0, 0]
    assert dropped.rows < 200


def test_an_empty_column_comes_back_empty() -> None:
    table = mixed_table(100)
    table = Table((*table.names, "none"), (*table.columns, Numeric(np.full(100, np.nan))), 100)
    chosen = method()
    released, _ = chosen.fit_resample(table, labels_of(table))
    assert released.names == table.names
    assert released.column("none").missing.all()
    assert chosen.transform(table).names == table.names


def test_data_frames_keep_their_columns() -> None:
    table = mixed_table(100)
    frame = pd.DataFrame({name: table.column(name).cells() for name in table.names})
    chosen = method()
    released, labels = chosen.fit_resample(frame, pd.Series(labels_of(table).cells(), name="state"))
    assert list(released.columns) == list(table.names)
    assert labels.name == "state"
    assert [list(names) for names in chosen.projections_]


def test_the_same_seed_gives_the_same_release() -> None:
    table = mixed_table(100)
    one, same, other = (method(random_state=seed).fit_resample(table, labels_of(table)) for seed in (1, 1, 2))
    assert one[1].codes.tolist() == same[1].codes.tolist() != other[1].codes.tolist()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"k": 0}, "'k'"),
        ({"inducer": "oracle"}, "'inducer'"),
        ({"population": 1}, "'population'"),
        ({"quasi_identifiers": []}, "names no column"),
    ],
)
def test_parameters_out_of_range(settings: dict[str, Any], said: str) -> None:
    table = mixed_table(50)
    with pytest.raises(BadParameter, match=said):
        method(**settings).fit(table, labels_of(table))


def test_a_quasi_identifier_that_is_not_there() -> None:
    table = mixed_table(50)
    with pytest.raises(UnfitTable, match="no column 'postcode'"):
        method(quasi_identifiers=["postcode"]).fit(table, labels_of(table))


def test_codes_of_missing_cells_and_classes_are_dense() -> None:
    labels = Nominal(np.array([2, 0, 2]), np.array(list("abc")))
    found = Coded.of(Table(("n",), (Numeric(np.array([1.0, np.nan, 1.0])),), 3), labels)
    assert found.codes.tolist() == [[0, 1, 0]]
    assert (found.labels.tolist(), found.classes) == ([1, 0, 1], 2)


@pytest.mark.real_tables
def test_german_credit_at_ten() -> None:
    table, labels = real_table("german_credit.csv")
    chosen = DMPD(k=10, population=20, generations=20, random_state=0).fit(table, labels)
    assert chosen.guarantee_.holds
    assert chosen.accuracy_ > 0.74
