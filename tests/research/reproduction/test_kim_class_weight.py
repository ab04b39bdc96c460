"""How many classes the groups of a release have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.research.reproduction.experiment import Laboratory
from mixbayes.research.reproduction.kim_class_weight import class_weight, diversity
from mixbayes.research.reproduction.public_tables import IRIS


def test_the_classes_of_groups_are_counted() -> None:
    groups, classes = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2]), np.array([0, 1, 2, 1, 1, 0, 0, 0, 1, 1])
    assert diversity(groups, classes) == (pytest.approx((3 + 1 + 2) / 3), pytest.approx(2 / 10))


def test_class_wise_groups_have_one_class(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{random.normal(at % 2):.3f},{random.normal():.3f},{'xy'[at % 2]}" for at in range(120)]
    (tmp_path / IRIS.file).write_text("\n".join(["one,two,class", *lines]) + "\n")
    rows = {row.what: row.measured for row in class_weight(IRIS, Laboratory(tmp_path, quick=True))}
    assert list(rows) == [*(f"class counts {weight}" for weight in (1, 2, 3, 5)), "class-wise"]
    assert rows["class-wise"]["classes in a group"] == rows["class-wise"]["rows in groups of one class"] == 1
    assert float(rows["class counts 5"]["classes in a group"]) < float(rows["class counts 1"]["classes in a group"])
