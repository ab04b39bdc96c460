"""`mixbayes simulate` as its users have it: its nodes are real processes.

The command itself mostly runs in the process of the test, so that all simulations share one server of processes, and
what is refused is refused in no time.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mixbayes.cli.output import write_whole
from mixbayes.protocol.errors import BadData
from mixbayes.simulation.crew import Crew
from tests.cli.in_process import PLAIN, Done, command
from tests.cli.oracle import Row, Rules, classify, ordered, share_right

COMMAND = [sys.executable, "-W", "error", str(Path(sysconfig.get_path("scripts"), "mixbayes"))]
PATIENCE = 60

EXACT = 1e-6
"""Near-ties, in bits: of values counted, and of numbers under a bell curve, which are rounded to fixed point."""
ROUNDED = 1e-2

Record = dict[str, Any]


Simulated = Callable[..., Done]
Refused = Callable[..., str]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Simulated:
    """`mixbayes simulate` with these arguments."""
    return command("simulate", monkeypatch, capsys)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """What `mixbayes` says that refuses these arguments with this exit code, before any node begins."""

    def start(*arguments: object) -> None:
        raise AssertionError("a node was started")

    def run(exit_code: int, name: str, *arguments: object) -> str:
        return complaint(command(name, monkeypatch, capsys)(*arguments), exit_code)

    monkeypatch.setattr(Crew, "start", start)
    return run


def document_of(done: Done) -> Record:
    """The one JSON document on stdout, once it is seen to be what the interface says."""
    document: Record = done.document
    check_document(document)
    return document


def mixbayes(*arguments: object, limit: Callable[[], None] | None = None, **environment: object) -> Done:
    """The installed command in a process of its own; `limit` sets limits of it."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | PLAIN | {name: str(value) for name, value in environment.items()},
        stdin=subprocess.DEVNULL,
        preexec_fn=limit,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def keys_of(record: Record, *names: str) -> Iterator[Any]:
    """The values of exactly these keys."""
    assert set(record) == set(names)
    return (record[name] for name in names)


def check_document(document: Record) -> None:
    """Keys and types are those of the interface."""
    hospitals, protocol, classes, instances, agreement, accuracy, seconds, moved, rounds = keys_of(
        document,
        *("hospitals", "protocol", "classes", "instances", "agreement_with_pooled", "accuracy"),
        *("seconds", "bytes", "rounds"),
    )
    for hospital in hospitals:
        name, rows, *unprotected = keys_of(hospital, "name", "rows", "protect", "guarantee", "unlabelled")
        assert [type(name), type(rows), *unprotected] == [str, int, None, None, 0]
    assert protocol in ("shares", "paillier")
    assert [type(name) for name in classes] == [str] * len(classes)
    assert type(instances) is int
    joint, pooled, unprotected, alone = keys_of(accuracy, "joint", "pooled", "pooled_unprotected", "alone")
    assert list(alone) == [hospital["name"] for hospital in hospitals]
    for share in (agreement, joint, pooled, unprotected, *alone.values()):
        assert share is None or (type(share) is float and 0 <= share <= 1)
    assert (agreement is None) == (instances == 0)
    for second in keys_of(seconds, "setup", "contribute", "train", "classify"):
        assert type(second) is float
        assert second >= 0
    for count in (
        *keys_of(moved, "hospitals_to_mixers", "training", "classification"),
        *keys_of(rounds, "training", "classification"),
    ):
        assert type(count) is int
        assert count >= 0


def labels_in(path: Path) -> list[str]:
    """The labels, once the file is seen to be a table of one column of that name."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["label"]
    assert {len(row) for row in rows} <= {1}
    return [row[0] for row in rows]


def write_csv(path: Path, rows: Sequence[Row], columns: Sequence[str] | None = None) -> Path:
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


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


def without(rows: Sequence[Row], *names: str) -> list[Row]:
    return [{name: cell for name, cell in row.items() if name not in names} for row in rows]


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
    for said in ("171 rows classified, 2 classes", "hospital-3 alone", "all tables pooled", "jointly", "100.00%"):
        assert said in done.out
    talk, data = done.err.splitlines(), done.out.splitlines()
    assert "rows classified (171 of 171)" in talk
    assert not set(talk) & set(data)
    assert "\x1b" not in done.out + done.err


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


# What goes wrong ------------------------------------------------------------------------------------------------------

SECRET = "Zyx"
"""In every cell of the tables below: no error may tell it."""
COLUMNS = ("age", "sex", "class")


def secret_rows(count: int = 12, **cells: str) -> list[Row]:
    values = ({"age": f"{SECRET}{i % 4}", "sex": f"{SECRET}{i % 2}", "class": f"{SECRET}{i % 3}"} for i in range(count))
    return [row | cells for row in values]


def north_and_south(folder: Path) -> tuple[Path, Path]:
    return write_csv(folder / "north.csv", secret_rows()), write_csv(folder / "south.csv", secret_rows())


def complaint(done: Done, exit_code: int) -> str:
    """What a command said that ended as it should: nothing on stdout, no traceback, no cell of a table."""
    assert done.code == exit_code, done
    assert done.out == ""
    assert "Traceback" not in done.err
    assert SECRET not in done.err
    return done.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["simulate", "--bogus"], "--bogus"),
        (["simulate", "--hospitals", "1"], "--hospitals"),
        (["simulate", "--hospitals", "three"], "--hospitals"),
        (["simulate", "--bins", "0"], "--bins"),
        (["simulate", "--holdout", "1"], "--holdout"),
        (["simulate", "--holdout", "nan"], "--holdout"),
        (["simulate", "--seed", "-1"], "--seed"),
        (["simulate", "--protocol", "magic"], "--protocol"),
        (["simulat"], "simulate"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage(flags: list[str], said: str, refused: Refused) -> None:
    assert said in refused(2, *flags)


def test_the_hospital_is_named_whose_part_of_a_table_cannot_be_protected(tmp_path: Path, refused: Refused) -> None:
    whole, too_few = tmp_path / "patients.csv", ("--protect", "class-wise-condensation:t=20")
    whole.write_text("age,ill\n" + "".join(f"{i},{'no' if i % 9 else 'yes'}\n" for i in range(90)))
    assert f"hospital-1's part of {whole}: Every class needs" in refused(6, "simulate", whole, *too_few)
    (other := tmp_path / "other.csv").write_text(whole.read_text())
    assert f": {whole}: Every class needs" in refused(6, "simulate", whole, other, *too_few)


@pytest.mark.parametrize(
    ("number", "flags", "said"),
    [
        (3, ["--two-party"], ["3 tables", "--two-party takes two hospitals"]),
        (2, ["--hospitals", "3"], ["2 tables", "--hospitals says 3"]),
        (2, ["--protocol", "paillier"], ["Paillier", "add --two-party", "use --protocol shares"]),
        (0, ["--two-party", "--protocol", "paillier"], ["Paillier", "Gaussian", "mean radius", "--bins N"]),
        (1, ["--two-party", "--hospitals", "5"], ["--two-party", "--hospitals"]),
    ],
    ids=["two of three", "three of two", "paillier with mixers", "paillier with bells", "two of five"],
)
def test_combination_that_does_not_exist(
    tmp_path: Path, number: int, flags: list[str], said: list[str], refused: Refused
) -> None:
    tables = [write_csv(tmp_path / f"{i}.csv", secret_rows()) for i in range(number)]
    told = refused(2, "simulate", *tables, *flags)
    assert told.endswith(" [E110]\n")
    for words in said:
        assert words in told


def csv_text(text: str) -> Callable[[Path], list[object]]:
    """The arguments for a file of this text."""

    def write(folder: Path) -> list[object]:
        path = folder / "bad.csv"
        path.write_text(text, encoding="utf-8")
        return [path]

    return write


def damaged_parquet(folder: Path) -> list[object]:
    path = folder / "bad.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    return [path]


def utf_16(folder: Path) -> list[object]:
    path = folder / "bad.csv"
    path.write_text("age,class\n1,2\n", encoding="utf-16")
    return [path]


def query_without_an_attribute(folder: Path) -> list[object]:
    query = write_csv(folder / "bad.csv", without(secret_rows(), "age"))
    return [*north_and_south(folder), "--classify", query]


def row_without_a_class(folder: Path) -> list[object]:
    north, south = north_and_south(folder)
    bad = write_csv(folder / "bad.csv", [*secret_rows(), *secret_rows(2, **{"class": "?"})])
    return [north, bad, south, "--classify", north]


def other_columns(folder: Path) -> list[object]:
    north, south = north_and_south(folder)
    return [north, write_csv(folder / "bad.csv", without(secret_rows(), "sex")), south]


def other_columns_beside_a_query(folder: Path) -> list[object]:
    return [*other_columns(folder), "--classify", folder / "north.csv"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (lambda folder: [folder / "bad.csv"], ["No such file"]),
        (lambda folder: [folder / "bad.csv", "--classify", folder / "worse.csv"], ["No such file"]),
        (csv_text(""), ["empty", "first line must name the columns"]),
        (csv_text(f"age,class\n{SECRET},{SECRET}\n{SECRET},{SECRET},1\n"), ["line 3 has 3", "Quote cells"]),
        (csv_text(f"age,age,class\n{SECRET},{SECRET},{SECRET}\n"), ["'age'", "Rename or remove one"]),
        (utf_16, ["UTF-8"]),
        (damaged_parquet, ["not Parquet"]),
        (csv_text("age,class\n"), ["rows"]),
        (query_without_an_attribute, ["'age' is missing"]),
        (row_without_a_class, ["2 rows", "'class'", "remove them"]),
        (other_columns_beside_a_query, ["'sex'", "All tables need the same columns"]),
        pytest.param(other_columns, ["'sex'"]),
    ],
    ids=[
        *("missing file", "two missing files", "empty file", "ragged", "column twice", "utf-16", "damaged parquet"),
        *("no rows", "query without an attribute", "row without a class", "other columns", "other columns held out"),
    ],
)
def test_bad_data_is_refused_naming_the_file(
    tmp_path: Path, arguments: Callable[[Path], list[object]], said: list[str], refused: Refused
) -> None:
    told = refused(6, "simulate", *arguments(tmp_path))
    assert re.search(r" \[E1\d\d\]$", told)
    for words in said:
        assert words in told
    assert "bad" in told


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--hospitals", "13"], ["12 rows", "13 hospitals", "more rows or fewer"]),
        (["--class-column", "sick"], ["'sick'", "'age', 'sex', 'class'"]),
        (["--nominal", "age,sick"], ["'sick'", "'age', 'sex'"]),
        (["--numeric", "sick"], ["'sick'", "'age', 'sex'"]),
    ],
    ids=["more hospitals than rows", "class column", "nominal", "numeric"],
)
def test_flag_that_the_table_contradicts(tmp_path: Path, flags: list[str], said: list[str], refused: Refused) -> None:
    table = write_csv(tmp_path / "north.csv", secret_rows())
    told = refused(6, "simulate", table, *flags)
    assert re.search(r" \[E1\d\d\]$", told)
    for words in said:
        assert words in told


def test_row_without_a_class_is_refused_whether_held_out_or_not(tmp_path: Path, refused: Refused) -> None:
    rows = [*secret_rows(20), *secret_rows(1, **{"class": "?"})]
    table = write_csv(tmp_path / "north.csv", rows)
    for seed in ("0", "2"):  # trained on, then held out
        refused(6, "simulate", table, "--hospitals", "2", "--holdout", "0.9", "--seed", seed)


def test_no_table_is_lost_to_another_of_its_name(tmp_path: Path, simulated: Simulated) -> None:
    paths = [tmp_path / "x" / "a.csv", tmp_path / "y" / "a.csv", tmp_path / "a-1.csv"]
    tables = [write_csv(path, secret_rows(count)) for path, count in zip(paths, (12, 15, 18), strict=True)]
    document = document_of(simulated(*tables, "--holdout", "0", "--json"))
    assert [h["rows"] for h in document["hospitals"]] == [12, 15, 18]
    assert len({h["name"] for h in document["hospitals"]}) == 3


def test_file_name_that_is_not_utf_8(tmp_path: Path, simulated: Simulated) -> None:
    north, south = north_and_south(tmp_path)
    odd = north.rename(os.fsdecode(os.fsencode(tmp_path) + b"/n\xf6rd.csv"))
    done = simulated(odd, south)
    assert "Traceback" not in done.err
    assert done.code in (0, 6)


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))


def test_more_hospitals_than_the_system_lets_one_process_talk_to(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "all.csv", secret_rows(300))
    done = mixbayes("simulate", table, "--hospitals", "100", limit=few_files)
    assert "ulimit" in complaint(done, 2)


def test_pipe_is_read_or_refused_but_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", 'printf "age,class\n1,a\n2,b\n3,a\n" > "$0"', pipe])
    try:
        done = mixbayes("simulate", pipe)
    finally:
        writer.kill()
        writer.wait()
    assert "pipe.csv" in complaint(done, 6)


# Files ----------------------------------------------------------------------------------------------------------------


def test_labels_that_cannot_be_written(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "file").write_text("no folder")
    out = tmp_path / "file" / "labels.csv"
    told = refused(6, "simulate", *north_and_south(tmp_path), "--labels", out)
    assert told.splitlines()[-1] == f"mixbayes: {out} cannot be written: there is no folder {out.parent}. [E100]"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "north.csv", "south.csv"]


@pytest.mark.parametrize("name", ["labels.parquet", "labels.xlsx"])
def test_labels_are_csv_and_a_name_that_says_otherwise_is_refused(tmp_path: Path, refused: Refused, name: str) -> None:
    told = refused(2, "simulate", *north_and_south(tmp_path), "--labels", tmp_path / name)
    assert f"{name}: labels as CSV can be written, not {Path(name).suffix}" in told


def test_labels_do_not_replace_a_table_that_was_read(tmp_path: Path, refused: Refused) -> None:
    north, south = north_and_south(tmp_path)
    before = north.read_bytes()
    told = refused(2, "simulate", north, south, "--labels", f"{tmp_path}/./north.csv")
    assert "north.csv" in told
    assert north.read_bytes() == before


def test_file_is_replaced_and_not_written_over(tmp_path: Path) -> None:
    path, old = tmp_path / "labels.csv", tmp_path / "old.csv"
    path.write_text("before")
    os.link(path, old)
    write_whole(path, "label\n")
    assert (path.read_text(), old.read_text()) == ("label\n", "before")


def test_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").mkdir()
    with pytest.raises(BadData, match=r"labels\.csv cannot be written"):
        write_whole(tmp_path / "labels.csv", "label\n")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_new_file_can_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    mask = os.umask(0o027)
    try:
        write_whole(path, "label\n")
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text() == "label\n"


FILL_THE_DISK = """
import resource, sys
from pathlib import Path
from mixbayes.cli.output import write_whole
from mixbayes.protocol.errors import BadData
from mixbayes.simulation.crew import Crew
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    write_whole(Path(sys.argv[1]), "x" * 200)
except BadData as error:
    sys.exit(str(error))
"""


def test_disk_that_is_full_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("before")
    done = subprocess.run([sys.executable, "-c", FILL_THE_DISK, path], capture_output=True, text=True, timeout=PATIENCE)
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert path.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "labels.csv"
    os.mkfifo(pipe)
    with pytest.raises(BadData):
        write_whole(pipe, "label\n")
    assert pipe.is_fifo()


# Help -----------------------------------------------------------------------------------------------------------------

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
