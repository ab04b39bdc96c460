"""Oversights in a table are said by column, and with no cells but the words that are to be written otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli.doubts import tell_doubts, tell_unknown
from mixbayes.protocol.attributes.dictionary import Dictionary, dictionary_from
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.opening import read_table
from tests.cli.typed import Prompt

ROWS = 60
DECIMALS = [f"{5 + i % 37}.{i % 10}" for i in range(ROWS)]
COMMAS = [text.replace(".", ",") for text in DECIMALS]


def table(**columns: list[str]) -> Columns:
    return Columns.of(tuple(columns), tuple(map(np.array, columns.values())), len(next(iter(columns.values()))))


def repeated(*values: str) -> list[str]:
    return list(np.resize(values, ROWS))


def told(
    capsys: pytest.CaptureFixture[str], *tables: Columns, nominal: tuple[str, ...] = (), numeric: tuple[str, ...] = ()
) -> list[str]:
    tell_doubts(tables, nominal, numeric)
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()


@pytest.mark.parametrize(
    "cells",
    [
        DECIMALS,
        [f"{i}.5" for i in range(ROWS)],
        repeated("f", "m", "?"),
        repeated("1", "2", "not known"),
        [str(i % 50) for i in range(ROWS)],
        [str(i % 30) for i in range(ROWS)] + [f"{i % 30}.0" for i in range(ROWS)],
        [f"0.{i % 50:02}" for i in range(ROWS)],
    ],
    ids=[
        "measured",
        "measured and all different",
        "names",
        "grades",
        "whole numbers",
        "both ways",
        "parts of one",
    ],
)
def test_usual_columns_raise_no_doubt(capsys: pytest.CaptureFixture[str], cells: list[str]) -> None:
    assert told(capsys, table(column=cells)) == []


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([f"P{i:04}" for i in range(ROWS)], "another value in every row"),
        ([*map(str, range(1000, 1000 + ROWS - 1)), "?"], "another value in every row"),
        ([f"{i % 50:03}" for i in range(ROWS)], "begin with a zero"),
        (repeated("1", "2", "1.0"), "1 and 1.0"),
        (COMMAS, "a decimal comma"),
        ([*DECIMALS, "n/a", "n/a"], "words among them"),
        (repeated("yes", "no", "Yes"), "only in capitals or blanks"),
        (repeated("yes", "no", "no "), "only in capitals or blanks"),
        ([f"{1 + i % 28:02}.{1 + i % 12:02}.2024" for i in range(ROWS)], "dates, which count as names"),
        ([f"2024-01-{1 + i % 28:02} 10:30" for i in range(ROWS)], "dates, which count as names"),
    ],
    ids=[
        "identity",
        "number of a patient",
        "codes",
        "spellings",
        "comma",
        "words",
        "capitals",
        "blanks",
        "days",
        "moments",
    ],
)
def test_an_oversight_is_one_line_without_a_long_cell(
    capsys: pytest.CaptureFixture[str], cells: list[str], said: str
) -> None:
    (line,) = told(capsys, table(grade=cells))
    assert line.startswith("mixbayes: column 'grade' has ")
    assert said in line
    assert not [cell for cell in cells if len(cell) > 3 and cell in line]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([*DECIMALS, "120 mmHg"], "Write '120 mmHg' as 120, and the unit into the header"),
        ([f"{90 + i} mmHg" for i in range(ROWS)], "Write '100 mmHg' as 100, and the unit into the header"),
        (
            [*DECIMALS, "5,2 %", "k.A."],
            "Write '5,2 %' as 5.2, and the unit into the header; leave 'k.A.' empty, or say `--missing k.A.`",
        ),
        (
            [*DECIMALS, ".", "#N/A", "unclear"],
            "Leave '#N/A', '.' empty, or say `--missing '#N/A,.'`; leave 'unclear' empty",
        ),
        ([*DECIMALS, "<5"], "Write '<5' as a number, or leave it empty"),
        ([*DECIMALS, "not known" * 9], "Leave 'not knownnot knownnot knownnot...' empty"),
        (repeated("yes", "no", "Yes"), "as 'Yes' and 'yes'; they count as different ones"),
    ],
    ids=["unit", "units alone", "unit and word", "words", "bound", "long", "capitals"],
)
def test_what_is_to_be_written_instead_is_said(capsys: pytest.CaptureFixture[str], cells: list[str], said: str) -> None:
    (line,) = told(capsys, table(crp=cells))
    assert line.endswith(said)


def test_a_blank_in_a_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = told(capsys, table(**{" class": repeated("yes", "no")}))
    assert line.startswith("mixbayes: column ' class' has a blank")


def test_commas_and_words_are_both_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(told(capsys, table(crp=[*COMMAS, "none"]))) == 2


def test_what_is_meant_to_be_names_is_let_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, table(code=COMMAS * 2), nominal=("code",)) == []
    assert told(capsys, table(code=[f"{i % 50:03}" for i in range(ROWS)]), nominal=("code",)) == []


def test_what_is_meant_to_be_numbers_is_let_be(capsys: pytest.CaptureFixture[str]) -> None:
    columns = table(grade=repeated("1", "1.0"), week=[f"{i % 50:03}" for i in range(ROWS)])
    assert len(told(capsys, columns)) == 2
    assert told(capsys, columns, numeric=columns.names) == []


def test_spellings_are_compared_across_hospitals_and_identities_within(capsys: pytest.CaptureFixture[str]) -> None:
    north = table(id=[f"P{i}" for i in range(ROWS)], ill=repeated("yes", "no"), only=repeated("a", "A"))
    south = table(ill=repeated("YES", "no"), id=[f"P{i}" for i in range(ROWS)])
    lines = told(capsys, north, south)
    assert [line.split("'")[1] for line in lines] == ["id", "ill"]


DICTIONARY: Dictionary = dictionary_from(
    {
        "class_column": "ill",
        "classes": ["no", "yes"],
        "attributes": [
            {"name": "age", "kind": "numeric", "low": 0.0, "high": 9.0},
            {"name": "crp", "kind": "binned", "low": 0.0, "high": 9.0, "cuts": [3.0]},
            {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
        ],
        "smoothing": "1",
        "max_rows": 100,
    }
)


def test_unknown_values_are_counted_and_missing_ones_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    tell_unknown(DICTIONARY, table(age=["1", "", "7", "99"], crp=["1", "2,5", "4", "?"], sex=["f", "M", "w", ""]))
    assert capsys.readouterr().err.splitlines() == [
        "mixbayes: column 'crp' has an unknown value in 1 of 4 rows, which counts as missing",
        "mixbayes: column 'sex' has an unknown value in 2 of 4 rows, which counts as missing",
    ]


def test_a_column_that_nobody_learned_from_is_named_and_the_class_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"age": ["1"], "crp": ["1"], "sex": ["f"], "surname": ["x"], DICTIONARY.class_column: ["?"]}
    tell_unknown(DICTIONARY, table(**rows))
    assert capsys.readouterr().err == "mixbayes: column 'surname' is not one that was learned from, and is left out\n"


def test_the_file_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("age,crp,sex\nold,1,f\n")
    tell_unknown(DICTIONARY, read_table(tmp_path / "new.csv"))
    assert "new.csv: column 'age' has an unknown value in 1 of 1 rows" in capsys.readouterr().err


def test_a_federation_begins_with_the_doubts(typed: Prompt, tmp_path: Path) -> None:
    rows = [f"{1000 + i},{crp},{'yes' if i % 3 else 'no'}" for i, crp in enumerate(DECIMALS)]
    (tmp_path / "like.csv").write_text("\n".join(["id,crp,ill", *rows]) + "\n")
    members = ["--party", "north=127.0.0.1:4001", "--party", "south"]
    done = typed(
        "federation",
        "new",
        tmp_path,
        "--name",
        "pair",
        *members,
        "--like",
        tmp_path / "like.csv",
        "--keep",
        "id",
        "--without-noise",
    )
    assert done.code == 0, done.err
    assert "column 'id' has another value in every row" in done.err
    assert "6. Every node starts, with a state folder of its own: mixbayes party (" in done.err
