"""Other searches of partitions, and the true front."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES, TREE
from mixbayes.local_methods.dmpd.pareto import undominated
from mixbayes.local_methods.dmpd.partition import UNUSED
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Nominal, Table
from mixbayes.research.reproduction.jena_search import SEARCHES, SearchedColumns, _against, all_partitions, neighbours
from mixbayes.research.reproduction.jena_search_space import partitions


@pytest.fixture(scope="module")
def rows() -> Labelled:
    """Four columns of names: two say something about the class, one has a value that few rows share."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 200)
    told = [np.where(random.random(200) < likely, labels, 1 - labels) for likely in (0.8, 0.7)]
    rare = (np.arange(200) < 15).astype(np.int64)
    codes = [*told, random.integers(0, 3, 200), rare]
    columns = tuple(Nominal(each.astype(np.int64), np.array(["a", "b", "c"])) for each in codes)
    return Labelled(Table(("w", "x", "y", "z"), columns, 200), Nominal(labels, np.array(["no", "yes"])))


@pytest.mark.parametrize(("columns", "count"), [(1, 2), (2, 5), (3, 15), (4, 52)])
def test_every_partition_is_looked_at_once(columns: int, count: int) -> None:
    assert len(all_partitions(columns)) == partitions(columns) == count


def test_a_neighbour_has_one_feature_elsewhere() -> None:
    around = {tuple(row) for row in neighbours(np.array([0, 0, UNUSED])).tolist()}
    assert around == {(0, 1, -1), (-1, 1, -1), (0, -1, -1), (0, 0, 0), (0, 0, 2)}


@pytest.mark.parametrize("inducer", [NAIVE_BAYES, TREE])
@pytest.mark.parametrize("name", SEARCHES)
def test_no_search_finds_more_than_there_is(rows: Labelled, inducer: str, name: str) -> None:
    field = SearchedColumns.of(rows, rows.table.names, inducer, 10)
    everything = field.everything()
    assert everything is not None
    found = SEARCHES[name](field, 550, np.random.default_rng(0))
    assert 0.7 < found <= field.judge(everything).accuracies.max()


def test_sets_of_columns_hold_the_true_front_of_naive_bayes(rows: Labelled) -> None:
    field = SearchedColumns.of(rows, rows.table.names, NAIVE_BAYES, 1)
    used = field.everything()
    assert used is not None
    assert len(used) == 2**4
    sets, every = (undominated(field.judge(each)) for each in (used, all_partitions(4)))
    assert sets.levels.tolist() == every.levels.tolist()
    assert sets.accuracies.tolist() == every.accuracies.tolist()
    assert _against(every, sets)["of the true front"] == len(every.levels)
    assert _against(every, sets.take(np.array([0])))["largest loss, points of accuracy"] > 0
