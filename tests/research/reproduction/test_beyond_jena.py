"""The experiments on what the authors of DMPD leave as future work, on a table of a few rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.local_methods import DMPD
from mixbayes.research.reproduction.beyond_jena import compared
from mixbayes.research.reproduction.experiment import Laboratory
from mixbayes.research.reproduction.jena import Case, read_rows, timed_runs
from mixbayes.research.reproduction.public_tables import PublicTable

SMALL = PublicTable("small", "a table of this test", 60)


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    """A ward that tells the class, but for two rows that have a ward of their own."""
    classes = ["sick", "well"] * 30
    wards = ["rare", "rare", *({"sick": "north", "well": "south"}[label] for label in classes[2:])]
    rows = "\n".join(map(",".join, zip(wards, classes, strict=True)))
    (tmp_path / SMALL.file).write_text(f"ward,class\n{rows}\n")
    return Laboratory(tmp_path, quick=True)


def test_settings_are_compared_on_the_same_halves(lab: Laboratory) -> None:
    settings = {"left out": {"k": 14}, "the same": {"k": 14}, "coarser": {"k": 14, "coarsen": True}}
    accuracy, deviation = compared(Case("Small", (SMALL,), (14,), {}), "naive-bayes", settings, lab)
    assert accuracy.measured["left out"] == accuracy.measured["the same"] == 50
    assert float(accuracy.measured["coarser"]) > 90
    assert deviation.measured.keys() == accuracy.measured.keys() == settings.keys()
    assert "the same" not in accuracy.note


def test_every_run_has_a_seed_and_a_time_of_its_own(lab: Laboratory) -> None:
    told: list[object] = []
    method = DMPD(k=2, population=2, generations=0)
    took = timed_runs(method, read_rows(lab, [SMALL]), 3, lambda: told.append(method.random_state))
    assert told == [0, 1, 2]
    assert took.shape == (3,)
    assert np.all(took >= 0)
