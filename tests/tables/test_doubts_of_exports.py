"""Exports as hospitals make them, each with the doubt that it must raise, and that nothing else is said of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixbayes.tables.doubts import doubts
from mixbayes.tables.inspection import inspected
from mixbayes.tables.profile import Profile
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table

ROWS = 120


def profile(path: Path, how: How | None = None) -> Profile:
    source = open_table(path, how or How())
    return source.profile(source.names)


def export(folder: Path, column: Sequence[str], separator: str = ",") -> Path:
    """A table with this column, and a class."""
    rows = [f"{cell}{separator}{'ill' if i % 3 else 'well'}" for i, cell in enumerate(column)]
    path = folder / "export.csv"
    path.write_text("\n".join([f"column{separator}class", *rows, ""]), encoding="utf-8")
    return path


def said(path: Path, how: How | None = None) -> list[str]:
    return list(doubts([profile(path, how)]))


def repeated(*values: str) -> list[str]:
    return list(np.resize(values, ROWS))


AGES = [str(20 + i % 70) for i in range(ROWS)]


def with_code(column: Sequence[str], code: str, every: int = 10) -> list[str]:
    return [code if i % every == 0 else cell for i, cell in enumerate(column)]


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (with_code(AGES, "999"), "999"),
        (with_code(AGES, "-999"), "-999"),
        (with_code([f"{float(age) / 7:.1f}" for age in AGES], "-9.0"), "-9.0"),
        (with_code(repeated("1", "2", "3"), "9"), "9"),
        (with_code(repeated("0", "1"), "99"), "99"),
        (with_code([f"{180 + i % 60}" for i in range(ROWS)], "0"), "0"),
        (with_code([f"{180 + i % 60}" for i in range(ROWS)], "-32768"), "-32768"),
    ],
)
def test_a_frequent_number_far_from_all_others_is_probably_missing(
    tmp_path: Path, column: list[str], code: str
) -> None:
    path = export(tmp_path, column)
    (doubt,) = said(path)
    assert doubt.startswith(f"column 'column' has {code} in 12 of its 120 cells, far from all others.")
    assert doubt.endswith(f"say `--missing column={code}`")
    assert said(path, How(missing=(f"column={code}",))) == []


@pytest.mark.parametrize(
    "column",
    [
        AGES,
        repeated("1", "2", "3", "4"),
        repeated("0", "1"),
        [*AGES[:-1], "104"],
        with_code([str(i % 40) for i in range(ROWS)], "0", every=3),
        [f"{np.exp(i / 40):.3f}" for i in range(ROWS)],
    ],
    ids=["ages", "grades", "yes and no", "one old patient", "many zeros", "skewed"],
)
def test_usual_numbers_raise_no_doubt(tmp_path: Path, column: list[str]) -> None:
    assert said(export(tmp_path, column)) == []


@pytest.mark.parametrize("word", ["NA", "NULL", "null", "n/a", ".", "-", "NaN", "k.A.", "#N/A", "<NA>", "missing"])
def test_words_that_mean_nothing_are_no_names(tmp_path: Path, word: str) -> None:
    path = export(tmp_path, with_code(repeated("north", "south"), word))
    (doubt,) = said(path)
    assert doubt == (
        f"column 'column' has {word!r}, which counts as a value. If nothing is known there, say "
        f"`--missing {shlex.quote(word)}`"
    )
    assert said(path, How(missing=(word,))) == []


def test_plus_and_minus_are_names(tmp_path: Path) -> None:
    assert said(export(tmp_path, repeated("+", "-"))) == []


@pytest.mark.parametrize("separator", ";|")
def test_several_values_in_a_cell_are_recognized(tmp_path: Path, separator: str) -> None:
    rng = np.random.default_rng(0)
    codes = [f"I{i}" for i in range(10, 22)]
    column = [separator.join(rng.choice(codes, 1 + i % 4, replace=False)) for i in range(ROWS)]
    (doubt,) = said(export(tmp_path, column, separator="\t"))
    how = "column" if separator == ";" else "'column:|'"
    assert doubt.endswith(f"To count each, say `--several {how}`")


def test_precise_measurements_are_no_numbers_of_patients(tmp_path: Path) -> None:
    assert said(export(tmp_path, [f"{5 + i * 0.0137:.4f}" for i in range(ROWS)])) == []
    (doubt,) = said(export(tmp_path, [str(100_000 + 7 * i) for i in range(ROWS)]))
    assert "another value in every row" in doubt


def test_empty_and_constant_columns_are_mentioned_once(tmp_path: Path) -> None:
    rows = [f",,7,x,{'ill' if i % 2 else 'well'}" for i in range(ROWS)]
    (tmp_path / "export.csv").write_text("\n".join(["a,b,c,d,class", *rows]))
    assert said(tmp_path / "export.csv") == [
        "columns 'a', 'b' are empty, and left out",
        "columns 'c', 'd' are the same in every row, and tell nothing",
    ]


def test_the_index_of_a_frame_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": range(ROWS), "ill": repeated("yes", "no")}, index=np.arange(ROWS)[::-1])
    frame.to_parquet(tmp_path / "export.parquet")
    source = open_table(tmp_path / "export.parquet")
    assert source.names == ("age", "ill")
    assert "'__index_level_0__' is the index of a pandas frame" in source.remarks[0]


def test_a_guessed_class_with_many_values_is_doubted(tmp_path: Path) -> None:
    rows = [f"{'ill' if i % 2 else 'well'},{i % 60}" for i in range(ROWS)]
    (tmp_path / "export.csv").write_text("\n".join(["outcome,age", *rows]))
    found = inspected(profile(tmp_path / "export.csv"))
    assert (found.class_column, found.guessed) == ("age", True)
    assert found.columns[1].doubts == ["has 60 different values: is it the class? `--class-column` names another"]
    named = inspected(profile(tmp_path / "export.csv"), class_column="outcome")
    assert (named.guessed, [column.doubts for column in named.columns]) == (False, [[], []])


def test_dates_and_a_decimal_comma_are_told_with_the_option(tmp_path: Path) -> None:
    rows = [f"{1 + i % 28:02}.03.2024;{i % 40},5;{'ill' if i % 2 else 'well'}" for i in range(ROWS)]
    path = tmp_path / "export.csv"
    path.write_text("\n".join(["admitted;crp;class", *rows]))
    dates, comma = said(path)
    assert "has dates, which count as names" in dates
    assert comma.endswith("say `--decimal ,`")
    assert len(said(path, How(decimal=","))) == 1
    assert profile(path, How(decimal=",")).columns["crp"].range == (0.5, 39.5)


@pytest.mark.real_tables
def test_missing_values_of_real_tables_are_found_and_nothing_else() -> None:
    """Zeros stand for what was not measured in Pima's table and in the heart table of Long Beach."""
    folder = Path(os.environ["MIXBAYES_DATA"])
    found = {
        (path.name, doubt.split("'")[1])
        for path in [*folder.glob("*.csv"), *folder.glob("heart4/*.csv")]
        for doubt in said(path)
        if "far from all others" in doubt
    }
    assert found == {
        *(("pima.csv", column) for column in ("plas", "pres", "mass")),
        *((name, "chol") for name in ("va.csv", "heart_va.csv")),
        *((name, "capital-gain") for name in ("adult.csv", "adult_test.csv")),
    }


def test_a_spelling_for_one_column_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    rows = [f"{i % 5},{i % 5},{'ill' if i % 2 else 'well'}" for i in range(ROWS)]
    (tmp_path / "export.csv").write_text("\n".join(["chol,vessels,class", *rows]))
    columns = profile(tmp_path / "export.csv", How(missing=("chol=0",))).columns
    assert (columns["chol"].missing, columns["vessels"].missing) == (ROWS // 5, 0)


COMMAS = [f"{i % 40},{i % 7}" for i in range(ROWS)]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (with_code(COMMAS, "0,0"), "has numbers with a decimal comma, which count as names."),
        ([f"{i % 30},{i % 9} mg" for i in range(ROWS)], "has numbers, and words among them"),
        (with_code([f"{i % 30},{i % 9}" for i in range(ROWS)], "120,5 mg/l"), "has numbers with a decimal comma"),
        ([",".join("123456789"[i % 5 : i % 5 + 2 + i % 4]) for i in range(ROWS)], None),
        ([",".join("ABCDEF"[i % 5 : i % 5 + 2 + i % 3]) for i in range(ROWS)], None),
    ],
    ids=["comma", "comma and unit", "unit in some", "few numbers", "words"],
)
def test_numbers_with_a_decimal_comma_are_no_lists(tmp_path: Path, column: list[str], told: str | None) -> None:
    found = said(export(tmp_path, column, separator=";"))
    assert not [doubt for doubt in found if "several values" in doubt]
    assert told is None or found[0].startswith(f"column 'column' {told}")


def test_dates_with_slashes_are_no_lists(tmp_path: Path) -> None:
    (doubt,) = said(export(tmp_path, [f"{1 + i % 12}/{1 + i % 28}/2023" for i in range(ROWS)]))
    assert "has dates" in doubt


THOUSANDS = [f"{800 + 971 * i:,}".replace(",", ".") for i in range(ROWS)]


@pytest.mark.parametrize(
    ("column", "signs"),
    [
        (THOUSANDS, "points"),
        (["114.746", "950", "5.509,12"] * 40, "points"),
        ([f"{300 + i * 97:,}.5" for i in range(ROWS)], "commas"),
        ([f"1.{i:03}.000" for i in range(ROWS)], "points"),
    ],
)
def test_thousands_are_no_decimals(tmp_path: Path, column: list[str], signs: str) -> None:
    (doubt,) = said(export(tmp_path, column, separator=";"))
    assert f"has {signs} between thousands" in doubt


@pytest.mark.parametrize(
    "column",
    [
        [f"{1 + i * 0.137:.3f}" for i in range(ROWS)],
        [f"{round(1 + i * 0.125, 3):g}" for i in range(ROWS)],
        [f"{i % 90 / 100:.3f}" for i in range(ROWS)],
    ],
    ids=["three digits", "as short as can be", "parts of one"],
)
def test_three_decimals_are_no_thousands(tmp_path: Path, column: list[str]) -> None:
    assert said(export(tmp_path, column)) == []


def test_what_is_to_be_typed_is_quoted_for_the_shell(tmp_path: Path) -> None:
    rows = [f"{'#N/A' if i % 9 == 0 else 'north'},{999 if i % 10 == 0 else 20 + i % 70},x" for i in range(ROWS)]
    (tmp_path / "export.csv").write_text("\n".join(["ward,age at entry,class", *rows]))
    ward, age, _ = said(tmp_path / "export.csv")
    assert ward.endswith("say `--missing '#N/A'`")
    assert age.endswith("say `--missing 'age at entry=999'`")
    lists = export(tmp_path, [";".join("ABCDE"[i % 3 : i % 3 + 2 + i % 2]) + f";{i % 40}" for i in range(ROWS)])
    (doubt,) = said(lists)
    assert doubt.endswith("say `--several column`")


def test_free_text_and_times_of_day_are_told(tmp_path: Path) -> None:
    words = [f"seen by Dr {'ABC'[i % 3]}, note {i if i % 5 else 0}" for i in range(ROWS)]
    (doubt,) = said(export(tmp_path, words, separator=";"))
    assert "values that only one row has: free text, or names? Remove it" in doubt
    (doubt,) = said(export(tmp_path, [f"{i % 24:02}:{i % 5:02}" for i in range(ROWS)]))
    assert "has times of day, which count as names" in doubt


def test_inspection_tells_of_columns_without_information_and_without_a_name(tmp_path: Path) -> None:
    rows = [f"{i % 3},,7,{'ill' if i % 2 else 'well'}" for i in range(ROWS)]
    (tmp_path / "export.csv").write_text("\n".join([",b,c,class", *rows]))
    found = inspected(profile(tmp_path / "export.csv"))
    assert [column.doubts for column in found.columns] == [
        ["has no name. Name it in the header, or remove it"],
        ["is empty, and left out"],
        ["is the same in every row, and tells nothing"],
        [],
    ]


def test_a_class_with_one_value_and_a_table_without_rows_are_doubted(tmp_path: Path) -> None:
    found = inspected(profile(export(tmp_path, AGES)), class_column="column")
    assert found.doubts == []
    (tmp_path / "one.csv").write_text("age,class\n" + "".join(f"{age},ill\n" for age in AGES))
    (doubt,) = inspected(profile(tmp_path / "one.csv")).columns[1].doubts
    assert doubt.startswith("is the same in every row, and a classifier needs two classes: is it the class?")
    (tmp_path / "none.csv").write_text("age,class\n")
    found = inspected(profile(tmp_path / "none.csv"))
    assert found.doubts == ["there are no rows below the header"]
    assert [column.doubts for column in found.columns] == [[], []]


def test_single_values_of_lists_are_counted_once_for_a_row(tmp_path: Path) -> None:
    cells = ["I10;E11", "I10; I10", "?;I10;", ";", ""]
    (tmp_path / "t.csv").write_text("\n".join(["icd,class", *(f"{cell},a" for cell in cells), ""]))
    icd, _ = inspected(profile(tmp_path / "t.csv"), several={"icd": ";"}).columns
    assert (icd.distinct, icd.missing, icd.most_frequent) == (2, 1, [("I10", 3)])
