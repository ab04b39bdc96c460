"""The comparison of DMPD with generalisation: its taxonomies, its learner and its verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.local_methods import Generalisation
from mixbayes.local_methods.generalisation.taxonomy import Taxonomy
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Nominal, Numeric, Table, nominal_from
from mixbayes.research.reproduction import fung, jena
from mixbayes.research.reproduction.adult_taxonomies import ADULT_TAXONOMIES
from mixbayes.research.reproduction.experiment import Laboratory, Row
from mixbayes.research.reproduction.public_tables import GERMAN_CREDIT


def drawn(rows: int = 80) -> Labelled:
    """The class is what the number says, and mostly what the word says."""
    random = np.random.default_rng(0)
    number = random.normal(size=rows)
    told = np.where(random.random(rows) < 0.9, number > 0, number < 0)
    words = nominal_from(np.where(told, "high", "low"), np.zeros(rows, bool))
    table = Table(("number", "word"), (Numeric(number), words), rows)
    return Labelled(table, Nominal((number > 0).astype(np.int64), np.array(["no", "yes"])))


@pytest.mark.parametrize("column", ADULT_TAXONOMIES)
def test_the_taxonomies_are_trees_of_which_no_node_has_one_child(column: str) -> None:
    tree = Taxonomy.read(column, ADULT_TAXONOMIES[column])
    written = [[child for child in children if child != tree.missing] for children in tree.children.values()]
    assert min(map(len, written)) >= 2


def test_taxonomies_are_for_adult_alone() -> None:
    table = drawn().table
    assert list(fung.variants(table, table.names)) == ["TDR", "TDR, cut where valid"]
    sex = nominal_from(np.array(["Male", "Female"] * 40), np.zeros(80, bool))
    adult = Table(("sex", "education-num"), (sex, table.columns[0]), 80)
    found = fung.variants(adult, adult.names)
    assert list(found["TDS"]["taxonomies"]) == ["sex"]


@pytest.mark.parametrize("inducer", jena.INDUCERS)
def test_what_is_released_is_learned_and_what_is_not_is_not(inducer: str) -> None:
    rows = drawn()
    halves = rows.take(np.arange(40)), rows.take(np.arange(40, 80))
    everything = fung.generalised(Generalisation(k=1, quasi_identifiers=["word"]), inducer, *halves)
    the_word = fung.generalised(Generalisation(k=1, quasi_identifiers=[["number"], ["word"]]), inducer, *halves)
    nothing = fung.generalised(Generalisation(k=40), inducer, *halves)
    assert min(everything, the_word) > 0.85
    assert nothing in np.bincount(halves[1].labels.codes) / 40


def test_verdicts_name_the_levels_at_which_methods_differ() -> None:
    random = np.random.default_rng(0)
    ours = [0.8 + random.normal(0, 0.01, 10) for _ in range(3)]
    theirs = [ours[0] - 0.1, ours[1] + random.normal(0, 0.01, 10), ours[2] + 0.1]
    said = fung._verdict(["k = 5", "k = 10", "k = 20"], ours, theirs)
    assert said == "DMPD significantly better: k = 5; worse: k = 20"


def test_both_experiments_on_a_small_table(tmp_path: Path) -> None:
    table = drawn()
    cells = zip(*(column.cells() for column in (*table.table.columns, table.labels)), strict=True)
    lines = "".join(f"{number:.2f},{word},{label}\n" for number, word, label in cells)
    (tmp_path / GERMAN_CREDIT.file).write_text(f"number,word,class\n{lines}")
    lab = Laboratory(tmp_path, quick=True)
    case = jena.Case("German", (GERMAN_CREDIT,), (1, 5), {})
    rows = {row.what: row for row in fung.accuracies(case, lab)}
    assert list(rows)[::2] == [
        f"{inducer}, {method}, accuracy"
        for inducer in jena.INDUCERS
        for method in ("DMPD", "TDR", "TDR, cut where valid")
    ]
    assert list(rows["tree, TDR, accuracy"].measured) == ["k = 5"]
    assert rows["tree, TDR, accuracy"].note.startswith("DMPD significantly better:")
    by_k: list[Row] = list(fung.seconds_by_k(case, lab))
    assert [row.what for row in by_k] == ["TDR", "TDR, cut where valid", "DMPD, naive-bayes"]
    by_rows = list(fung.seconds_by_rows(lab))
    assert [("growth" in row.measured) for row in by_rows] == [False, True] * 4
