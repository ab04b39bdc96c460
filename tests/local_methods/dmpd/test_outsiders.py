"""What outsiders find who know different columns, and how many classes they find behind a combination."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from mixbayes.local_methods import DMPD, AnonymityTradeoff, BadParameter, UnfitTable
from mixbayes.local_methods.tables import Nominal, Table, nominal_from
from tests.local_methods.mixed import classes


def method(**settings: Any) -> DMPD:
    return DMPD(**{"k": 3, "population": 10, "generations": 5, "random_state": 0, **settings})


def table(rows: int = 240) -> tuple[Table, Nominal]:
    """Three classes; `told` has a value of one class only, `hinted` values of two, `vague` of all."""
    labels = classes(rows // 3, rows // 3, rows // 3)
    random = np.random.default_rng(0)
    told = np.where(labels.codes == 0, "x", np.array(["y", "z"])[random.integers(0, 2, rows)])
    hinted = np.array([["a", "b"], ["b", "c"], ["c", "a"]])[labels.codes, random.integers(0, 2, rows)]
    vague = np.where(random.random(rows) < np.array([0.8, 0.5, 0.2])[labels.codes], "p", "q")
    columns = [nominal_from(cells, np.zeros(rows, bool)) for cells in (told, hinted, vague)]
    return Table(("told", "hinted", "vague"), tuple(columns), rows), labels


def classes_of(released: Table, labels: Nominal, names: list[str]) -> dict[Any, set[Any]]:
    found = defaultdict(set)
    for *cells, label in zip(*(released.column(name).cells().tolist() for name in names), labels.cells(), strict=True):
        found[tuple(cells)].add(label)
    return found


@pytest.mark.parametrize("inducer", ["naive-bayes", "tree"])
def test_every_combination_has_rows_of_so_many_classes(inducer: str) -> None:
    chosen = method(l=2, inducer=inducer)
    released, labels = chosen.fit_resample(*table())
    counted = [classes_of(released, labels, names) for names in chosen.projections_]
    least = min(len(found) for projection in counted for found in projection.values())
    assert chosen.left_out_ == ["told"]
    assert least == chosen.diversity_ == 2
    assert chosen.guarantee_.holds
    assert "3 rows of at least 2 classes" in chosen.guarantee_.claim
    assert method(inducer=inducer).fit(*table()).diversity_ == 1


def test_of_all_classes_rejoining_leaves_all() -> None:
    chosen = method(l=3).fit(*table())
    assert chosen.projections_ == [["vague"]]
    assert chosen.rejoined_diversity_ == 3


def test_a_release_of_fewer_classes_is_found_out() -> None:
    chosen = method()
    work = chosen.work(*table())
    released = chosen._release(work)
    assert chosen._guarantee(work, released).holds
    chosen.l = 2
    assert not chosen._guarantee(work, released).holds


def test_more_classes_than_there_are() -> None:
    for search in (method(l=4), AnonymityTradeoff(l=4)):
        with pytest.raises(UnfitTable, match="l = 4: the rows have 3 different classes"):
            search.fit(*table())


def test_who_knows_the_class_has_none_to_learn() -> None:
    for search in (method(l=2, class_in_key=True), AnonymityTradeoff(l=2, class_in_key=True)):
        with pytest.raises(BadParameter, match="Set one of the two"):
            search.fit(*table())


def test_trade_offs_are_of_enough_classes_too() -> None:
    front = AnonymityTradeoff(l=2, population=10, generations=5, runs=1, random_state=0).fit(*table()).front_
    assert all("told" in one.left_out for one in front)
    assert any("hinted" in names for one in front for names in one.projections)


def rare_together() -> tuple[Table, Nominal]:
    """Ten rows have each combination of three columns, twenty any of two. The three tell the class, and no two."""
    cells = np.array([[a, b, c] for a in "ab" for b in "ab" for c in "ab"] * 10).T
    columns = [nominal_from(column, np.zeros(80, bool)) for column in cells]
    labels = nominal_from(np.where((cells == "a").sum(axis=0) % 2, "sick", "well"), np.zeros(80, bool))
    return Table(("age", "job", "zip"), tuple(columns), 80), labels


def test_k_is_held_for_each_outsider() -> None:
    """No outsider knows all three columns, so all three may be released together."""
    together = method(k=20, inducer="tree", generations=20).fit(*rare_together())
    apart = method(k=20, inducer="tree", generations=20, quasi_identifiers=[["age", "job"], ["job", "zip"]])
    apart.fit(*rare_together())
    assert max(map(len, together.projections_), default=0) < 3
    assert [sorted(names) for names in apart.projections_] == [["age", "job", "zip"]]
    assert apart.accuracy_ == 1 > together.accuracy_
    assert apart.anonymity_ == apart.guarantee_.measured == 20


def test_levels_are_those_of_the_outsider_who_finds_least() -> None:
    sets = [["told"], ["hinted", "vague"]]
    chosen = method(k=2, quasi_identifiers=sets).fit(*table())
    alone = [method(k=2, quasi_identifiers=names).fit(*table()) for names in sets]
    assert chosen.projections_ == alone[0].projections_ == alone[1].projections_
    for level in ("anonymity_", "rejoined_anonymity_", "rejoined_anonymity_with_class_", "rejoined_diversity_"):
        assert getattr(chosen, level) == min(getattr(one, level) for one in alone)


def test_an_outsider_who_knows_nothing_is_refused() -> None:
    with pytest.raises(BadParameter, match="names no column"):
        method(quasi_identifiers=[["told"], []]).fit(*table())
