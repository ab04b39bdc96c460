"""Columns made coarser until enough rows share every value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.dmpd.coarsening import EnoughShare, joined, merged
from mixbayes.local_methods.tables import Nominal, Numeric, Table, nominal_from

counted = st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=1, max_size=8).map(np.array)
shares = st.builds(EnoughShare, st.integers(1, 8), st.booleans(), st.integers(1, 2))


@given(counted, shares)
def test_intervals_are_merged_until_all_are_shared_or_one_is_left(counts: np.ndarray, shared: EnoughShare) -> None:
    counts = counts + np.array([1, 0])  # no interval is without numbers
    cuts = merged(counts, shared)
    left = np.add.reduceat(counts, np.append(0, cuts + 1), axis=0)
    assert shared(left).all() or not len(cuts)
    if shared(counts).all():
        assert cuts.tolist() == list(range(len(counts) - 1))


@given(counted, shares)
def test_values_are_joined_until_all_are_shared_or_none_is_left(counts: np.ndarray, shared: EnoughShare) -> None:
    hidden = joined(counts, shared)
    stay = counts[1:][~hidden]
    assert shared(stay[stay.any(axis=1)]).all()
    together = counts[0] + counts[1:][hidden].sum(axis=0)
    assert not together.any() or shared(together[None])[0] or not stay.any()


def test_an_interval_goes_to_the_neighbour_that_is_more_like_it() -> None:
    counts = np.array([[20, 0], [1, 3], [0, 20]])
    assert merged(counts, EnoughShare(5, False, 1)).tolist() == [0]


def test_of_the_values_the_rarest_join() -> None:
    counts = np.array([[0, 0], [9, 1], [2, 0], [3, 3], [0, 7]])
    assert joined(counts, EnoughShare(5, False, 1)).tolist() == [False, True, True, False]


def patients(rows: int = 300) -> tuple[Table, Nominal]:
    """A place that two rows have, a number with a rare interval at its end, and a name for each row."""
    random = np.random.default_rng(0)
    sick = random.random(rows) < 0.5
    ward = np.where(sick, "north", "south").astype("U9")
    ward[:2] = "elsewhere"
    age = np.where(sick, 60.0, 40.0) + random.integers(0, 15, rows).astype(np.float64)
    age[:3] += 100
    names = np.array([f"p{row}" for row in range(rows)])
    columns = (nominal_from(ward, np.zeros(rows, bool)), Numeric(age), nominal_from(names, np.zeros(rows, bool)))
    return Table(("ward", "age", "name"), columns, rows), nominal_from(np.where(sick, "sick", "well"), ~sick & False)


def method(**settings: Any) -> DMPD:
    return DMPD(**{"k": 10, "population": 10, "generations": 5, "coarsen": True, "random_state": 0, **settings})


@pytest.mark.parametrize("settings", [{}, {"class_in_key": True}, {"l": 2}, {"inducer": "tree"}])
def test_a_column_with_a_rare_value_is_released_and_the_promise_holds(settings: dict[str, Any]) -> None:
    table, labels = patients()
    fine, coarse = method(coarsen=False, **settings).fit(table, labels), method(**settings)
    released, _ = coarse.fit_resample(table, labels)
    assert coarse.guarantee_.holds
    assert coarse.anonymity_ >= 10
    assert set(coarse.left_out_) <= set(fine.left_out_)
    assert set(coarse.coarsened_) <= {name for names in coarse.projections_ for name in names}
    assert "name" in coarse.left_out_
    if not settings.keys() & {"l", "class_in_key"}:  # the ward tells the class, and what is joined must not
        assert "ward" in fine.left_out_
        assert "ward" in coarse.coarsened_
        assert "elsewhere" not in released.column("ward").cells()


def test_new_rows_are_made_as_coarse() -> None:
    table, labels = patients()
    chosen = method().fit(table, labels)
    asked = table.with_columns({0: nominal_from(np.array(["south", "new", "elsewhere"] * 100), np.zeros(300, bool))})
    given = chosen.transform(asked).column("ward").cells()
    assert given[:3].tolist() == ["south", None, None]
    assert len(set(chosen.classifier_.predict(chosen.transform(asked)))) == 2


def test_what_nobody_knows_stays_fine() -> None:
    table, labels = patients()
    chosen = method(quasi_identifiers=["age"])
    released, _ = chosen.fit_resample(table, labels)
    assert "elsewhere" in released.column("ward").cells()
