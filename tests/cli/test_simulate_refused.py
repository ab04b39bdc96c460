"""What `mixbayes simulate` refuses: wrong usage, bad tables, and what this machine does not give."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.simulating import (
    SECRET,
    Refused,
    Simulated,
    complaint,
    mixbayes,
    north_and_south,
    secret_rows,
    without,
    write_csv,
)


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
        (2, ["--two-party", "--delay", "25"], ["--delay says what a federation with mixers costs"]),
        (2, ["--rate", "25"], ["add --delay MS"]),
        (0, ["--two-party", "--protocol", "paillier"], ["Paillier", "nominal and binned", "mean radius", "--bins N"]),
        (1, ["--two-party", "--hospitals", "5"], ["--two-party", "--hospitals"]),
    ],
    ids=[
        *("two of three", "three of two", "paillier with mixers", "link of two alone", "rate without link"),
        *("paillier with bells", "two of five"),
    ],
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


def no_text(folder: Path) -> list[object]:
    path = folder / "bad.csv"
    path.write_bytes(b"age,class\n\x81,2\n")
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
        (no_text, ["UTF-8"]),
        (damaged_parquet, ["not Parquet"]),
        (csv_text("age,class\n"), ["rows"]),
        (query_without_an_attribute, ["'age' is missing"]),
        (row_without_a_class, ["2 rows", "'class'", "remove them"]),
        (other_columns_beside_a_query, ["'sex'", "All tables need the same columns"]),
        pytest.param(other_columns, ["'sex'"]),
    ],
    ids=[
        *("missing file", "two missing files", "empty file", "ragged", "column twice", "no text", "damaged parquet"),
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


def test_file_name_that_is_not_utf_8(tmp_path: Path, simulated: Simulated) -> None:
    north, south = north_and_south(tmp_path)
    odd = north.rename(os.fsdecode(os.fsencode(tmp_path) + b"/n\xf6rd.csv"))
    done = simulated(odd, south)
    assert "Traceback" not in done.err
    assert done.code in (0, 6)


def test_more_hospitals_than_the_system_lets_one_process_talk_to(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "all.csv", secret_rows(300))
    done = mixbayes("simulate", table, "--hospitals", "100", open_files=128)
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
