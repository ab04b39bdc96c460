"""`mixbayes protect --method dmpd` and `mixbayes tune --method dmpd`: a folder of projections, and the trade-offs."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli.tune_pareto import _from_one, _large, _surfaces
from mixbayes.local_methods.dmpd.attainment import Fall
from tests.cli.in_process import Command, command

SETTINGS = ("--method", "dmpd", "--set", "k=5", "--set", "population=10", "--set", "generations=5")
TUNING = ("--method", "dmpd", "--population", 10, "--generations", 5, "--repeats", 2)


@pytest.fixture
def protect(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("protect", monkeypatch, capsys)


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("tune", monkeypatch, capsys)


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """A hundred rows with an age, a ward, a name that is nobody else's, and the class in the middle."""
    random = np.random.default_rng(0)
    ages = random.normal(60, 10, 100).round(1)
    lines = ["age,name,class,ward"]
    for row, age in enumerate(ages):
        sick = "sick" if age > 60 else "well"
        lines.append(f"{age},n{row},{sick},{'?' if row < 6 else random.choice(['a', 'b'])}")
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def test_a_file_for_each_projection(protect: Command, patients: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    document = protect(patients, target, *SETTINGS, "--json").document
    files = sorted(target.iterdir())
    projections = document["parameters"]["projections"]
    assert [read(file)[0] for file in files] == [[*names, "class"] for names in projections]
    assert document["parameters"]["left_out"] == ["name"]
    labels = sorted(row[2] for row in read(patients)[1])
    for file in files:
        rows = read(file)[1]
        assert sorted(row[-1] for row in rows) == labels
        assert min(Counter(tuple(row[:-1]) for row in rows).values()) >= 5
    assert (document["rows_in"], document["rows_out"]) == (100, 100)
    assert document["guarantee"]["holds"] is True
    assert document["guarantee"]["people"] == "5-anonymity of the quasi-identifiers in each projection by itself"
    assert document["measures"]["k_anonymity"] == document["parameters"]["anonymity"]
    assert document["parameters"]["rejoined_anonymity"] >= document["parameters"]["anonymity"]
    assert document["parameters"]["rejoined_anonymity_with_class"] >= 1
    assert "n_jobs" not in document["parameters"]


@pytest.mark.parametrize("known", ["ward", "ward/age"])
def test_whoever_knows_no_other_column_finds_so_many(
    protect: Command, patients: Path, tmp_path: Path, known: str
) -> None:
    setting = ("--set", f"quasi_identifiers={known}")
    document = protect(patients, tmp_path / "out", *SETTINGS, *setting, "--json").document
    assert document["measures"]["k_anonymity"] == document["parameters"]["anonymity"]


def test_nobody_else_can_read_the_projections(protect: Command, patients: Path, tmp_path: Path) -> None:
    protect(patients, tmp_path / "out", *SETTINGS)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "out").iterdir()} == {0o600}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_the_same_seed_gives_the_same_bytes(protect: Command, patients: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        protect(patients, tmp_path / name, *SETTINGS, "--seed", seed)
    one, same, other = ({f.name: f.read_bytes() for f in (tmp_path / n).iterdir()} for n in ("one", "same", "other"))
    assert one == same != other


def test_an_older_release_is_replaced_whole(protect: Command, patients: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    protect(patients, target, *SETTINGS)
    (target / "projection-9.csv").write_text("old")
    assert protect(patients, target, *SETTINGS).code == 0
    assert "projection-9.csv" not in {file.name for file in target.iterdir()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "patients.csv"]


def test_a_folder_with_other_things_is_left_alone(protect: Command, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("years")
    done = protect(patients, tmp_path / "out", *SETTINGS)
    assert done.code == 2
    assert "thesis.doc" in done.err
    assert "searching" not in done.err


def test_a_file_is_no_folder(protect: Command, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")
    assert protect(patients, tmp_path / "out", *SETTINGS).code == 6
    assert (tmp_path / "out").read_text() == "before"
    assert protect(patients, patients, *SETTINGS).code == 6


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        (("--set", "k=101"), 6, "n_samples = 100"),
        (("--set", "quasi_identifiers=age,shoe"), 6, "no column 'shoe'"),
        (("--set", "inducer=oracle"), 2, "'oracle' is not"),
        (("--class-column", "name"), 6, "no column can be released"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(
    protect: Command, patients: Path, tmp_path: Path, settings: tuple[str, ...], code: int, said: str
) -> None:
    flags = ("--set", "k=60") if "--class-column" in settings else ()
    done = protect(patients, tmp_path / "never", "--method", "dmpd", *settings, *flags)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


def test_a_failed_exchange_brings_the_old_folder_back(
    protect: Command, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    protect(patients, target, *SETTINGS)
    before = {file.name: file.read_bytes() for file in target.iterdir()}
    rename = os.rename

    def failing(source: Path, to: Path) -> None:
        if Path(source).name == "new":
            raise OSError(28, "No space left on device")
        rename(source, to)

    monkeypatch.setattr(os, "rename", failing)
    done = protect(patients, target, *SETTINGS, "--seed", 3)
    assert done.code == 6
    assert "No space left" in done.err
    assert {file.name: file.read_bytes() for file in target.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "patients.csv"]


def test_the_document_says_where_accuracy_falls(tune: Command, patients: Path) -> None:
    document = tune(patients, *TUNING, "--objective", "pareto", "--json").document
    assert (document["method"], document["objective"], document["inducer"]) == ("dmpd", "pareto", "naive-bayes")
    assert (document["rows"], document["runs"]) == (100, 2)
    front = document["front"]
    assert [one["anonymity"] for one in front] == sorted(one["anonymity"] for one in front)
    assert front[0]["accuracy"] > front[-1]["accuracy"]
    assert set(front[0]) == {"anonymity", "accuracy", "projections", "left_out"}
    surfaces = document["attainment"]
    assert len(surfaces["anonymity"]) == len(surfaces["best"]) == len(surfaces["median"]) == len(surfaces["worst"])
    assert document["falls"]
    assert all(fall["above"] in surfaces["anonymity"] for fall in document["falls"])
    assert all(fall["before"] > fall["after"] for fall in document["falls"])


@pytest.mark.usefixtures("_every_step_is_told")
def test_text_and_picture(tune: Command, patients: Path, tmp_path: Path) -> None:
    done = tune(patients, *TUNING, "--classifier", "tree", "--plot", tmp_path / "front.png")
    assert done.code == 0
    assert "the accuracy falls from" in done.out
    assert "searching partitions" in done.err
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_of_one_run_there_is_no_best_and_no_median(tune: Command, patients: Path, tmp_path: Path) -> None:
    assert list(_surfaces(1)) == [("median", "the one run", "tab:blue", 1.0)]
    assert [label for _, label, _, _ in _surfaces(2)] == ["best of 2 runs", "median of 2 runs", "worst of 2 runs"]
    once = (*TUNING, "--repeats", 1, "--plot", tmp_path / "one.png", "--report", tmp_path)
    done = tune(patients, *once)
    assert "the accuracy falls from" in done.out
    assert "runs" not in done.out
    assert "was run once;" in (tmp_path / "report.html").read_text()
    assert "of the median of 2 runs" in tune(patients, *TUNING).out


def test_surfaces_are_drawn_from_one_on_and_not_where_nothing_was_attained() -> None:
    levels, accuracies = _from_one(np.array([3, 9, 20]), np.array([0.9, 0.7, -np.inf]))
    assert levels.tolist() == [1, 3, 9, 20]
    np.testing.assert_array_equal(accuracies, [0.9, 0.9, 0.7, np.nan])


def test_falls_too_small_to_be_seen_are_not_written_into_the_picture() -> None:
    large, small = Fall(7, 0.86, 0.83), Fall(9, 0.83, 0.8299)
    assert _large([large, small]) == [large]
    assert _large([]) == []


def test_the_report(tune: Command, patients: Path, tmp_path: Path) -> None:
    assert tune(patients, *TUNING, "--report", tmp_path / "report").code == 0
    assert "dmpd" in (tmp_path / "report" / "report.html").read_text()


def test_only_quasi_identifiers_are_held(tune: Command, patients: Path) -> None:
    document = tune(patients, *TUNING, "--quasi-identifiers", "ward/age", "--json").document
    assert any("name" in projection for one in document["front"] for projection in one["projections"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((*TUNING, "--classifier", "svm"), 2, "naive-bayes or tree"),
        (("--method", "class-wise-condensation", "--objective", "pareto"), 2, "only --method dmpd"),
        (("--method", "class-wise-condensation", "--population", 4), 2, "--population: only --method dmpd"),
        ((*TUNING, "-t", 9), 2, "--threshold: only --method class-wise-condensation has it"),
        ((*TUNING, "--search", "rule"), 2, "--search: only --method class-wise-condensation or any method with --par"),
        ((*TUNING, "--parameter", "k"), 2, "--population, --generations: only --method dmpd without --parameter"),
        (("--method", "sample-generation"), 2, "nothing to tune of 'sample-generation'"),
        ((*TUNING, "--quasi-identifiers", "shoe"), 6, "no column 'shoe'"),
    ],
)
def test_tuning_that_cannot_be(
    tune: Command, patients: Path, arguments: tuple[object, ...], code: int, said: str
) -> None:
    done = tune(patients, *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
