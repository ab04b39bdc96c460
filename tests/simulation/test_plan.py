"""Who holds which rows and which are asked about: every row has one place."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.simulation.plan import Plan, plan, split_at_random
from mixbayes.tables.columns import Columns

seeds = st.integers(0, 2**32)


def table(rows: int, first: int = 0) -> Columns:
    """Rows that say who they are, twice."""
    names = np.arange(first, first + rows).astype(np.str_)
    return Columns.of(("id", "class"), (names, np.char.add("c", names)), rows)


def ids(columns: Columns) -> list[int]:
    """Who is in a table, once each row is seen to be whole."""
    assert [f"c{name}" for name in columns.texts("id")] == columns.texts("class").tolist()
    return [int(name) for name in columns.texts("id")]


def planned(
    tables: Mapping[str, Columns],
    *,
    hospitals: int | None = None,
    two_party: bool = False,
    classify: Columns | None = None,
    holdout: float = 0.3,
    seed: int = 0,
) -> Plan:
    return plan(tables, hospitals=hospitals, two_party=two_party, classify=classify, holdout=holdout, seed=seed)


def held(plan: Plan) -> dict[str, list[int]]:
    return {name: ids(table) for name, table in plan.training.items()}


@given(st.integers(1, 9), st.integers(0, 60), seeds)
def test_split_gives_every_row_to_one_hospital(hospitals: int, spare: int, seed: int) -> None:
    rows = hospitals + spare
    parts = split_at_random(table(rows), hospitals, np.random.default_rng(seed))
    assert list(parts) == [f"hospital-{i}" for i in range(1, hospitals + 1)]
    assert sorted(who for part in parts.values() for who in ids(part)) == list(range(rows))
    sizes = [part.rows for part in parts.values()]
    assert max(sizes) - min(sizes) <= 1
    assert all(ids(part) == sorted(ids(part)) for part in parts.values())


def test_split_of_too_few_rows_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadData, match="2 rows cannot be split over 3 hospitals: give more rows or fewer hospitals"):
        split_at_random(table(2), 3, np.random.default_rng(0))
    with pytest.raises(BadData, match="The table: there are no rows below the header"):
        split_at_random(table(0), 3, np.random.default_rng(0))


def test_split_is_at_random() -> None:
    parts = split_at_random(table(300), 3, np.random.default_rng(0))
    thirds = [set(range(start, start + 100)) for start in (0, 100, 200)]
    for part in parts.values():
        assert all(len(third & set(ids(part))) > 10 for third in thirds)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=5), st.floats(0, 0.9), seeds)
def test_held_out_rows_are_asked_about_and_nothing_else_is(sizes: list[int], share: float, seed: int) -> None:
    tables = {f"h{i}": table(rows, 100 * i) for i, rows in enumerate(sizes)}
    result = planned(tables, holdout=share, seed=seed)
    asked, trained = ids(result.questions), held(result)
    assert list(trained) == list(tables)
    for i, (name, rows) in enumerate(zip(tables, sizes, strict=True)):
        mine = [who for who in asked if who // 100 == i]
        assert sorted(mine + trained[name]) == list(range(100 * i, 100 * i + rows))
        assert len(mine) == round(share * rows)
        assert trained[name] == sorted(trained[name])
    assert asked == sorted(asked)  # hospital by hospital, each in its own order
    assert result.asked == {name: round(share * rows) for name, rows in zip(tables, sizes, strict=True)}


def test_held_out_rows_are_chosen_at_random() -> None:
    asked = ids(planned({"a": table(300), "b": table(300, 1000)}, holdout=0.5).questions)
    assert all(10 < sum(start <= who < start + 100 for who in asked) < 90 for start in (0, 100, 200, 1000, 1100, 1200))


@given(seeds)
def test_seed_decides(seed: int) -> None:
    first, again, other = (planned({"all": table(60)}, seed=number) for number in (seed, seed, seed + 1))
    assert (held(first), ids(first.questions)) == (held(again), ids(again.questions))
    assert held(first) != held(other)


def test_nothing_held_out() -> None:
    result = planned({"a": table(3), "b": table(2, 100)}, holdout=0.0)
    assert held(result) == {"a": [0, 1, 2], "b": [100, 101]}
    assert (result.questions.rows, result.questions.names) == (0, ("id", "class"))


@pytest.mark.parametrize(("hospitals", "two_party", "due"), [(None, False, 3), (5, False, 5), (None, True, 2)])
def test_one_table_is_split(hospitals: int | None, two_party: bool, due: int) -> None:
    result = planned({"all": table(20)}, hospitals=hospitals, two_party=two_party, classify=table(4))
    assert len(result.training) == due
    assert sorted(who for part in held(result).values() for who in part) == list(range(20))


@pytest.mark.parametrize(("hospitals", "two_party"), [(None, False), (2, False), (None, True), (2, True)])
def test_tables_are_trained_on_whole_beside_a_table_to_classify(hospitals: int | None, two_party: bool) -> None:
    north = table(3)
    tables = {"north": north, "south": table(2, 100)}
    result = planned(tables, hospitals=hospitals, two_party=two_party, classify=north, holdout=0.9)
    assert held(result) == {"north": [0, 1, 2], "south": [100, 101]}
    assert result.questions is north
    assert result.asked == {"north": 3}


@pytest.mark.parametrize(
    ("number", "hospitals", "two_party", "why"),
    [
        (3, None, True, "3 tables were given, one hospital each, and --two-party takes two hospitals."),
        (2, 3, False, "2 tables were given, one hospital each, and --hospitals says 3."),
    ],
)
def test_other_number_of_tables_is_refused(number: int, hospitals: int | None, two_party: bool, why: str) -> None:
    tables = {f"h{i}": table(3) for i in range(number)}
    with pytest.raises(Unsupported, match=re.escape(why)):
        planned(tables, hospitals=hospitals, two_party=two_party)
