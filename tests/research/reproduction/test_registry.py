"""What holds for all experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.protocol.errors import Unsupported
from mixbayes.research.reproduction.experiment import Experiment
from mixbayes.research.reproduction.public_tables import CMC, MAGIC
from mixbayes.research.reproduction.registry import EXPERIMENTS, chosen

ROOT = Path(__file__).parents[3]


def test_names_are_of_one_experiment_each() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names)


def test_a_name_that_is_given_twice_is_run_once() -> None:
    assert [one.name for one in chosen(["sap-figure-4.7", "kim-table-1", "sap-figure-4.7"])] == [
        "sap-figure-4.7",
        "kim-table-1",
    ]


def test_a_name_that_is_nearly_right_is_put_right() -> None:
    with pytest.raises(Unsupported, match=r"dmpd-table-1"):
        chosen(["dmpd-tabel-1"])


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_difference_has_its_page_in_the_index(experiment: Experiment) -> None:
    index = (ROOT / "docs" / "deviations.md").read_text()
    assert experiment.deviations.removeprefix("docs/") in index
    assert f"`{experiment.name}`" in index
    assert not experiment.reason.endswith(".")


def test_a_table_is_found_under_its_other_names(tmp_path: Path) -> None:
    assert MAGIC.file_in(tmp_path) is None
    (tmp_path / "magic04.csv").touch()
    assert MAGIC.file_in(tmp_path) == tmp_path / "magic04.csv"
    (tmp_path / "magic.parquet").touch()
    assert MAGIC.file_in(tmp_path) == tmp_path / "magic.parquet"


def test_codes_are_told_by_their_place_under_any_header() -> None:
    """UCI's description of the table: all is nominal but the wife's age and the number of children."""
    header = ["age", "wed", "hed", "children", "religion", "working", "occupation", "living", "media", "class"]
    assert set(header) - set(CMC.nominal_names(header)) == {"age", "children", "class"}
    assert "columns 2, 3, 5, 6, 7, 8, 9, by any name, hold codes" in CMC.remedy()
