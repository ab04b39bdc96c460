"""`mixbayes reproduce`: what is listed, what is run and skipped, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mixbayes.research.reproduction.registry import EXPERIMENTS
from tests.cli.in_process import Command, command

WITHOUT_A_TABLE = "roy-table-4.1"


@pytest.fixture
def reproduce(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("reproduce", monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which two columns of numbers stand for the wine table."""
    random = np.random.default_rng(0)
    lines = [f"{one:.2f},{two:.2f},{label}" for label in "12" for one, two in random.normal(int(label), 1, (30, 2))]
    (tmp_path / "wine.csv").write_text("\n".join(["alcohol,proline,class", *lines]) + "\n")
    return tmp_path


@pytest.mark.usefixtures("_every_step_is_told")
def test_an_experiment_that_needs_no_table_needs_no_folder(reproduce: Command) -> None:
    done = reproduce(WITHOUT_A_TABLE)
    assert done.code == 0
    assert all(word in done.out for word in ("published", "measured", "71.5", "docs/deviations/perturbation-tree.md"))
    assert "done" in done.err


def test_the_document_has_published_and_measured_side_by_side(reproduce: Command) -> None:
    document = reproduce(WITHOUT_A_TABLE, "--json").document
    assert document["quick"] is False
    (experiment,) = document["experiments"]
    assert list(experiment) == ["name", "title", "paper", "reason", "deviations", "left_out", "parts"]
    (part,) = experiment["parts"]
    assert (part["missing"], len(part["rows"])) == ([], 9)
    assert all(row["published"] == row["measured"] for row in part["rows"])


def test_a_table_that_is_missing_is_named_and_skipped(reproduce: Command, folder: Path) -> None:
    document = reproduce("roy-rebuilt-tree", "--data-dir", folder, "--json").document
    parts = {part["title"]: part for part in document["experiments"][0]["parts"]}
    assert parts["Wine"]["rows"]
    assert not parts["Wine"]["missing"]
    assert not parts["Housing"]["rows"]
    (missing,) = parts["Housing"]["missing"]
    assert missing["file"] == "boston_housing.csv"
    assert "Boston housing" in missing["remedy"]
    text = reproduce("roy-rebuilt-tree", "--data-dir", folder)
    assert text.code == 0
    assert "Housing: skipped. boston_housing.csv is not in" in text.out


def test_the_same_table_gives_the_same_figures(reproduce: Command, folder: Path) -> None:
    def rows() -> object:
        document = reproduce("roy-rebuilt-tree", "--data-dir", folder, "--json").document
        return [part["rows"] for part in document["experiments"][0]["parts"]]

    assert rows() == rows()


def test_nothing_to_run_is_bad_data(reproduce: Command, tmp_path: Path) -> None:
    done = reproduce("kim-table-2", "--data-dir", tmp_path)
    assert done.code == 6
    assert "magic.csv" in done.err
    assert "MAGIC Gamma Telescope" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("kim-table-7",), "kim-table-2"),
        (("kim-table-2",), "--data-dir"),
        (("--data-dir", "nowhere", WITHOUT_A_TABLE), "does not exist"),
    ],
)
def test_usage(reproduce: Command, arguments: tuple[str, ...], said: str) -> None:
    done = reproduce(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_table_in_another_form_is_bad_data(reproduce: Command, tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text("a,b,kind\n1,2,x\n")
    done = reproduce("kim-table-1", "--data-dir", tmp_path)
    assert done.code == 6
    assert "no column `class`" in done.err


def test_the_list_says_what_is_there(reproduce: Command, folder: Path) -> None:
    document = reproduce("--list", "--json", "--data-dir", folder).document
    listed = {experiment["name"]: experiment["tables"] for experiment in document["experiments"]}
    assert list(listed) == [experiment.name for experiment in EXPERIMENTS]
    present = {table["file"]: table["present"] for tables in listed.values() for table in tables}
    assert [file for file, there in present.items() if there] == ["wine.csv"]
    assert listed[WITHOUT_A_TABLE] == []
    text = reproduce("--list", "--data-dir", folder).out
    assert f"1 of {len(present)} tables are there." in text
    assert "nursery.csv is missing. Put UCI 'Nursery'" in text
    head, *states = text[text.index("roy-table-5.3 ") :].splitlines()[:3]
    assert [state.split(":")[0].strip() for state in states] == ["there", "missing"]
    assert states[1].endswith("aisoffer.csv, wages_cps85.csv, boston_housing.csv")
    assert "wine.csv" not in head


def test_the_list_needs_no_folder_and_can_be_of_some(reproduce: Command) -> None:
    done = reproduce("--list", "sap-figure-4.7")
    assert done.code == 0
    assert "mammographic_masses.csv" in done.out
    assert "kim-table-2" not in done.out


def test_quick_says_what_is_left_out(reproduce: Command, folder: Path) -> None:
    done = reproduce("roy-table-5.3", "--quick", "--data-dir", folder)
    assert done.code == 0
    assert "Quick: two seeds instead of ten" in done.out
    assert "groups of 10" not in done.out


@pytest.mark.real_tables
def test_the_size_of_the_groups_of_iris(reproduce: Command) -> None:
    document = reproduce("roy-table-5.2", "kim-table-1", "--data-dir", os.environ["MIXBAYES_DATA"], "--json").document
    alone, sizes = document["experiments"]
    rows = alone["parts"][0]["rows"]
    counted = [row["measured"]["records alone"] for row in rows if "records alone" in row["measured"]]
    assert counted == ["86 of 534", "0 of 534"]
    iris = sizes["parts"][0]["rows"][0]
    assert iris["published"] == iris["measured"] == {"rows": 150, "columns": 4, "classes": 3}
