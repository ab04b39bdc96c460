"""`mixbayes inspect` and `mixbayes count`, and the options of every command that reads a table."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from tests.cli.typed import Prompt
from tests.services.helpers import Site, write_csv

EXPORT = """\
name;age;crp;drugs;outcome
A;61;5,2;aspirin|heparin;well
B;58;1,4;none;ill
C;999;;aspirin;well
E;999;;aspirin;well
F;999;;none;ill
""" + "".join(f"D{i};{40 + i};{i},5;heparin|aspirin;{'ill' if i % 2 else 'well'}\n" for i in range(30))
OPTIONS = ["--decimal", ",", "--missing", "age=999"]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.csv"
    path.write_text(EXPORT, encoding="cp1252")
    return path


def test_inspect_describes_every_column(typed: Prompt, export: Path) -> None:
    document = typed("inspect", export, *OPTIONS, "--several", "drugs:|", "--json").document
    assert document.pop("seconds") >= 0
    assert (document["rows"], document["class_column"]) == (35, {"name": "outcome", "guessed": True})
    columns = {column.pop("name"): column for column in document["columns"]}
    assert columns["age"] == {
        "kind": "numeric",
        "distinct": 30,
        "complete": True,
        "missing": 3,
        "low": 40.0,
        "high": 69.0,
        "most_frequent": [["58", 2], ["61", 2]],
        "doubts": [],
    }
    assert [column["kind"] for column in columns.values()] == ["nominal", "numeric", "numeric", "several", "class"]
    assert "another value in every row" in columns["name"]["doubts"][0]


def test_inspect_for_people_names_what_is_predicted_and_what_is_doubtful(typed: Prompt, export: Path) -> None:
    done = typed("inspect", export)
    assert done.code == 0, done.err
    for said in ("35 rows", "What is predicted: outcome, a guess", "say `--decimal ,`", "say `--missing age=999`"):
        assert said in done.out


def test_inspect_shows_the_single_values_of_lists(typed: Prompt, export: Path) -> None:
    document = typed("inspect", export, *OPTIONS, "--several", "drugs:|", "--json").document
    drugs = next(column for column in document["columns"] if column["name"] == "drugs")
    assert (drugs["distinct"], drugs["missing"]) == (3, 0)
    assert drugs["most_frequent"] == [["aspirin", 33], ["heparin", 31], ["none", 2]]


@pytest.mark.parametrize(
    "said", [["--several", "NOSUCH"], ["--nominal", "age,NOSUCH"], ["--numeric", "NOSUCH"], ["--nominal", "outcome"]]
)
def test_inspect_refuses_what_is_said_of_no_attribute(typed: Prompt, export: Path, said: list[str]) -> None:
    done = typed("inspect", export, *said)
    assert done.code == 6
    assert f"There is no attribute '{said[1].split(',')[-1]}'" in done.err


def test_inspect_as_if_bins_were_cut(typed: Prompt, export: Path) -> None:
    document = typed("inspect", export, *OPTIONS, "--bins", "4", "--class-column", "name", "--json").document
    kinds = [column["kind"] for column in document["columns"]]
    assert (kinds, document["class_column"]["guessed"]) == (["class", "binned", "binned", "nominal", "nominal"], False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--delimiter", ";;"], "say one character, or tab"),
        (["--decimal", ";"], "say . or ,"),
        (["--encoding", "klingon"], "no such encoding"),
        (["--missing", "weight=0"], "there is no column 'weight'"),
        (["--table", "patients"], "is no database"),
        (["--table", "a", "--query", "b.sql"], "say one of them"),
        (["--several", ":|"], "say COLUMN or COLUMN:SEPARATOR"),
    ],
)
def test_options_that_cannot_be_are_usage(typed: Prompt, export: Path, options: list[str], said: str) -> None:
    done = typed("inspect", export, *options)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("address", "said"),
    [("nobody.csv", "No such file"), ("*.parquet", "no file has a name of this pattern"), ("ftp://x/y", "no source")],
)
def test_tables_that_are_not_there(typed: Prompt, tmp_path: Path, address: str, said: str) -> None:
    done = typed("inspect", address if ":" in address else tmp_path / address)
    assert done.code in (2, 6)
    assert said in done.err


def test_the_same_options_reach_every_command(typed: Prompt, export: Path, tmp_path: Path) -> None:
    members = ["--party", "north=127.0.0.1:4001", "--party", "south"]
    made = typed(
        *("federation", "new", tmp_path, "--name", "pair", *members, "--like", export, "--without-noise", *OPTIONS),
        *("--several", "drugs:|", "--most-values", "5", "--keep", "name"),
    )
    assert made.code == 0, made.err
    text = (tmp_path / "federation.toml").read_text()
    assert 'kind = "several"\nvalues = ["aspirin", "heparin"]\nseparator = "|"\nmost = 5' in text
    assert "low = 40.0\nhigh = 70.0" in text
    out = tmp_path / "counts.json"
    done = typed("count", export, "--federation", tmp_path / "federation.toml", "-o", out, *OPTIONS)
    assert (done.code, done.out) == (0, ""), done.err
    found = json.loads(out.read_text())
    assert (found["rows"], found["counts"][:2], found["clipped"]) == (35, [17, 18], {})
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "Keep it on this machine" in done.err
    printed = typed("count", export, "--federation", tmp_path / "federation.toml", *OPTIONS).document
    assert printed == found


def test_count_refuses_what_a_node_would_refuse(typed: Prompt, site: Site, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("sex,class\nx,no\n")
    done = typed("count", tmp_path / "other.csv", "--federation", site.file)
    assert done.code == 6
    assert "column 'tumour' is missing" in done.err


def test_identifiers_are_written_beside_the_labels(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    table, out = serving.tables["west"].take(np.arange(3)), tmp_path / "out.csv"
    write_csv(tmp_path / "new.csv", table)
    lines = (tmp_path / "new.csv").read_text().splitlines()
    named = [f"{'patient' if i == 0 else f'P{i}'},{line}" for i, line in enumerate(lines)]
    (tmp_path / "new.csv").write_text("\n".join(named))
    done = typed.at(serving, "north", "classify", tmp_path / "new.csv", "--id", "patient", "-o", out)
    assert done.code == 0, done.err
    assert "'patient'" not in done.err
    expected = [f"P{i},{label}" for i, label in enumerate(serving.expected(table), start=1)]
    assert out.read_text().splitlines() == ["patient,label", *expected]
    missing = typed.at(serving, "north", "classify", tmp_path / "new.csv", "--id", "name", "-o", out)
    assert missing.code == 6
    assert "no column 'name' for --id" in missing.err


def test_a_column_that_is_unknown_throughout_is_not_charged(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("tumour;sex\n1,5;F\n2,5;M\n")
    left = serving.status("west").budget_left
    words = ["classify", tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    done = typed.at(serving, "west", *words)
    assert done.code == 6
    assert "unknown to the classifier in every row" in done.err
    assert "Nothing was asked" in done.err
    assert serving.status("west").budget_left == left
    assert typed.at(serving, "west", *words, "--force").code == 0
    assert serving.status("west").budget_left == left - 2


def test_every_command_means_the_same_by_a_spelling_and_tells_what_no_cell_says(typed: Prompt, tmp_path: Path) -> None:
    rows = [f"{'0.0' if i % 4 == 0 else f'{150 + i}.5'},{'ill' if i % 3 else 'well'}" for i in range(60)]
    table, folder = tmp_path / "t.csv", tmp_path / "agreed"
    table.write_text("\n".join(["chol,class", *rows]) + "\n")
    options = ["--missing", "chol=0;chol=98"]
    told = f"{table}: no cell of column 'chol' says '98', which --missing names."
    done = typed("inspect", table, *options, "--json")
    (chol, _) = done.document["columns"]
    assert (chol["missing"], chol["low"], told in done.err) == (15, 151.5, True)
    members = ["--name", "pair", "--party", "north=127.0.0.1:4001", "--party", "south"]
    done = typed("federation", "new", folder, *members, "--like", table, "--without-noise", *options)
    assert (done.code, told in done.err) == (0, True)
    done = typed("count", table, "--federation", folder / "federation.toml", *options)
    assert (sum(done.document["counts"][2:4]), done.document["clipped"], told in done.err) == (45, {}, True)
    done = typed("protect", table, tmp_path / "out.csv", "--method", "microaggregation", "--set", "k=3", *options)
    assert (done.code, told in done.err) == (0, True), done.err
    done = typed("simulate", table, *options, "--json")
    assert (done.code, told in done.err) == (0, True), done.err


def test_a_comma_in_a_spelling_is_never_taken_apart_unsaid(typed: Prompt, export: Path) -> None:
    done = typed("inspect", export, "--missing", "crp=1,4")
    assert (done.code, "may be a decimal comma" in done.err) == (2, True)
    done = typed("inspect", export, "--missing", "crp=1,4", "--decimal", ",", "--json")
    assert [column["missing"] for column in done.document["columns"] if column["name"] == "crp"] == [4]


def test_count_tells_of_a_column_in_another_unit(typed: Prompt, tmp_path: Path) -> None:
    def written(name: str, times: float) -> Path:
        rows = [f"{(150 + i % 30) * times},{i % 25},{'ill' if i % 3 else 'well'}" for i in range(60)]
        (tmp_path / name).write_text("\n".join(["chol,age,class", *rows]) + "\n")
        return tmp_path / name

    members = ["--name", "pair", "--party", "north=127.0.0.1:4001", "--party", "south"]
    done = typed("federation", "new", tmp_path / "agreed", *members, "--like", written("mg.csv", 1), "--without-noise")
    assert done.code == 0, done.err
    agreed = ["--federation", tmp_path / "agreed" / "federation.toml"]
    assert "another unit" not in typed("count", written("mg.csv", 1), *agreed).err
    done = typed("count", written("mmol.csv", 0.0259), *agreed)
    assert done.document["clipped"] == {"chol": 60}
    assert "more than half of the values of column 'chol' lie beyond the agreed bounds" in done.err


def test_capitals_among_the_values_of_lists_are_told(typed: Prompt, tmp_path: Path) -> None:
    rows = [f"{'I10;E11' if i % 2 else 'i10'},{i % 7}.5,{'ill' if i % 3 else 'well'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["icd,crp,class", *rows]) + "\n")
    told = "column 'icd' lists values that differ only in capitals or blanks, as 'I10' and 'i10'"
    assert told in typed("inspect", tmp_path / "t.csv", "--several", "icd").out
    members = ["--name", "pair", "--party", "north=127.0.0.1:4001", "--party", "south"]
    done = typed(
        "federation", "new", tmp_path, *members, "--like", tmp_path / "t.csv", "--several", "icd", "--without-noise"
    )
    assert (done.code, told in done.err) == (0, True)


def test_a_row_of_totals_is_named_where_it_has_no_class(typed: Prompt, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,class\n" + "1,ill\n2,well\n" * 9 + "27,\n")
    assert "'class' has no class in 1 row (row 19 below the header)" in typed("inspect", tmp_path / "t.csv").out


def test_spellings_of_a_missing_cell_add_up(typed: Prompt, export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*options: str) -> dict[str, int]:
        columns = typed("inspect", export, *options, "--json").document["columns"]
        return {column["name"]: column["missing"] for column in columns if column["missing"]}

    assert missing("--missing", "age=999", "--missing", "drugs=none;name=A") == {
        "name": 1,
        "age": 3,
        "crp": 3,
        "drugs": 2,
    }
    monkeypatch.setenv("MIXBAYES_READ_MISSING", "age=999,not known")
    assert missing() == {"age": 3, "crp": 3}
    assert missing("--missing", "drugs=none") == {"crp": 3, "drugs": 2}
