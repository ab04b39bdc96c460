"""`mixbayes study` as its help says: what it prints and writes, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mixbayes.cli.progress import Talk
from mixbayes.research.study import study as computing
from mixbayes.research.study.document import document
from mixbayes.research.study.figure import figure
from mixbayes.research.study.hospitals import HOSPITALS
from mixbayes.research.study.results import Results, from_json
from mixbayes.research.study.study import Plan
from mixbayes.tables.columns import Columns
from tests.cli.in_process import Command, Done, command
from tests.research.study.four import ROWS, write_tables


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("study", monkeypatch, capsys)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    write_tables(folder)
    return folder


@pytest.fixture
def studied(committed: Results, monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Columns]]:
    """The tables that were read, for tests that do not concern what is then computed: it is known beforehand."""
    seen: list[Mapping[str, Columns]] = []

    def known(tables: Mapping[str, Columns], plan: Plan, seed: int, talk: Talk) -> Results:
        seen.append(tables)
        return replace(committed, setup=replace(committed.setup, quick=plan.quick, seed=seed))

    monkeypatch.setattr(computing, "study", known)
    return seen


@pytest.mark.usefixtures("_every_step_is_told")
def test_it_writes_what_it_prints(study: Command, data: Path, tmp_path: Path) -> None:
    done = study("--data-dir", data, "--out", tmp_path, "--quick")
    assert done.code == 0, done.err
    page, measurements, picture = ((tmp_path / f"four-hospitals.{kind}") for kind in ("md", "json", "svg"))
    assert page.read_text(encoding="utf-8") == done.out
    results = from_json(measurements.read_text(encoding="utf-8"))
    assert document(results) == done.out
    assert "UCI 'Heart Disease', processed.cleveland.data (303 rows) as" in done.out
    assert figure(results) == picture.read_bytes()
    assert (results.setup.quick, results.setup.seed) == (True, 0)
    assert "splits (3 of 3)" in done.err


def test_one_json_document_and_no_file(study: Command, data: Path) -> None:
    read = study("--data-dir", data, "--quick", "--json", "--seed", 5).document
    assert list(read) == [
        "setup",
        "hospitals",
        "joining",
        "starting",
        "recipes",
        "original",
        "protecting",
        "agreement",
        "checked",
        "nodes",
    ]
    assert read["setup"]["seed"] == 5
    assert {path.suffix for path in data.iterdir()} == {".csv"}


def test_the_tables_may_be_in_a_folder_of_their_own(
    study: Command, tmp_path: Path, studied: list[Mapping[str, Columns]]
) -> None:
    (tmp_path / "heart4").mkdir()
    write_tables(tmp_path / "heart4")
    assert study("--data-dir", tmp_path, "--quick", "--json").code == 0
    assert [(name, table.rows) for name, table in studied[0].items()] == [(name, ROWS) for name in HOSPITALS]


def refused(done: Done, *parts: str) -> None:
    """Before anything was computed."""
    assert (done.code, done.out) == (6, "")
    assert "splits" not in done.err
    assert "Traceback" not in done.err
    assert "[E100]" in done.err
    for part in parts:
        assert part in done.err


def test_a_missing_table(study: Command, data: Path) -> None:
    (data / "va.csv").unlink()
    (data / "hungarian.csv").unlink()
    done = study("--data-dir", data)
    refused(
        done, f"{data} has no hungarian.csv, va.csv.", "Write the class 0 as absent and every other class as present"
    )
    assert "UCI 'Heart Disease', processed.cleveland.data (303 rows) as cleveland.csv" in done.err
    assert "every whole number as 1, not 1.0." in done.err


def test_a_missing_folder(study: Command, tmp_path: Path) -> None:
    refused(study("--data-dir", tmp_path / "none"), "has no cleveland.csv, hungarian.csv, switzerland.csv, va.csv")


def changed(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.usefixtures("studied")
def test_a_word_among_the_numbers_is_told(study: Command, data: Path) -> None:
    assert "words among them" not in study("--data-dir", data, "--quick").err
    lines = (data / "va.csv").read_text().splitlines(keepends=True)
    lines[1] = "abc" + lines[1][2:]
    (data / "va.csv").write_text("".join(lines))
    told = study("--data-dir", data, "--quick").err
    assert "column 'age' has numbers, and words among them, so that all count as names" in told


def test_other_classes(study: Command, data: Path) -> None:
    changed(data / "va.csv", "present", "1")
    refused(study("--data-dir", data), "va.csv: the study needs absent or present in every row of the column 'class'.")


def test_a_class_that_is_missing(study: Command, data: Path) -> None:
    changed(data / "va.csv", "present\n", "?\n")
    refused(study("--data-dir", data), "va.csv: the study needs absent or present in every row")


@pytest.mark.parametrize("column", ["chol", "trestbps", "class"])
def test_a_column_that_all_lack(study: Command, data: Path, column: str) -> None:
    for path in data.iterdir():
        changed(path, column, "other")
    refused(study("--data-dir", data), f"cleveland.csv: the study needs a column '{column}', as the heart disease")


def test_columns_that_differ(study: Command, data: Path) -> None:
    changed(data / "va.csv", "sign", "token")
    done = study("--data-dir", data, "--quick")
    refused(done, "The columns of", "cleveland.csv and", "only in", "'token'", "All tables need the same columns.")


def test_a_class_that_hardly_anybody_is_of(study: Command, data: Path) -> None:
    lines = (data / "switzerland.csv").read_text().splitlines(keepends=True)
    (data / "switzerland.csv").write_text("".join(lines[:1] + lines[3:]))
    done = study("--data-dir", data)
    refused(done, "switzerland.csv: the study needs at least 30 patients, 8 of each class", "7 absent and 63 present")


def test_too_few_patients(study: Command, data: Path) -> None:
    lines = (data / "va.csv").read_text().splitlines(keepends=True)
    (data / "va.csv").write_text("".join(lines[:1] + lines[23:52]))
    refused(study("--data-dir", data), "va.csv: the study needs at least 30 patients", "14 absent and 15 present")


def test_a_table_without_rows(study: Command, data: Path) -> None:
    (data / "va.csv").write_text((data / "va.csv").read_text().splitlines()[0] + "\n")
    refused(study("--data-dir", data), "va.csv")


@pytest.mark.usefixtures("studied")
def test_the_folder_of_the_document_is_made(study: Command, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "study"
    done = study("--data-dir", data, "--out", out, "--quick")
    assert (done.code, len(list(out.iterdir()))) == (0, 3), done.err
    assert "--out docs" not in done.out
    refused(study("--data-dir", tmp_path, "--out", tmp_path / "never"), "has no cleveland.csv")
    assert not (tmp_path / "never").exists()


def test_a_folder_that_cannot_be_made(study: Command, data: Path) -> None:
    refused(study("--data-dir", data, "--out", data / "va.csv" / "out"), "va.csv/out cannot be made: Not a directory.")


def test_usage(study: Command, data: Path) -> None:
    for arguments in ((), ("--data-dir", data, "--seed", -1)):
        done = study(*arguments)
        assert (done.code, done.out) == (2, "")
