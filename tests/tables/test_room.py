"""Tables that no memory could hold are refused before the work, and what does fit takes no more than it must."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli import table_output
from mixbayes.cli.table_output import table_file
from mixbayes.local_methods import ClassWiseCondensation, PerturbationTree, points
from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.condensation import resynthesis
from mixbayes.protocol.errors import BadData
from mixbayes.tables import protecting, room
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer
from mixbayes.tables.method_table import as_table
from mixbayes.tables.protecting import Protection, left_as_they_were, protect, texts_of
from mixbayes.tables.room import OTHERWISE, memory_there, most_rows, refuse_too_large

ROWS = 20_000
MOST = 400
LONG = [f"{'a long text in every cell ' * 4}{at}" for at in range(5)]
METHODS = [PerturbationTree(leaf_size=50, random_state=0), ClassWiseCondensation(k=500, random_state=0)]


def large() -> Columns:
    random = np.random.default_rng(0)
    names = [np.array(LONG)[random.integers(0, 5, ROWS)] for _ in range(4)]
    numbers = [random.integers(0, 1000, ROWS).astype(str) for _ in range(2)]
    classes = np.array(["ill", "well"])[random.integers(0, 2, ROWS)]
    return Columns.of(("a", "b", "c", "d", "n", "m", "class"), (*names, *numbers, classes), ROWS)


def released(method: LocalMethod, table: Columns) -> int:
    """The bytes of a release, made as the command makes it."""
    read = as_table(table, ["n", "m"])
    made, labels = method.fit_resample(read.select(range(6)), read.column("class"))
    whole = type(read)(read.names, (*made.columns, labels), made.rows)
    texts = texts_of(method, table, whole)
    left_as_they_were(method, table, texts)
    return sum(map(len, table_file(Path("released.csv"), whole, texts)))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS, ids=["tree", "condensation"])
def test_nothing_holds_all_texts_of_a_column(method: LocalMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    """One column of such texts takes more than MOST bytes for every row."""
    for module in (protecting, table_output):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 500)
    monkeypatch.setattr(points, "FEW_NUMBERS", 0)
    monkeypatch.setattr(resynthesis, "AT_ONCE", 500)
    table = large()
    assert table.texts("a").nbytes > MOST * ROWS
    found = peak(lambda: released(method, table))
    assert found < MOST * ROWS


def test_a_hospital_that_protects_what_it_counts_holds_none_either(monkeypatch: pytest.MonkeyPatch) -> None:
    table = large()
    dictionary = infer([table], numeric=["n", "m"])
    tree = Protection("perturbation-tree", {"leaf_size": "50"})
    assert peak(lambda: protect(table, dictionary, tree, 0)) < MOST * ROWS
    monkeypatch.setattr(room, "memory_there", lambda: OTHERWISE)
    with pytest.raises(BadData, match=r"20,000 rows and 7 columns"):
        protect(table, dictionary, tree, 0)


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_table_that_does_not_fit_is_refused_with_the_rows_that_would() -> None:
    tree, memory = METHODS[0], OTHERWISE + 10_000 * 7 * METHODS[0].BYTES_A_CELL
    refuse_too_large(tree, 10_000, 7, memory)
    with pytest.raises(BadData, match=r"10,001 rows and 7 columns .* could hold 10,000 such rows"):
        refuse_too_large(tree, 10_001, 7, memory)
    assert most_rows(7, 40, OTHERWISE - 1) == 0


def test_every_table_of_a_usual_size_fits() -> None:
    for method in METHODS:
        refuse_too_large(method, 10_000, 20)


def test_a_container_may_have_less_than_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = memory_there()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(room, "LIMIT_OF_CONTAINER", limit)
    limit.write_text("max\n")
    assert memory_there() >= machine
    limit.write_text("1000000\n")
    assert memory_there() == 1_000_000
