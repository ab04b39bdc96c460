"""`mixbayes simulate` as its users have it: its nodes are real processes.

The command itself mostly runs in the process of the test, so that all simulations share one server of processes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.oracle import Row, Rules, classify, ordered, share_right
from tests.cli.simulating import Simulated, document_of, labels_in, mixbayes, secret_rows, without, write_csv

EXACT = 1e-6
"""Near-ties, in bits: of values counted, and of numbers under a bell curve, which are rounded to fixed point."""
ROUNDED = 1e-2


def write_parquet(path: Path, rows: Sequence[Row]) -> Path:
    pq.write_table(pa.table({name: [row[name] or None for row in rows] for name in rows[0]}), path)
    return path


def random_rows(
    number: int, count: int, classes: Sequence[str], domains: Mapping[str, Sequence[str]], gaps: float = 0.1
) -> list[Row]:
    """Rows whose values lean towards their class, with gaps of both spellings."""
    rng = np.random.default_rng(number)
    rows = []
    for _ in range(count):
        c = int(rng.integers(len(classes)))
        row = {}
        for name, values in domains.items():
            lean = c % len(values) if rng.random() < 0.4 else int(rng.integers(len(values)))
            row[name] = str(rng.choice(["", "?"])) if rng.random() < gaps else values[lean]
        rows.append(row | {"class": classes[c]})
    return rows


ODD = {
    "größe, cm": ["klein", "mittel", "sehr groß"],
    'said "x"': ["a,b", 'c"d', " leading", "line\nbreak"],
    "number": ["1", "1.0", "2", "10"],
    "single": ["only"],
    "colour": ["blue", "green", "red", "white", "black"],
}
"""Columns and values that a careless reader or writer would spoil."""


def check_labels(
    path: Path, counted: Sequence[Row], asked: Sequence[Row], rules: Rules, tolerance: float = EXACT
) -> list[str]:
    """The labels in the file, once they are seen to be the pooled classifier's."""
    labels = labels_in(path)
    assert classify(counted, asked, rules).contradicts(labels, tolerance) == []
    assert len(set(labels)) > 1
    return labels


def test_hospitals_that_differ_in_everything_but_their_columns(tmp_path: Path, simulated: Simulated) -> None:
    classes = ["cold", "flu, type A", "well"]
    first = random_rows(1, 60, classes, ODD)
    second = random_rows(2, 45, classes[1:], ODD)  # never saw a cold
    third = random_rows(3, 30, classes, ODD)
    tables = [
        write_csv(tmp_path / "x" / "north.csv", first),
        write_csv(tmp_path / "y" / "north.csv", second, [*reversed(second[0])]),
        write_csv(tmp_path / "south.csv", third, sorted(third[0])),
    ]
    asked = random_rows(4, 200, classes, ODD | {"colour": [*ODD["colour"], "never seen"]}, gaps=0.2)
    extra = [row | {"patient": f"p{i}"} for i, row in enumerate(without(asked, "class"))]
    query = write_csv(tmp_path / "new.csv", extra, sorted(extra[0]))
    out = tmp_path / "labels.csv"
    out.write_text("what was there before, " * 1000)

    document = document_of(simulated(*tables, "--classify", query, "--labels", out, "--smoothing", "1/3", "--json"))

    check_labels(out, [*first, *second, *third], asked, Rules(smoothing=1 / 3))
    assert [(h["name"], h["rows"]) for h in document["hospitals"]] == [("north-1", 60), ("north-2", 45), ("south", 30)]
    assert (document["classes"], document["instances"]) == (classes, 200)
    assert document["agreement_with_pooled"] > 0.97  # a tie of exact fractions may go either way
    nobody = {"north-1": None, "north-2": None, "south": None}
    assert document["accuracy"] == {"joint": None, "pooled": None, "pooled_unprotected": None, "alone": nobody}
    assert min(*document["bytes"].values(), *document["rounds"].values()) > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "new.csv", "south.csv", "x", "y"]


def test_parquet_tables_public_rows_and_known_classes(tmp_path: Path, simulated: Simulated) -> None:
    classes = ["no", "yes"]
    north, south = (random_rows(number, 80, classes, ODD) for number in (5, 6))
    tables = write_parquet(tmp_path / "north.parquet", north), write_csv(tmp_path / "south.csv", south)
    asked = random_rows(7, 150, classes, ODD)
    query = write_parquet(tmp_path / "new.pq", asked)
    out = tmp_path / "labels.csv"

    document = document_of(
        simulated(
            *(*tables, "--classify", query, "--labels", out),
            *("--public-instances", "--smoothing", "0.5", "--hospitals", "2", "--json"),
        )
    )

    rules, truth = Rules(smoothing=0.5), [row["class"] for row in asked]
    labels = check_labels(out, [*north, *south], asked, rules)
    accuracy = document["accuracy"]
    assert accuracy["joint"] == pytest.approx(share_right(labels, truth))
    assert accuracy["pooled"] == accuracy["pooled_unprotected"]
    for share, rows in (
        (accuracy["pooled"], [*north, *south]),
        (accuracy["alone"]["north"], north),
        (accuracy["alone"]["south"], south),
    ):
        alone = classify(rows, asked, rules, known=[*north, *south])
        near_ties = float(np.mean(alone.margins <= EXACT))
        assert share == pytest.approx(share_right(alone.labels, truth), abs=near_ties + 1e-9)


def test_two_hospitals_alone_with_26_classes_asked_about_a_table_they_trained_on(
    tmp_path: Path, simulated: Simulated
) -> None:
    classes = [chr(ord("A") + i) for i in range(26)]
    domains = {f"a{i}": [f"v{v}" for v in range(13)] for i in range(4)}
    north, south = random_rows(8, 300, classes, domains), random_rows(9, 200, classes[3:], domains)
    tables = write_csv(tmp_path / "north.csv", north), write_csv(tmp_path / "south.csv", south)
    out = tmp_path / "labels.csv"

    document = document_of(simulated(*tables, "--two-party", "--classify", tables[0], "--labels", out, "--json"))

    check_labels(out, [*north, *south], north, Rules())
    assert [h["rows"] for h in document["hospitals"]] == [300, 200]
    assert document["bytes"]["hospitals_to_mixers"] == 0
    assert min(document["bytes"]["training"], document["bytes"]["classification"]) > 0


@pytest.mark.parametrize("protocol", ["shares", "paillier"])
def test_two_hospitals_alone_with_one_attribute_and_public_rows(
    tmp_path: Path, protocol: str, simulated: Simulated
) -> None:
    rows = random_rows(10, 200, ["no", "yes"], {"colour": ODD["colour"]})
    asked = random_rows(11, 50, ["no", "yes"], {"colour": [*ODD["colour"], "never seen"]})
    table, query = write_csv(tmp_path / "all.csv", rows), write_csv(tmp_path / "new.csv", asked)
    out = tmp_path / "labels.csv"

    document = document_of(
        simulated(
            *(table, "--two-party", "--public-instances", "--protocol", protocol),
            *("--classify", query, "--labels", out, "--json"),
        )
    )

    check_labels(out, rows, asked, Rules())
    assert document["protocol"] == protocol
    assert [h["rows"] for h in document["hospitals"]] == [100, 100]


def numeric_rows(number: int, count: int, stretch: float = 1.0) -> list[Row]:
    """Measurements around their class, one with few values, codes that look like numbers, gaps; the class is amidst."""
    rng = np.random.default_rng(number)
    rows = []
    for _ in range(count):
        c = int(rng.integers(3))
        gap = rng.random() < 0.1
        rows.append(
            {
                "age": "?" if gap else repr(float(rng.normal(40 + 10 * c, 12) * stretch)),
                "grade": str(int(rng.integers(c, 5 + c))),
                "outcome": f"class {c}",
                "ward": str(100 + int(rng.integers(30))),
                "ph": f"{rng.normal(7 + c / 4, 0.3) * stretch:.2e}",
                "sex": str(rng.choice(["f", "m"])),
            }
        )
    return rows


@pytest.mark.parametrize(
    ("flags", "bins", "tolerance"),
    [(("--bins", "4"), 4, EXACT), ((), None, ROUNDED)],
    ids=["binned", "gaussian"],
)
def test_numbers(
    tmp_path: Path, flags: tuple[str, ...], bins: int | None, tolerance: float, simulated: Simulated
) -> None:
    parts = [numeric_rows(number, 50) for number in (12, 13, 14, 15)]
    tables = [write_csv(tmp_path / f"{i}.csv", part) for i, part in enumerate(parts)]
    asked = numeric_rows(16, 150, stretch=1.5)  # many lie beyond the bounds
    out = tmp_path / "labels.csv"
    document = document_of(
        simulated(
            *(*tables, "--classify", write_csv(tmp_path / "new.csv", asked), "--labels", out),
            *("--class-column", "outcome", "--nominal", "ward,sex", "--numeric", "grade", *flags, "--json"),
        )
    )
    counted = [row for part in parts for row in part]
    labels = check_labels(out, counted, asked, Rules("outcome", 1.0, bins, ("ward", "sex"), ("grade",)), tolerance)
    assert document["accuracy"]["joint"] == pytest.approx(share_right(labels, [row["outcome"] for row in asked]))


def test_ties_go_to_the_class_that_comes_first(tmp_path: Path, simulated: Simulated) -> None:
    """Classes that are numbers come in the order of numbers, and rows of which nothing is known go by the prior."""
    colours = ["blue", "green", "red", "red"]
    north = [{"colour": colour, "size": "s", "class": name} for name in ("10", "9") for colour in colours]
    south = [{"colour": "red", "size": "l", "class": name} for name in ("10", "9", "100")]
    tables = write_csv(tmp_path / "north.csv", north), write_csv(tmp_path / "south.csv", south)
    asked = [{"colour": colour, "size": size} for colour in ("blue", "red", "?") for size in ("s", "l", "", "xl")]
    out = tmp_path / "labels.csv"
    document = document_of(
        simulated(*tables, "--classify", write_csv(tmp_path / "new.csv", asked), "--labels", out, "--json")
    )
    assert document["classes"] == ordered(["9", "10", "100"]) == ["9", "10", "100"]
    assert labels_in(out) == ["9"] * len(asked)
    assert document["agreement_with_pooled"] == 1


def test_default_for_people() -> None:
    """In a process of its own, where Python's warnings are errors, and in a folder whose name has a space."""
    with TemporaryDirectory(prefix="a folder ") as folder:  # pytest's is too deep for the sockets in there
        done = mixbayes("simulate", "--bins", "5", TMPDIR=folder)
    assert done.code == 0
    assert "Traceback" not in done.err
    for said in (
        "What is predicted: class",
        "171 rows classified, 2 classes",
        "hospital-3 alone",
        "all tables pooled",
        "jointly",
        "100.00%",
    ):
        assert said in done.out
    talk, data = done.err.splitlines(), done.out.splitlines()
    assert not set(talk) & set(data)
    assert "\x1b" not in done.out + done.err


@pytest.mark.usefixtures("_every_step_is_told")
def test_people_are_told_where_the_labels_are_and_what_was_unknown(tmp_path: Path, simulated: Simulated) -> None:
    (tmp_path / "patients.csv").write_text("sex,ill\n" + "f,yes\nm,no\n" * 10)
    (tmp_path / "new.csv").write_text("sex\nf\nF\n")
    words = [tmp_path / "patients.csv", "--two-party", "--classify", tmp_path / "new.csv"]
    kept = simulated(*words, "--labels", tmp_path / "labels.csv")
    assert f"The labels are in {tmp_path / 'labels.csv'}." in kept.err
    unknown = "new.csv: column 'sex' has an unknown value in 1 of 2 rows"
    assert unknown in kept.err
    assert kept.err.index(unknown) < kept.err.index("contributed")
    assert labels_in(tmp_path / "labels.csv")[0] == "yes"
    assert (tmp_path / "labels.csv").stat().st_mode & 0o777 == 0o600
    assert "The labels are not kept; --labels OUT.csv writes them." in simulated(*words).err


@pytest.mark.parametrize("asked", [["--classify"], ["--holdout", "0"]])
def test_where_no_class_is_known_nothing_is_said_of_accuracy(
    tmp_path: Path, simulated: Simulated, asked: list[str]
) -> None:
    (tmp_path / "patients.csv").write_text("sex,ill\n" + "f,yes\nm,no\n" * 10)
    (tmp_path / "new.csv").write_text("sex\nf\n")
    files = [tmp_path / "new.csv"] * (asked == ["--classify"])
    done = simulated(tmp_path / "patients.csv", "--two-party", *asked, *files)
    assert "hospital-1 alone" in done.out
    assert ("equal to the pooled classifier's: 100.00%" in done.out) == bool(files)
    for word in ("accuracy", "unknown"):
        assert word not in done.out


def test_seed_decides_who_holds_which_rows_and_nothing_else(tmp_path: Path, simulated: Simulated) -> None:
    names = {"left out": [], "same": ["--seed", "0", "--public-instances"], "other": ["--seed", "1"]}
    runs, labels = {}, {}
    for name, flags in names.items():
        out = tmp_path / f"{name}.csv"
        runs[name] = document_of(simulated("--bins", "5", "--labels", out, "--json", *flags))
        labels[name] = labels_in(out)
    assert labels["left out"] == labels["same"]
    assert runs["left out"]["accuracy"] == runs["same"]["accuracy"]
    assert runs["left out"]["bytes"]["classification"] > runs["same"]["bytes"]["classification"]  # private costs more
    assert labels["other"] != labels["same"]
    assert runs["other"]["accuracy"] != runs["same"]["accuracy"]
    for document in runs.values():
        assert [h["rows"] for h in document["hospitals"]] == [133, 133, 132]
        assert document["classes"] == ["benign", "malignant"]
        assert document["instances"] == 171
        assert document["agreement_with_pooled"] == 1
        assert document["accuracy"]["joint"] > 0.9


def test_table_over_five_hospitals_half_of_it_held_out(tmp_path: Path, simulated: Simulated) -> None:
    table = write_csv(tmp_path / "all.csv", random_rows(17, 103, ["no", "yes"], ODD))
    document = document_of(simulated(table, "--hospitals", "5", "--holdout", "0.5", "--json"))
    assert [h["name"] for h in document["hospitals"]] == [f"hospital-{i}" for i in range(1, 6)]
    assert sum(h["rows"] for h in document["hospitals"]) + document["instances"] == 103
    assert document["instances"] == sum(round(rows / 2) for rows in (21, 21, 21, 20, 20))


@pytest.mark.parametrize("how", ["no row held out", "table without rows"])
def test_nothing_is_asked(tmp_path: Path, how: str, simulated: Simulated) -> None:
    rows = random_rows(18, 60, ["no", "yes"], ODD)
    out = tmp_path / "labels.csv"
    query = write_csv(tmp_path / "new.csv", [], list(rows[0]))
    asked = ["--holdout", "0"] if how == "no row held out" else ["--classify", query]
    document = document_of(simulated(write_csv(tmp_path / "all.csv", rows), *asked, "--labels", out, "--json"))
    assert out.read_text() == "label\n"
    assert document["instances"] == 0
    assert document["agreement_with_pooled"] is None
    assert sum(h["rows"] for h in document["hospitals"]) == 60
    joint, pooled, unprotected, alone = document["accuracy"].values()
    assert [joint, pooled, unprotected, *alone.values()] == [None] * 6


def test_no_table_is_lost_to_another_of_its_name(tmp_path: Path, simulated: Simulated) -> None:
    paths = [tmp_path / "x" / "a.csv", tmp_path / "y" / "a.csv", tmp_path / "a-1.csv"]
    tables = [write_csv(path, secret_rows(count)) for path, count in zip(paths, (12, 15, 18), strict=True)]
    document = document_of(simulated(*tables, "--holdout", "0", "--json"))
    assert [h["rows"] for h in document["hospitals"]] == [12, 15, 18]
    assert len({h["name"] for h in document["hospitals"]}) == 3


FLAGS = (
    *("--hospitals", "--two-party", "--protocol", "--bins", "--smoothing", "--private-instances", "--public-instances"),
    *("--classify", "--holdout", "--labels", "--class-column", "--nominal", "--numeric", "--seed", "--json"),
)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_flag_and_gives_examples(flag: str) -> None:
    done = mixbayes("simulate", flag)
    assert (done.code, done.err) == (0, "")
    assert [name for name in FLAGS if not re.search(rf"{name}\b", done.out)] == []
    assert "mixbayes simulate north.csv south.csv --two-party --json" in done.out


def test_every_command_has_help_and_the_version_is_data() -> None:
    top = mixbayes("-h")
    assert top.code == 0
    assert "simulate" in top.out
    assert "bench" in top.out
    version = mixbayes("--version")
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", version.out)
    assert version.err == ""
