"""Queries of an attacker, and what they find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mixbayes.local_methods.measures.disclosure import (
    Unknown,
    attribute_disclosure,
    codes_of,
    cuts_of,
    draw_queries,
    reidentification,
)
from mixbayes.local_methods.tables import MISSING, Nominal, Numeric, Table

WILDCARD, NO_MATCH = Unknown.WILDCARD, Unknown.NO_MATCH
tables = arrays(
    np.int64, st.tuples(st.integers(1, 3), st.integers(1, 12)), elements=st.integers(MISSING, 2).map(np.int64)
)


def codes(*columns: list[int]) -> np.ndarray:
    return np.array(columns, np.int64)


def draw(table: np.ndarray, seed: int = 0, **limits: int) -> np.ndarray:
    return draw_queries(table, np.random.default_rng(seed), **limits)


@given(tables, st.integers(0, 5))
def test_every_query_is_about_somebody_and_none_comes_twice(table: np.ndarray, seed: int) -> None:
    queries = draw(table, seed)
    assert len({tuple(query) for query in queries.tolist()}) == len(queries)
    for query in queries:
        asked = query != MISSING
        assert asked.any()
        assert (table[asked] == query[asked, None]).all(axis=0).any()


def test_all_queries_come_up_before_the_drawing_stops() -> None:
    queries = draw(codes([0, 1], [0, 1]))
    assert sorted(map(tuple, queries.tolist())) == [(-1, 0), (-1, 1), (0, -1), (0, 0), (1, -1), (1, 1)]


def test_the_drawing_stops_after_so_many_queries_that_add_nothing() -> None:
    table = np.random.default_rng(1).integers(0, 3, (6, 500)).astype(np.int64)
    sizes = [len(draw(table, patience=patience, most=10**6)) for patience in (1, 5, 50)]
    assert sizes == sorted(set(sizes))


def test_one_query_and_so_many_that_add_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(
        "mixbayes.local_methods.measures.disclosure._draw_query", lambda table, _: drawn.append(1) or (0,)
    )
    draw(codes([0]), patience=3)
    assert len(drawn) == 1 + 3


def test_the_drawing_stops_at_the_most_queries() -> None:
    table = np.random.default_rng(1).integers(0, 1000, (6, 500)).astype(np.int64)
    assert len(draw(table, most=37)) == 37


def test_the_same_seed_asks_the_same() -> None:
    table = np.random.default_rng(1).integers(0, 4, (6, 50)).astype(np.int64)
    assert np.array_equal(draw(table, 3), draw(table, 3))
    assert not np.array_equal(draw(table, 3), draw(table, 4))


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)])
def test_nothing_to_ask_about(shape: tuple[int, int]) -> None:
    table = np.zeros(shape, np.int64)
    assert draw(table).shape == (0, shape[0])
    assert np.isnan(reidentification(table, draw(table), WILDCARD))


def test_who_is_all_missing_is_not_asked_about() -> None:
    assert len(draw(np.full((2, 4), MISSING, np.int64))) == 0


def test_finding_is_one_over_the_rows_that_match() -> None:
    table = codes([0, 0, 0, 1], [5, 5, 6, 6])
    queries = codes([0, MISSING], [0, 5], [1, 6], [1, 5])
    for unknown in Unknown:
        assert reidentification(table, queries, unknown) == pytest.approx((1 / 3 + 1 / 2 + 1 + 0) / 4)


def test_a_missing_cell_is_a_candidate_as_a_wildcard_and_none_otherwise() -> None:
    table = codes([0, 0, MISSING, 1])
    query = codes([0])
    assert reidentification(table, query, WILDCARD) == pytest.approx(1 / 3)
    assert reidentification(table, query, NO_MATCH) == pytest.approx(1 / 2)


@given(tables, st.integers(0, 9))
def test_suppressing_lowers_the_risk_as_wildcard_and_never_lowers_a_match_otherwise(
    table: np.ndarray, seed: int
) -> None:
    queries = draw(table, seed)
    if not len(queries):
        return
    suppressed = np.where(np.random.default_rng(seed).random(table.shape) < 0.3, MISSING, table).astype(np.int64)
    assert reidentification(suppressed, queries, WILDCARD) <= reidentification(table, queries, WILDCARD) + 1e-12
    for query in queries:
        found = reidentification(suppressed, query[None], NO_MATCH)
        assert found == 0 or found >= reidentification(table, query[None], NO_MATCH)


def test_disclosure_is_the_share_of_the_commonest_sensitive_value() -> None:
    table = codes([0, 0, 0, 1, 1])
    sensitive = np.array([7, 7, 3, 3, 2], np.int64)
    assert attribute_disclosure(table, sensitive, codes([0]), WILDCARD) == pytest.approx(2 / 3)
    assert attribute_disclosure(table, sensitive, codes([1]), WILDCARD) == pytest.approx(1 / 2)
    assert attribute_disclosure(table, sensitive, codes([0], [1], [9]), WILDCARD) == pytest.approx((2 / 3 + 1 / 2) / 3)


def test_a_suppressed_sensitive_value_speaks_for_none_and_still_counts() -> None:
    table = codes([0, 0, 0, 0])
    sensitive = np.array([7, 7, MISSING, 3], np.int64)
    for unknown in Unknown:
        assert attribute_disclosure(table, sensitive, codes([0]), unknown) == pytest.approx(2 / 4)
    assert attribute_disclosure(table, np.full(4, MISSING, np.int64), codes([0]), WILDCARD) == 0


def test_one_sensitive_value_is_disclosed_to_everybody() -> None:
    table = codes([0, 1, 2], [2, 1, 0])
    assert attribute_disclosure(table, np.zeros(3, np.int64), draw(table), WILDCARD) == 1


def test_a_query_that_adds_something_starts_the_patience_anew() -> None:
    assert len(draw(codes(list(range(500))), patience=3)) > 50


def numbers(*values: float) -> Table:
    return Table(("x",), (Numeric(np.array(values, np.float64)),), len(values))


def test_each_of_few_values_is_a_bin_from_itself_up_to_the_next() -> None:
    cuts = cuts_of(numbers(0, 0, 0, 0, 0, 0, 0, 0, 1, 5))
    assert codes_of(numbers(-3, 0, 0.9, 1, 4.9, 5, 9, np.nan), cuts).tolist() == [[0, 0, 0, 1, 1, 2, 2, MISSING]]


def test_ten_values_are_few() -> None:
    table = numbers(*[0.0] * 100, *range(1, 10))
    assert cuts_of(table)[0].tolist() == list(range(1, 10))


def test_many_values_are_in_ten_bins_of_as_many_rows() -> None:
    table = numbers(*np.random.default_rng(1).lognormal(size=1000))
    assert np.bincount(codes_of(table, cuts_of(table))[0]).tolist() == [100] * 10


def test_nominal_columns_are_asked_for_by_their_values() -> None:
    table = Table(("x",), (Nominal(np.array([1, MISSING, 0]), np.array(["a", "b"])),), 3)
    assert codes_of(table, cuts_of(table)).tolist() == [[1, MISSING, 0]]
