"""What Kim's text says of group sizes, and other readings of its test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.local_methods.condensation.group_size import approximate_gcd
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from mixbayes.research.reproduction.experiment import Laboratory
from mixbayes.research.reproduction.kim import CASES
from mixbayes.research.reproduction.kim_accuracy import readings
from mixbayes.research.reproduction.kim_classifiers import ahead, classifiers
from mixbayes.research.reproduction.kim_thresholds import searches, thresholds
from mixbayes.research.reproduction.public_tables import IRIS


@pytest.mark.parametrize(
    ("rows", "t", "published"),
    [(900, 10, 190), (17118, 480, 4800)],
    ids=["German", "Magic"],
)
def test_two_published_sizes_are_impossible_with_nine_tenths_of_the_rows(rows: int, t: int, published: int) -> None:
    assert published not in {approximate_gcd([one, rows - one], t) for one in range(t, rows - t + 1)}


def test_the_published_size_of_adult_is_that_of_its_complete_rows() -> None:
    assert approximate_gcd([20389, 6757], 1120) == 6720
    assert approximate_gcd([22248, 7057], 1120) == 1120


def test_every_threshold_is_tried(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{random.normal(at % 3):.3f},{random.normal():.3f},{'xyz'[at % 3]}" for at in range(150)]
    case = CASES[0]
    (tmp_path / case.table.file).write_text("\n".join(["one,two,class", *lines]) + "\n")
    rows = list(thresholds(case, Laboratory(tmp_path, quick=True)))
    assert [row.what for row in rows][:2] == ["t = 3, 5%", "t = 4, 10%"]
    assert [row.measured["group size"] for row in rows[-2:]] == [40, 45]
    assert [bool(row.published) for row in rows] == [False] * 4 + [True, False]


def test_a_search_finds_no_size_below_its_threshold(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{random.normal(at % 3):.3f},{'xyz'[at % 3]}" for at in range(60)]
    (tmp_path / IRIS.file).write_text("\n".join(["one,class", *lines]) + "\n")
    found = list(searches(CASES[0], Laboratory(tmp_path, quick=True)))
    assert [row.what.split(",")[0] for row in found] == ["t = 3", "t = 3", "t = 3", "t = 4", "t = 10"]
    assert all(int(row.measured["group size"]) >= int(row.what.split()[2].rstrip(",")) for row in found)


def test_only_a_class_among_the_columns_tells_classes_without_a_difference_apart() -> None:
    random = np.random.default_rng(0)
    noise = [Numeric(random.normal(size=200)) for _ in range(2)]
    labels = Nominal(np.arange(200) % 2, np.array(["x", "y"]))
    found = readings(Labelled(Table(("one", "two"), tuple(noise), 200), labels), k=20, split=0)
    told = found.pop("the class is a column too")
    assert told > 0.9
    assert max(found.values()) < 0.75


def test_every_method_is_judged_by_every_classifier(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{random.normal(3 * (at % 2)):.3f},{random.normal():.3f},{'xy'[at % 2]}" for at in range(120)]
    (tmp_path / IRIS.file).write_text("\n".join(["one,two,class", *lines]) + "\n")
    rows = {row.what: row.measured for row in classifiers(IRIS, Laboratory(tmp_path, quick=True))}
    assert len(rows) == 9
    assert all(list(figures) == ["1-NN", "SVM", "naive Bayes"] for figures in rows.values())
    assert float(rows["no release"]["SVM"]) > 0.8
    assert float(rows["groups of 5, class-wise"]["SVM"]) > 0.8


def test_a_difference_has_its_standard_error() -> None:
    row = ahead("ahead", np.array([[0.1, 0, 0], [0.3, 0, 0]]))
    assert row.measured == {"1-NN": "+0.2000 ± 0.1000", "SVM": "+0.0000 ± 0.0000", "naive Bayes": "+0.0000 ± 0.0000"}
