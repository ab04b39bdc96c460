"""What a paper says of a figure stands beside it: its marks, and nothing where it has no such figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixbayes.local_methods.sap.sap import ATTRIBUTES, CLASS
from mixbayes.research.reproduction import jena, peters
from mixbayes.research.reproduction.experiment import Laboratory, Row
from mixbayes.research.reproduction.peters_appendix import appendix
from mixbayes.research.reproduction.peters_class_noise import class_noise
from mixbayes.research.reproduction.peters_score import scores
from mixbayes.research.reproduction.public_tables import ADULT, ADULT_TEST, GERMAN_CREDIT, MAMMOGRAPHIC, VOTE


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    """In which eighty drawn rows stand for every table."""
    random = np.random.default_rng(0)
    drawn = [(label, random.normal(at, 1, 2)) for at, label in enumerate(("no", "yes")) for _ in range(40)]
    lines = "".join(f"{one:.0f},{two:.0f},{label}\n" for label, (one, two) in drawn)
    for table in (VOTE, GERMAN_CREDIT, ADULT, ADULT_TEST, MAMMOGRAPHIC):
        (tmp_path / table.file).write_text(f"one,two,class\n{lines}")
    return Laboratory(tmp_path, quick=True)


def test_levels_that_the_paper_stars_are_named_beside_those_measured(lab: Laboratory) -> None:
    vote = next(case for case in jena.CASES if case.title == "Vote")
    starred = replace(vote, levels=(1, 10), published=dict.fromkeys(jena.INDUCERS, [(90.0, 1.0)] * 3))
    starred = replace(starred, starred={"naive-bayes": (1, 10)})
    notes = [row.note for row in jena.table_1(starred, lab) if row.note]
    assert [note.partition("; measured ")[0] for note in notes] == [
        "significantly below the baseline: published nowhere",
        "significantly below the baseline: published k = 1, k = 10",
    ]


def test_a_level_below_k_1_and_above_the_baseline_is_named_against_k_1_alone(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    vote = next(case for case in jena.CASES if case.title == "Vote")
    vote = replace(vote, levels=(1, 10), published=dict.fromkeys(jena.INDUCERS, [(90.0, 1.0)] * 3))
    monkeypatch.setattr(jena, "baseline", lambda *_: 0.8)
    monkeypatch.setattr(jena, "protected", lambda method, *_: 0.9 if method.k == 1 else 0.85)
    notes = [row.note for row in jena.table_1(vote, lab) if row.note]
    assert [note.partition("; quasi-identifiers")[0] for note in notes] == 2 * [
        "significantly below the baseline: published nowhere; measured nowhere; "
        "significantly below k = 1: measured k = 10"
    ]


def test_a_star_is_at_a_level_of_its_table() -> None:
    for case in jena.CASES:
        assert all(set(levels) <= set(case.levels) for levels in case.starred.values())


def test_minutes_are_published_of_a_tree_alone(lab: Laboratory) -> None:
    published = {row.what: row.published for row in jena.table_2(lab)}
    assert [bool(figures) for figures in published.values()] == [True, True, False, False]
    assert published["80 rows, tree"] == {"minutes": 1.41}


def test_levels_of_accuracy_are_published_of_a_tree_alone(lab: Laboratory) -> None:
    published = {row.what: bool(row.published) for row in jena.figure_9(lab) if "a fall" not in row.what}
    assert published == {
        "top 5, tree": True,
        "top 5, naive-bayes": False,
        "top 9, tree": True,
        "top 9, naive-bayes": False,
    }


@pytest.mark.parametrize("run", [appendix, class_noise, scores])
def test_what_the_thesis_has_no_figures_of_is_measured_alone(
    lab: Laboratory, run: Callable[[peters.Case, Laboratory], Iterator[Row]]
) -> None:
    rows = list(run(next(case for case in peters.CASES if case.table == VOTE), lab))
    assert len(rows) >= 5
    assert not any(row.published for row in rows)


def test_every_release_has_the_mark_of_the_thesis(lab: Laboratory) -> None:
    case = next(case for case in peters.CASES if case.table == MAMMOGRAPHIC)
    marks = {row.what: row.published.get("mark") for row in peters.nearest_neighbour(CLASS, case, lab)}
    assert [marks[f"acc, sap{at}"] for at in range(4)] == [None, "00", "00", "++"]
    assert marks["pf, sap3"] == "00"
    assert not any(row.published for row in peters.nearest_neighbour(ATTRIBUTES, case, lab))
