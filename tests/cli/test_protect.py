"""`mixbayes protect`: the release, its document, what is refused, and what is left when it is stopped."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.files import written
from mixbayes.local_methods.registry import METHODS
from tests.cli.in_process import Command, command
from tests.keys.helpers import HEART, changed

COMMAND = [sys.executable, str(Path(sysconfig.get_path("scripts"), "mixbayes"))]
KEYS = [
    "method",
    "parameters",
    "rows_in",
    "rows_out",
    "missing",
    "unchanged",
    "guarantee",
    "helps",
    "measures",
    "seconds",
]
KEYS += ["sensitive", "why_not"]
ANONYMITY = {"k_anonymity", "l_diversity", "entropy_l_diversity", "t_closeness"}

Rows = Sequence[Sequence[object]]


@pytest.fixture
def protect(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("protect", monkeypatch, capsys)


def write(path: Path, header: Sequence[str], rows: Rows) -> Path:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Eighty rows: two numbers, a flag in words, a code in numbers, gaps, and the class in the middle."""
    random = np.random.default_rng(0)
    rows = []
    for row in range(80):
        age, weight = random.normal(60, 10), random.normal(80, 15)
        weight_text = "?" if row % 9 == 0 else repr(round(weight, 1))
        sick = "sick" if row < 50 else "well"
        rows.append([repr(round(age, 2)), weight_text, sick, random.choice(["yes", "no"]), random.integers(1, 4)])
    return write(tmp_path / "patients.csv", ["age", "weight", "class", "smokes", "ward"], rows)


def test_attacks_are_measured_with_people_held_out(protect: Command, patients: Path, tmp_path: Path) -> None:
    target = tmp_path / "released.csv"
    done = protect(patients, target, "--method", "additive-noise", "--set", "scale=0.01", "--attacks", "--json")
    found = done.document["attacks"]
    assert list(found) == ["reconstruction", "membership", "attribute_inference"]
    assert found["membership"]["interval"][0] > 0.5
    assert found["attribute_inference"]["value"] > 0.1 < found["attribute_inference"]["baseline"]
    shown = protect(patients, target, "--method", "class-wise-condensation", "--set", "k=5", "--attacks").out
    assert "attribute inference" in shown


def test_the_release_and_its_document(protect: Command, patients: Path, tmp_path: Path) -> None:
    target = tmp_path / "released.csv"
    done = protect(patients, target, "--method", "class-wise-condensation", "--set", "t=10", "--json")
    document = done.document
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(document) == KEYS
    assert document["method"] == "class-wise-condensation"
    assert document["parameters"]["t"] == 10
    assert document["parameters"]["group_size"] == 10
    assert document["parameters"]["seed"] is None
    assert (document["rows_in"], document["rows_out"]) == (80, 80)
    assert document["missing"] == {"cells": 9, "rows": 9, "treatment": "keep"}
    assert list(document["guarantee"]) == ["claim", "measured", "holds", "people", "not_promised"]
    assert document["guarantee"]["holds"] is True
    assert document["guarantee"]["people"] is None
    assert document["guarantee"]["measured"] == 10
    assert "second release of the same table tells more" in document["guarantee"]["not_promised"]
    distortion = {"confidence_interval", "vd", "rp", "rk", "cp", "ck"}
    assert set(document["measures"]) == {*ANONYMITY, *distortion, "groups"}
    assert document["sensitive"] == "class"
    assert document["why_not"] == {}
    assert document["seconds"] > 0
    (header, before), (header_after, after) = read(patients), read(target)
    assert header == header_after
    assert sorted(row[2] for row in before) == sorted(row[2] for row in after)
    assert [row[2] for row in before] != [row[2] for row in after]
    ages, weights = ([cell for row in after if (cell := row[at]) != "?"] for at in (0, 1))
    assert max(len(age.partition(".")[2]) for age in ages) == 2
    assert max(len(weight.partition(".")[2]) for weight in weights) == 1
    assert done.err == ""


def test_groups_of_one_class_disclose_it_and_the_release_says_so(
    protect: Command, patients: Path, tmp_path: Path
) -> None:
    arguments = (patients, tmp_path / "out.csv", "--method", "class-wise-condensation", "--set", "t=10")
    document = protect(*arguments, "--json").document
    assert document["measures"]["groups"] == {"k": 10, "l": 1, "entropy_l": 1, "t": pytest.approx(50 / 80)}
    assert (document["measures"]["k_anonymity"], document["measures"]["l_diversity"]) == (1, 1)
    assert "class stays hidden" in document["guarantee"]["not_promised"]
    text = protect(*arguments).out
    assert "Promised to the people in the table: nothing" in text
    assert "; that the class stays hidden: all people of a group have one class" in text
    assert re.search(r"l of the method's groups +│ 1 ", text)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("condensation", ["k=20"]),
        ("perturbation-tree", ["leaf_size=20", "confidential=age"]),
        ("microaggregation", ["k=10", "confidential=age"]),
        ("microaggregation", ["k=10", "variant=univariate"]),
    ],
)
def test_groups_are_those_of_the_method(
    protect: Command, patients: Path, tmp_path: Path, method: str, settings: list[str]
) -> None:
    flags = [word for setting in settings for word in ("--set", setting)]
    document = protect(patients, tmp_path / "out.csv", "--method", method, *flags, "--json").document
    groups = document["measures"]["groups"]
    least = {"condensation": 20, "perturbation-tree": 2, "microaggregation": 10}[method]
    assert groups["k"] >= least
    assert 1 <= groups["entropy_l"] <= groups["l"] + 1e-9 <= 2 + 1e-9
    assert 0 < groups["t"] <= 50 / 80
    assert document["guarantee"]["not_promised"]


def test_methods_without_groups_say_so_and_projections_have_an_l_of_their_own(
    protect: Command, patients: Path, tmp_path: Path
) -> None:
    svd = protect(patients, tmp_path / "out.csv", "--method", "svd", "--set", "rank=2", "--json").document
    assert svd["measures"]["groups"] is None
    assert set(svd["why_not"]) == {"groups"}
    settings = ("--set", "k=4", "--set", "generations=1")
    document = protect(patients, tmp_path / "divided", "--method", "dmpd", *settings, "--json").document
    assert set(document["measures"]) == {*ANONYMITY, "groups"}
    least = {key: float("inf") for key in ("k", "l")}
    for header, rows in map(read, (tmp_path / "divided").iterdir()):
        label = header.index("class")
        groups: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            groups.setdefault(tuple(row[:label] + row[label + 1 :]), []).append(row[label])
        least["k"] = min(least["k"], *map(len, groups.values()))
        least["l"] = min(least["l"], *(len(set(labels)) for labels in groups.values()))
    assert (document["measures"]["k_anonymity"], document["measures"]["l_diversity"]) == (least["k"], least["l"])


def test_another_column_can_be_the_sensitive_one(protect: Command, patients: Path, tmp_path: Path) -> None:
    arguments = (patients, tmp_path / "out.csv", "--method", "microaggregation", "--set", "k=10")
    document = protect(*arguments, "--set", "confidential=age", "--sensitive", "smokes", "--json").document
    assert document["sensitive"] == "smokes"
    assert 1 <= document["measures"]["groups"]["l"] <= 2
    refused = protect(*arguments, "--sensitive", "height")
    assert (refused.code, refused.out) == (6, "")
    assert "there is no column 'height'" in refused.err


def test_without_a_class_nothing_is_sensitive(protect: Command, tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", ["a", "b"], [[row, row % 3] for row in range(12)])
    arguments = (source, tmp_path / "out.csv", "--method", "microaggregation", "--set", "k=3", "--json")
    document = protect(*arguments).document
    assert document["measures"]["l_diversity"] is None
    assert document["measures"]["groups"] == {"k": 3, "l": None, "entropy_l": None, "t": None}
    assert set(document["why_not"]) == {"l_diversity", "entropy_l_diversity", "t_closeness", "groups"}


@pytest.mark.usefixtures("_every_step_is_told")
def test_text_describes_the_release_for_people(protect: Command, patients: Path, tmp_path: Path) -> None:
    done = protect(patients, tmp_path / "out.csv", "--method", "condensation", "--set", "k=10")
    assert done.code == 0
    assert "80 rows released" in done.out
    assert "kept" in done.out
    assert "drawing the groups (8 of 8)" in done.err


def test_a_promise_without_privacy_is_called_so(protect: Command, patients: Path, tmp_path: Path) -> None:
    done = protect(patients, tmp_path / "out.csv", "--method", "svd", "--set", "rank=2")
    assert "protects nobody" in done.out


def test_what_is_released_as_it_was_is_named_and_warned_of(protect: Command, tmp_path: Path) -> None:
    rows = [[f"P{row:05}", "fm"[row % 2], 40 + row, ["ill", "well"][row % 3 % 2]] for row in range(30)]
    source = write(tmp_path / "in.csv", ["number", "sex", "age", "class"], rows)
    arguments = (source, tmp_path / "out.csv", "--method", "microaggregation", "--set", "k=5")
    done = protect(*arguments)
    assert "Released as they were: number, sex, class." in done.out
    assert "column 'number' has another value in every row, and is released as it was" in done.err
    assert done.err.count("is released as it was") == 1
    assert protect(*arguments, "--json").document["unchanged"] == ["number", "sex", "class"]


def test_what_was_changed_is_not_said_to_be_as_it_was(protect: Command, patients: Path, tmp_path: Path) -> None:
    dropped = ("--set", "t=10", "--set", "missing=drop", "--json")
    done = protect(patients, tmp_path / "out.csv", "--method", "class-wise-condensation", *dropped)
    assert done.document["unchanged"] == []
    done = protect(patients, tmp_path / "divided", "--method", "dmpd", "--set", "generations=1", "--json")
    assert done.document["unchanged"] == []


def test_parameters_are_explained_to_people(protect: Command, patients: Path, tmp_path: Path) -> None:
    arguments = ("--method", "dmpd", "--set", "k=5", "--set", "generations=1")
    text = protect(patients, tmp_path / "divided", *arguments).out
    projections = protect(patients, tmp_path / "divided", *arguments, "--json").document["parameters"]["projections"]
    assert "; ".join(", ".join(names) for names in projections) in text
    assert re.search(r"quasi identifiers +│ all columns ", text)
    assert re.search(r"class in key +│ no ", text)
    assert "paired with all of its class in the others" in text
    tree = protect(patients, tmp_path / "out.csv", "--method", "perturbation-tree", "--set", "leaf_size=8").out
    assert re.search(r"min group +│ 2 +│ rows in the smallest group, and so what is promised", tree)


def test_the_same_seed_gives_the_same_bytes(protect: Command, patients: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.csv" for name in ("one", "same", "other")]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        protect(patients, file, "--method", "condensation", "--set", "k=10", "--set", "seeds=kmeans", "--seed", seed)
    one, same, other = (file.read_bytes() for file in files)
    assert one == same != other


def test_columns_of_numbers_can_be_names(protect: Command, patients: Path, tmp_path: Path) -> None:
    arguments = (patients, tmp_path / "out.csv", "--method", "condensation", "--set", "k=10", "--json")
    promised = [
        protect(*arguments, *more).document["guarantee"]["not_promised"] for more in (["--nominal", "ward"], [])
    ]
    assert "bounds of age, weight tell" in promised[0]
    assert "bounds of age, weight, ward tell" in promised[1]


def test_the_class_column_can_be_another_one(protect: Command, patients: Path, tmp_path: Path) -> None:
    arguments = ("--method", "class-wise-condensation", "--set", "k=20", "--class-column", "smokes")
    protect(patients, tmp_path / "out.csv", *arguments)
    before, after = ([row[3] for row in read(path)[1]] for path in (patients, tmp_path / "out.csv"))
    assert sorted(before) == sorted(after)


def test_a_release_that_can_be_repeated_says_so(protect: Command, patients: Path, tmp_path: Path) -> None:
    arguments = ("--method", "condensation", "--set", "k=10")
    files = [tmp_path / name for name in ("one.csv", "two.csv", "three.csv")]
    first, second, known = (
        protect(patients, file, *arguments, *more) for file, more in zip(files, ([], [], ["--seed", 1]), strict=True)
    )
    assert files[0].read_bytes() != files[1].read_bytes()
    assert (first.err, second.err) == ("", "")
    assert "made with --seed. Whoever knows or guesses the seed" in known.err
    assert "--seed" not in known.out


ATTRIBUTES = [
    {"name": "age", "kind": "numeric", "low": 18, "high": 120},
    {"name": "smokes", "kind": "nominal", "values": ["yes", "no", "gave up"]},
    {"name": "ward", "kind": "nominal", "values": ["1", "2", "3", "4"]},
]


@pytest.fixture
def agreed(tmp_path: Path) -> Path:
    """An agreement about three columns of the patients and their class; nobody agreed on their weight."""
    attributes, classes = ("dictionary", "attributes"), ("dictionary", "classes")
    path = tmp_path / "federation.toml"
    path.write_text(written(federation_from(changed(HEART, (attributes, ATTRIBUTES), (classes, ["sick", "well"])))))
    return path


def test_bounds_and_values_are_those_of_the_agreement(
    protect: Command, patients: Path, tmp_path: Path, agreed: Path
) -> None:
    arguments = (patients, tmp_path / "out.csv", "--method", "sample-generation", "--federation", agreed)
    document = protect(*arguments, "--set", "classifiers=tree", "--seed", "0", "--json").document
    promised = document["guarantee"]["not_promised"]
    assert promised.endswith("that the bounds of weight tell nothing: they are the table's own, rounded outwards")
    assert "domain" not in document["parameters"]
    rows = read(tmp_path / "out.csv")[1]
    assert 18 <= min(float(row[0]) for row in rows) < 25 < 110 < max(float(row[0]) for row in rows) <= 120
    assert {row[3] for row in rows} == {"yes", "no", "gave up"}
    assert {row[4] for row in rows} == {"1", "2", "3", "4"}


def test_the_agreed_class_is_the_class(protect: Command, tmp_path: Path, agreed: Path) -> None:
    agreed.write_text(agreed.read_text().replace('class_column = "class"', 'class_column = "found"'))
    source = write(tmp_path / "in.csv", ["age", "found"], [[20 + row, ["sick", "well"][row % 2]] for row in range(40)])
    arguments = ("--method", "class-wise-condensation", "--set", "k=10", "--federation", agreed, "--json")
    assert protect(source, tmp_path / "out.csv", *arguments).document["sensitive"] == "found"


def test_a_promise_to_a_row_goes_by_the_agreed_classes(protect: Command, tmp_path: Path, agreed: Path) -> None:
    """Else a class that occurs in the release would tell that a patient has it."""
    source = write(tmp_path / "in.csv", ["age", "class"], [[20 + row, "sick"] for row in range(40)])
    arguments = (
        "--method",
        "private-synthesis",
        "--set",
        "epsilon=0.5",
        "--seed",
        "1",
        "--federation",
        agreed,
        "--json",
    )
    document = protect(source, tmp_path / "out.csv", *arguments).document
    assert {row[1] for row in read(tmp_path / "out.csv")[1]} == {"sick", "well"}
    assert "on which nobody agreed" not in document["guarantee"]["people"]


def test_what_is_no_agreement_is_refused_before_the_work(protect: Command, patients: Path, tmp_path: Path) -> None:
    arguments = (patients, tmp_path / "never.csv", "--method", "condensation", "--federation")
    done = protect(*arguments, tmp_path / "nowhere.toml")
    assert (done.code, done.out) == (6, "")
    assert "nowhere.toml: The file cannot be read: No such file" in done.err
    assert "This is not TOML" in protect(*arguments, patients).err
    assert not (tmp_path / "never.csv").exists()


def test_what_was_agreed_cannot_be_called_otherwise(
    protect: Command, patients: Path, tmp_path: Path, agreed: Path
) -> None:
    done = protect(
        patients, tmp_path / "never.csv", "--method", "condensation", "--federation", agreed, "--nominal=age"
    )
    assert (done.code, done.out) == (2, "")
    assert "both nominal and numeric: 'age'" in done.err


def test_distortion_compares_rows_with_those_in_whose_places_they_stand(
    protect: Command, patients: Path, tmp_path: Path
) -> None:
    """Two groups lie far apart; paired by their order, half of the rows would be compared with the other group's."""
    rows = [[place + number / 10, "ill"] for place in (0, 1000) for number in range(20)]
    source = write(tmp_path / "in.csv", ["dose", "class"], rows)
    settings = ("--set", "k=20", "--set", "seeds=kmeans", "--json")
    found = protect(source, tmp_path / "out.csv", "--method", "condensation", *settings).document["measures"]
    assert found["vd"] < 0.3


def test_of_rows_that_stand_in_nobodys_place_there_is_no_distortion(
    protect: Command, patients: Path, tmp_path: Path
) -> None:
    settings = ("--method", "private-synthesis", "--set", "epsilon=8", "--seed=20", "--json")
    document = protect(patients, tmp_path / "out.csv", *settings).document
    assert document["rows_in"] == document["rows_out"]
    assert set(document["measures"]) == {*ANONYMITY, "groups"}


def test_rows_can_be_dropped_and_the_counts_say_so(protect: Command, patients: Path, tmp_path: Path) -> None:
    settings = ("--set", "k=10", "--set", "missing=drop", "--json")
    document = protect(patients, tmp_path / "out.csv", "--method", "condensation", *settings).document
    assert (document["rows_in"], document["rows_out"]) == (80, 71)
    assert len(read(tmp_path / "out.csv")[1]) == 71


def test_cells_that_did_not_change_keep_their_text(protect: Command, tmp_path: Path) -> None:
    rows = [[f"{row}.50", "01", 10 + row] for row in range(12)]
    source = write(tmp_path / "in.csv", ["age", "code", "wage"], rows)
    settings = ("--set", "k=3", "--set", "confidential=wage")
    done = protect(source, tmp_path / "out.csv", "--method", "microaggregation", *settings)
    assert done.code == 0, done.err
    after = read(tmp_path / "out.csv")[1]
    assert [row[:2] for row in after] == [[f"{row}.50", "01"] for row in range(12)]
    assert [row[2] for row in after[:4]] == ["11", "11", "11", "14"]


def test_parquet_by_its_name(protect: Command, patients: Path, tmp_path: Path) -> None:
    for name in ("out.csv", "out.parquet"):
        assert protect(patients, tmp_path / name, "--method", "condensation", "--set", "k=10", "--seed", 1).code == 0
    table = pq.read_table(tmp_path / "out.parquet").to_pydict()
    header, rows = read(tmp_path / "out.csv")
    assert list(table) == header
    assert table["age"] == [float(row[0]) for row in rows]
    assert table["weight"] == [None if row[1] == "?" else float(row[1]) for row in rows]
    assert table["smokes"] == [None if row[3] == "?" else row[3] for row in rows]


@pytest.mark.parametrize(
    ("method", "settings", "code", "said"),
    [
        ("no-such-method", [], 2, "There are condensation, class-wise-condensation"),
        ("condensation", ["k=zero"], 2, "'zero' is not"),
        ("condensation", ["k"], 2, "KEY=VALUE"),
        ("condensation", ["k=3", "k=4"], 2, "given twice"),
        ("condensation", ["rows=3"], 2, "has no parameter 'rows'"),
        ("svd", [], 2, "svd needs rank"),
        ("condensation", ["k=81"], 6, "No group of k = 81 rows can be made of 80 rows"),
        ("class-wise-condensation", ["t=40"], 6, "'well' has 30"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(
    protect: Command, patients: Path, tmp_path: Path, method: str, settings: list[str], code: int, said: str
) -> None:
    flags = [word for setting in settings for word in ("--set", setting)]
    done = protect(patients, tmp_path / "never.csv", "--method", method, *flags)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,class\n1,2,x\n3,y\n", "line 3 has 2"),
        ("a,class\n", "0 rows"),
        ("class\nx\nx\n", "0 columns"),
        ("a,class\n?,x\n?,y\n", "No column of the table has a value"),
        ("a,class\n1,x\n2,\n3,x\n", "the first is row 2"),
    ],
)
def test_bad_tables_end_with_6(protect: Command, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    done = protect(tmp_path / "bad.csv", tmp_path / "never.csv", "--method", "condensation", "--set", "k=3")
    assert done.code == 6
    assert said in done.err
    assert "bad.csv" in done.err
    assert not (tmp_path / "never.csv").exists()


def test_a_method_that_needs_a_class_says_so(protect: Command, tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", ["a", "b"], [[row, row] for row in range(9)])
    done = protect(source, tmp_path / "never.csv", "--method", "class-wise-condensation")
    assert done.code == 6
    assert "--class-column" in done.err


def test_a_word_among_numbers_is_told(protect: Command, patients: Path, tmp_path: Path) -> None:
    patients.write_text(patients.read_text() + "n/a,80.1,well,yes,1\n")
    arguments = (patients, tmp_path / "out.csv", "--method", "microaggregation", "--set", "k=5")
    said = "column 'age' has numbers, and words among them"
    assert said in protect(*arguments).err
    assert said not in protect(*arguments, "--nominal", "age").err


def test_projections_of_nothing_are_refused_and_the_table_is_named(protect: Command, tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv", ["name", "class"], [[f"n{row}", row % 2] for row in range(9)])
    done = protect(source, tmp_path / "out", "--method", "dmpd", "--set", "k=3")
    assert (done.code, done.out) == (6, "")
    assert "in.csv: k = 3: no column can be released" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_the_table_itself_is_never_overwritten(protect: Command, patients: Path) -> None:
    before = patients.read_bytes()
    done = protect(patients, patients, "--method", "condensation", "--set", "k=10")
    assert done.code == 2
    assert patients.read_bytes() == before


def test_a_folder_that_is_not_there_is_noticed_before_the_work(protect: Command, patients: Path) -> None:
    done = protect(patients, patients.parent / "no" / "out.csv", "--method", "condensation", "--set", "k=10")
    assert done.code == 6
    assert "there is no folder" in done.err
    assert "drawing" not in done.err


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.gz"])
def test_a_name_that_promises_another_kind_of_file_is_refused(protect: Command, patients: Path, name: str) -> None:
    done = protect(patients, patients.parent / name, "--method", "condensation", "--set", "k=10")
    assert done.code == 2
    assert f"{name}: CSV or, by its name, Parquet can be written, not {Path(name).suffix}" in done.err
    assert not (patients.parent / name).exists()


def test_a_number_that_is_its_groups_mean_does_not_stand_out_by_its_spelling(protect: Command, tmp_path: Path) -> None:
    ages = [["30.0", "1.0"], ["40.0", "2.0"], ["50.0", "3.0"], ["80", "4.0"], ["81", "5.0"], ["82", "6.0"]]
    source, target = write(tmp_path / "in.csv", ["age", "day"], ages), tmp_path / "out.csv"
    told = protect(
        source, target, "--method", "microaggregation", "--set", "k=3", "--set", "confidential=age", "--json"
    )
    assert told.document["guarantee"]["holds"] is True
    assert read(target)[1] == [[str(40 if i < 3 else 81), day] for i, (_, day) in enumerate(ages)]


@pytest.mark.parametrize(
    ("wages", "released"),
    [
        (["07", "7", "7.0", "7", "9", "9", "9", "9.00"], ["7"] * 4 + ["9"] * 4),
        (["", "?", "?", "?", "5", "6", "7", "8"], ["?"] * 4 + ["6.5"] * 4),
    ],
    ids=["numbers", "gaps"],
)
def test_nobody_stands_out_by_a_spelling(
    protect: Command, tmp_path: Path, wages: list[str], released: list[str]
) -> None:
    rows = [[wage, day] for wage, day in zip(wages, ["01", "", "?", "4.0"] * 2, strict=True)]
    source, target = write(tmp_path / "in.csv", ["wage", "day"], rows), tmp_path / "out.csv"
    done = protect(source, target, "--method", "microaggregation", "--set", "k=4", "--set", "confidential=wage")
    assert "shared by at least 4 rows - kept" in " ".join(done.out.split())
    assert read(target)[1] == [[wage, day] for wage, (_, day) in zip(released, rows, strict=True)]


def test_stopped_it_leaves_what_was_there(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    source = write(tmp_path / "in.csv", ["a", "b"], random.normal(size=(200_000, 2)).tolist())
    target = tmp_path / "out.csv"
    target.write_text("before")
    command = [*COMMAND, "protect", source, target, "--method", "condensation", "--set", "k=3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "mixbayes: stopped"
    assert "Traceback" not in err
    assert target.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_registry_runs(protect: Command, patients: Path, tmp_path: Path, method: str) -> None:
    needed = {
        "perturbation-tree": ["leaf_size=8", "confidential=age"],
        "microaggregation": ["k=5", "confidential=age"],
        "private-synthesis": ["epsilon=4"],
        "svd": ["rank=2"],
        "recoding": ["suppress=age"],
        "sparsified-svd": ["rank=2", "sparsity=0.2"],
    }
    flags = [word for setting in needed.get(method, []) for word in ("--set", setting)]
    done = protect(patients, tmp_path / "out.csv", "--method", method, *flags, "--json")
    assert done.document["guarantee"]["holds"] is True
    files = sorted((tmp_path / "out.csv").glob("*")) or [tmp_path / "out.csv"]  # a folder, if it is divided
    assert [len(read(file)[1]) for file in files] == [done.document["rows_out"]] * len(files)


def test_help_has_examples(protect: Command) -> None:
    done = protect("-h")
    assert done.code == 0
    assert "mixbayes protect patients.csv" in done.out


def test_for_people_figures_are_short_and_explained(protect: Command, patients: Path, tmp_path: Path) -> None:
    done = protect(patients, tmp_path / "released.csv", "--method", "microaggregation", "--set", "k=5")
    assert "k-anonymity" in done.out
    assert not re.search(r"[1-9]\d{4,}", done.out)


def test_taxonomies_come_from_a_file_and_sets_of_names_from_one_text(
    protect: Command, patients: Path, tmp_path: Path
) -> None:
    header, rows = read(patients)
    at = header.index("smokes")
    leaves = sorted({row[at] for row in rows} - {"", "?"})
    (tmp_path / "trees.json").write_text(json.dumps({"smokes": {"anybody": [{"asked": leaves}]}}))
    arguments = ("--method", "generalisation", "--set", f"taxonomies={tmp_path / 'trees.json'}", "--set", "k=5")
    sets = ("--set", "quasi_identifiers=age,smokes/smokes")
    done = protect(patients, tmp_path / "out.csv", *arguments, *sets)
    assert re.search(r"quasi identifiers +│ age, smokes; smokes ", done.out)
    assert re.search(r"taxonomies +│ for smokes ", done.out)
    document = protect(patients, tmp_path / "out.csv", *arguments, *sets, "--json").document
    assert document["measures"]["k_anonymity"] == document["parameters"]["anonymity"] >= 5
    assert document["parameters"]["quasi_identifiers"] == [["age", "smokes"], ["smokes"]]
    refused = protect(patients, tmp_path / "out.csv", "--method", "generalisation", "--set", "taxonomies=nowhere.json")
    assert (refused.code, "nowhere.json cannot be read" in refused.err) == (6, True)
