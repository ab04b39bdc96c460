"""`mixbayes measure`: its document, its text, and tables that it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris

from mixbayes.cli.measure_text import show
from tests.cli.in_process import PLAIN, Command, command
from tests.report.pages import comparison

KEYS = [
    "confidence_interval",
    "vd",
    "rp",
    "rk",
    "cp",
    "ck",
    "k_anonymity",
    "reidentification",
    "attribute_disclosure",
    "l_diversity",
    "entropy_l_diversity",
    "t_closeness",
    "utility",
    "clustering",
    "clusterings",
    "delta_r",
    "detection",
    "quartiles",
    "attacks",
    "paired_by_chance",
    "original_risk",
    "sensitive",
    "why_not",
]
NULL_UNLESS_REPEATED = ["quartiles"]
CLASSIFIERS = ["nearest-neighbour", "naive-bayes", "tree", "svm"]

Rows = Sequence[Sequence[object]]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command."""
    return command("measure", monkeypatch, capsys)


def write(path: Path, header: Sequence[str], rows: Rows) -> Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def iris(noise: float = 0.0, step: int = 1) -> tuple[list[str], Rows]:
    values, classes = map(np.asarray, load_iris(return_X_y=True))
    numbers = values + np.random.default_rng(0).normal(0, noise, values.shape)
    names = [f"kind {label}" for label in classes]
    return [*"abcd", "class"], [[*row, name] for row, name in zip(numbers.tolist(), names, strict=True)][::step]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return write(tmp_path / "original.csv", *iris())


@pytest.fixture
def released(tmp_path: Path) -> Path:
    return write(tmp_path / "released.csv", *iris(0.3))


def test_the_document_has_every_measure(measure: Command, original: Path, released: Path) -> None:
    document = measure(original, released, "--json").document
    assert list(document) == KEYS
    assert 0 < document["confidence_interval"] < 1
    assert 0 < document["vd"] < 0.2
    assert document["cp"] == 0
    assert document["ck"] == 1
    assert document["k_anonymity"] == 1
    assert 0 < document["reidentification"] < document["attribute_disclosure"] < 1
    assert list(document["utility"]) == CLASSIFIERS
    for accuracy in document["utility"].values():
        assert set(accuracy) == {"original", "released"}
        assert 0.8 < accuracy["released"] < 1
        assert 0.9 < accuracy["original"] < 1
    assert set(document["clustering"]) == {"misclassification_error", "adjusted_rand"}
    (clusters,) = document["clusterings"]
    assert clusters["clusters"] == 3
    assert clusters["released"] == document["clustering"]
    assert set(clusters["unperturbed"]) == set(document["clustering"])
    assert (document["l_diversity"], document["entropy_l_diversity"]) == (1, 1)
    assert document["t_closeness"] == pytest.approx(2 / 3)
    assert document["sensitive"] == "class"
    assert set(document["original_risk"]) == set(KEYS[6:12])


def test_the_document_says_of_each_classifier_what_it_keeps_and_how_it_finds_each_class(
    measure: Command, original: Path, released: Path
) -> None:
    document = measure(original, released, "--json", "--tolerance", "0.5").document
    assert document["delta_r"]["tolerance"] == 0.5
    assert document["delta_r"]["utility_kept"] is True
    for name, kept in document["delta_r"]["classifiers"].items():
        accuracy = document["utility"][name]
        assert kept["delta_r"] == pytest.approx(accuracy["released"] - 0.5 * accuracy["original"])
        assert kept["utility_kept"] is True
        classes = document["detection"][name]
        assert list(classes) == ["kind 0", "kind 1", "kind 2"]
        for side, right in accuracy.items():
            assert set(classes["kind 0"][side]) == {"pd", "pf", "precision", "accuracy"}
            assert np.mean([each[side]["pd"] for each in classes.values()]) == pytest.approx(right)


def test_what_is_null_has_a_reason(measure: Command, original: Path, tmp_path: Path) -> None:
    header, rows = iris(0.3, step=2)
    fewer = write(tmp_path / "fewer.csv", header[:4], [row[:4] for row in rows])
    document = measure(original, fewer, "--json").document
    null = {key for part in (document, document["attacks"]) for key, value in part.items() if value is None}
    assert null == set(document["why_not"])
    assert {"vd", "clusterings", "l_diversity", "delta_r", "detection", "quartiles"} <= null
    assert all(document["why_not"].values())


def test_folds_drawn_anew_give_quartiles(measure: Command, tmp_path: Path) -> None:
    tables = [write(tmp_path / f"{noise}.csv", *iris(noise, step=3)) for noise in (0.0, 3.0)]
    done = measure(*tables, "--repeats", 2, "--json")
    found = done.document["quartiles"]
    assert (found["repeats"], found["folds"]) == (2, 5)
    assert (found["wins"], found["ties"] + found["losses"]) == (0, 16)
    accuracy = found["classifiers"]["tree"]["accuracy"]
    assert accuracy["verdict"] == "loss"
    assert 0 <= accuracy["p_value"] < 0.05
    assert accuracy["released"]["median"] < accuracy["original"]["median"]
    assert len(accuracy["classes"]["kind 1"]["released"]["values"]) == 10
    assert "quartiles" not in done.document["why_not"]
    text = measure(*tables, "--repeats", 2).out
    assert f"worse (p = {accuracy['p_value']:.3g})" in text
    assert "2 times 5 folds" in text


def test_several_numbers_of_clusters(measure: Command, tmp_path: Path) -> None:
    table = write(tmp_path / "few.csv", *iris(step=3))
    document = measure(table, table, "--clusters", "2..4, 8", "--json").document
    assert [each["clusters"] for each in document["clusterings"]] == [2, 3, 4, 8]
    assert document["clustering"] == {"misclassification_error": 0, "adjusted_rand": 1}
    text = measure(table, table, "--clusters", "5").out
    assert "k = 5" in text
    assert "not perturbed, another seed" in text


def test_what_is_sensitive_can_be_another_column(measure: Command, tmp_path: Path) -> None:
    rows = [[i % 2, i % 2 + 10 * (i % 3), "xy"[i % 2]] for i in range(60)]
    table = write(tmp_path / "table.csv", ["sex", "stay", "class"], rows)
    document = measure(table, table, "--sensitive", "stay", "--json").document
    assert document["sensitive"] == "stay"
    assert (document["k_anonymity"], document["l_diversity"]) == (30, 3)
    assert document["t_closeness"] == pytest.approx(0.5 / 5)  # every second of six numbers in their order
    text = measure(table, table, "--sensitive", "stay").out
    assert "Sensitive, for l-diversity and t-closeness: stay." in text
    assert "Quasi-identifiers: sex." in text


def test_of_many_classes_the_text_leaves_single_ones_to_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    few, many = ([f"kind {at}" for at in range(classes)] for classes in (3, 11))
    show(comparison(few), "")
    assert "kind 2" in capsys.readouterr().out
    show(comparison(many, quasi_identifiers=["a"], sensitive="class"), "")
    text = capsys.readouterr().out
    assert "More than 10 classes" in " ".join(text.split())
    assert "kind" not in text


@pytest.mark.usefixtures("_every_step_is_told")
def test_stdout_is_the_document_alone_and_stderr_talks(measure: Command, original: Path, released: Path) -> None:
    done = measure(original, released, "--json")
    assert done.out.startswith("{")
    assert "utility: tree" in done.err


def test_the_same_seed_measures_the_same(measure: Command, original: Path, released: Path) -> None:
    first, again, other = (measure(original, released, "--json", "--seed", seed).out for seed in (1, 1, 2))
    assert first == again != other


def test_rows_that_cannot_be_paired_give_null_and_the_text_says_why(
    measure: Command, original: Path, tmp_path: Path
) -> None:
    fewer = write(tmp_path / "fewer.csv", *iris(0.3, step=2))
    document = measure(original, fewer, "--json").document
    paired = ["confidence_interval", "vd", "rp", "rk", "clustering", "clusterings"]
    assert [key for key in KEYS if document[key] is None] == [*paired, *NULL_UNLESS_REPEATED]
    text = measure(original, fewer).out
    assert "it pairs rows, and the tables have 150 and 75 of them" in text


def test_the_text_says_what_it_is_about(measure: Command, original: Path, released: Path) -> None:
    text = measure(original, released, "--quasi-identifiers", "a,c").out
    assert "Quasi-identifiers: a, c." in text
    assert "Row i of the release is taken for row i of the original." in text
    assert "k-means with k = 3" in text


def test_rows_drawn_anew_are_expected_to_differ(measure: Command, original: Path, released: Path) -> None:
    expected = "A k-anonymity of 1 is expected where rows are drawn anew"
    assert expected in measure(original, released).out
    header, rows = iris()
    alike = write(original.with_name("alike.csv"), header, [[1, 2, *row[2:]] for row in rows])
    assert expected not in measure(original, alike, "--quasi-identifiers", "a,b").out


def test_the_text_calls_measures_what_the_report_calls_them(
    measure: Command, original: Path, released: Path, tmp_path: Path
) -> None:
    text = measure(original, released, "--report", tmp_path).out
    page = (tmp_path / "report.html").read_text()
    for short in ("VD", "RP", "RK", "CP", "CK"):
        (name,) = set(re.findall(rf"[a-z ]*\({short}\)", text))
        assert f">{name.strip()}<" in page
        assert len(name.split()) > 2


def test_columns_of_one_table_alone_are_named(measure: Command, original: Path, tmp_path: Path) -> None:
    header, rows = iris()
    other = write(tmp_path / "other.csv", ["a", "b", "new", "class"], [[*row[:2], 1, row[4]] for row in rows])
    done = measure(original, other)
    assert "Not in the release, and not measured: c, d." in done.out
    assert "Not in the original, and not measured: new." in done.out
    assert measure(original, other, "--json").document["vd"] == 0
    assert header == [*"abcd", "class"]


def test_a_test_table_takes_the_place_of_cross_validation(measure: Command, original: Path, released: Path) -> None:
    document = measure(original, released, "--test", original, "--json").document
    assert document["utility"]["nearest-neighbour"]["original"] == 1
    assert document["utility"]["nearest-neighbour"]["released"] < 1


def test_a_table_without_a_class_has_no_utility(measure: Command, tmp_path: Path) -> None:
    header, rows = iris()
    bare = write(tmp_path / "bare.csv", header[:4], [row[:4] for row in rows])
    document = measure(bare, bare, "--json").document
    assert [key for key in KEYS if document[key] is None] == [
        "attribute_disclosure",
        "l_diversity",
        "entropy_l_diversity",
        "t_closeness",
        "utility",
        "delta_r",
        "detection",
        "quartiles",
        "sensitive",
    ]
    assert "no column named `class`" in measure(bare, bare).out


def test_the_class_may_have_another_name_and_be_a_number(measure: Command, tmp_path: Path) -> None:
    rows = [[i, i % 2] for i in range(60)]
    table = write(tmp_path / "table.csv", ["x", "outcome"], rows)
    assert measure(table, table, "--json").document["utility"] is None
    named = measure(table, table, "--class-column", "outcome", "--json").document
    assert list(named["utility"]) == CLASSIFIERS
    assert named["cp"] == 0


def test_names_and_missing_cells_and_parquet_are_taken(measure: Command, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    rows = [[random.choice(["f", "m"]), random.choice(["1", "2", "?"]), random.choice(["x", "y"])] for _ in range(40)]
    table = write(tmp_path / "table.csv", ["sex", "grade", "class"], rows)
    columns = {name: [row[at] for row in rows] for at, name in enumerate(["sex", "grade", "class"])}
    pq.write_table(pa.table(columns), tmp_path / "table.parquet")
    document = measure(table, tmp_path / "table.parquet", "--json").document
    assert document["vd"] == 0
    assert document["clustering"]["adjusted_rand"] == 1
    nominal = measure(table, table, "--nominal", "grade", "--json").document
    assert nominal["vd"] is None


def test_missing_cells_are_read_as_asked(measure: Command, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.csv", ["a"], [["x"], ["x"], ["y"], ["y"]])
    holes = write(tmp_path / "holes.csv", ["a"], [["x"], ["?"], ["y"], [""]])
    wildcard, no_match = (
        measure(whole, holes, "--unknown", reading, "--json").document["reidentification"]
        for reading in ("wildcard", "no-match")
    )
    assert (wildcard, no_match) == (pytest.approx(1 / 3), 1)


def test_numbers_that_fit_no_square_give_no_infinity(measure: Command, tmp_path: Path) -> None:
    rows = [[value, "xy"[at % 2]] for at, value in enumerate([1e308, -1e308, 5e307, -3e307, 0, 1] * 5)]
    table = write(tmp_path / "huge.csv", ["a", "class"], rows)
    assert measure(table, table, "--json").document["vd"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["absent.csv"], 6, "absent.csv"),
        (["ragged.csv"], 6, "ragged.csv"),
        (["other.csv"], 6, "no attribute in common"),
        (["original.csv", "--class-column", "outcome"], 6, "'outcome'"),
        (["original.csv", "--numeric", "class"], 2, "both nominal and numeric"),
        (["original.csv", "--nominal", "e"], 6, "'e'"),
        (["original.csv", "--quasi-identifiers", "class"], 2, "'class'"),
        (["original.csv", "--test", "other.csv"], 6, "'a'"),
        (["original.csv", "--unknown", "perhaps"], 2, "perhaps"),
        (["original.csv", "--clusters", "0"], 2, "clusters"),
        (["original.csv", "--clusters", "6..2"], 2, "such as 2..6"),
        (["original.csv", "--clusters", "1..9999"], 2, "at most 20 numbers"),
        (["original.csv", "--clusters", "few"], 2, "--clusters few"),
        (["original.csv", "--sensitive", "e"], 6, "'e'"),
        (["original.csv", "--sensitive", "a", "--quasi-identifiers", "a,b"], 2, "'a' is the sensitive column"),
        (["original.csv", "--test", "original.csv", "--repeats", "5"], 2, "Choose one"),
        (["original.csv", "--repeats", "0"], 2, "repeats"),
        (["original.csv", "--tolerance", "1.5"], 2, "tolerance"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], code: int, said: str, measure: Command, original: Path, tmp_path: Path
) -> None:
    (tmp_path / "ragged.csv").write_text("a,b,class\n1,2,x\n3,y\n")
    write(tmp_path / "other.csv", ["p"], [["1"]])
    paths = [tmp_path / part if part.endswith(".csv") else part for part in arguments]
    done = measure(original, *paths)
    assert done.code == code
    assert said in done.err
    assert not done.out


def test_words_in_a_numeric_column_are_shown(measure: Command, original: Path, tmp_path: Path) -> None:
    table = write(tmp_path / "words.csv", ["a"], [["1"], ["many"]])
    done = measure(table, table, "--numeric", "a")
    assert done.code == 6
    assert "'many'" in done.err


def test_the_installed_command_measures(original: Path, released: Path) -> None:
    command = [sys.executable, "-W", "error", str(Path(sysconfig.get_path("scripts"), "mixbayes"))]
    done = subprocess.run(
        [*command, "measure", str(original), str(released), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | PLAIN,
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)) == KEYS


@pytest.mark.real_tables
@pytest.mark.parametrize("name", ["credit_approval", "vote", "heart_va", "wages_cps85"])
def test_real_tables_are_like_themselves(name: str, measure: Command) -> None:
    path = Path(os.environ["MIXBAYES_DATA"], f"{name}.csv")
    document = measure(path, path, "--json").document
    assert document["clustering"] == {"misclassification_error": 0, "adjusted_rand": 1}
    assert document["vd"] in (0, None)
    if document["utility"]:
        assert all(each["original"] == each["released"] for each in document["utility"].values())
