import csv
import io
import re
import sys
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import BadData, MixbayesError, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.inference import infer
from mixbayes.tables.sources import excel
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table, read_table

SHEET = "xl/worksheets/sheet1.xml"
Rows = Sequence[Sequence[object]]


def workbook(*rows: Sequence[object], **sheets: Rows) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for name, cells in {"Sheet": rows, **sheets}.items():
        sheet = book[name] if name in book else book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    return book


def stored(book: openpyxl.Workbook, folder: Path, name: str = "table.xlsx") -> Path:
    book.save(folder / name)
    return folder / name


def cells_of(columns: Columns) -> dict[str, list[str]]:
    return {name: columns.texts(name).tolist() for name in columns.names}


def read(path: Path, how: How | None = None) -> dict[str, list[str]]:
    return cells_of(read_table(path, how or How()))


def refusal(path: Path, how: How | None = None) -> str:
    with pytest.raises(MixbayesError) as caught:
        read_table(path, how or How())
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


def computed(path: Path, formula: str, kind: str, value: str) -> None:
    """Store a formula's value, as Excel does and openpyxl does not."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    uncomputed = rf'(<c r="\w+")( t="\w+")?(><f>{re.escape(formula)}</f>)<v ?/?>(</v>)?'
    text, times = re.subn(uncomputed, rf'\1 t="{kind}"\3<v>{value}</v>', parts[SHEET].decode())
    assert times == 1
    parts[SHEET] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_every_type_of_cell_has_the_text_of_its_csv_export(tmp_path: Path) -> None:
    cells = {
        "whole": (7, "7"),
        "fraction": (1.5, "1.5"),
        "large": (12345678901, "12345678901"),
        "percent": (0.25, "0.25"),
        "truth": (True, "true"),
        "date": (date(2024, 2, 29), "2024-02-29"),
        "midnight": (datetime(2024, 2, 29), "2024-02-29"),
        "instant": (datetime(2024, 2, 29, 13, 5, 6, 250_000), "2024-02-29 13:05:06.25"),
        "time": (time(13, 5, 6), "13:05:06"),
        "duration": (timedelta(hours=30, seconds=5), "30:00:05"),
        "text": (" a,\n b ", " a,\n b "),
        "leading": ("007", "007"),
        "number as text": ("1.50", "1.50"),
        "error": ("#N/A", "#N/A"),
        "nothing": (None, ""),
    }
    book = workbook(list(cells), [value for value, _ in cells.values()])
    sheet = book["Sheet"]
    sheet.cell(2, 4).number_format = "0%"
    assert read(stored(book, tmp_path)) == {name: [text] for name, (_, text) in cells.items()}


def test_equal_values_of_two_types_stay_apart(tmp_path: Path) -> None:
    assert read(stored(workbook(["a"], [1], [True], [0], [False]), tmp_path)) == {"a": ["1", "true", "0", "false"]}


def test_dates_of_workbooks_that_count_from_1904(tmp_path: Path) -> None:
    book = workbook(["a"])
    book.epoch = CALENDAR_MAC_1904
    book["Sheet"].append([date(2024, 2, 29)])
    assert read(stored(book, tmp_path)) == {"a": ["2024-02-29"]}


def test_formulas_have_the_value_that_was_stored(tmp_path: Path) -> None:
    path = stored(workbook(["a", "b", "c"], ["=1+1", "=A2&A3", "=REPT(A2,0)"]), tmp_path)
    computed(path, "1+1", "n", "2")
    computed(path, "A2&amp;A3", "str", "x")
    computed(path, "REPT(A2,0)", "str", "")
    assert read(path) == {"a": ["2"], "b": ["x"], "c": [""]}


def test_formulas_without_a_value_are_refused(tmp_path: Path) -> None:
    message = refusal(stored(workbook(["a", "b"], [1, "=A2+1"], [2, "=A3+1"]), tmp_path))
    assert "B2, B3" in message
    assert "save it" in message


def test_errors_stay_where_they_are_below_and_right_of_empty_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book["Sheet"]
    for place, value in {"C4": "a", "D4": "b", "C5": "#DIV/0!", "D6": "#N/A", "C6": 1, "D5": 2}.items():
        sheet[place] = value
    assert read(stored(book, tmp_path)) == {"a": ["#DIV/0!", "1"], "b": ["2", "#N/A"]}


def test_a_column_of_errors_alone(tmp_path: Path) -> None:
    assert read(stored(workbook(["a", "b"], [1, "#N/A"], [2, "#REF!"]), tmp_path))["b"] == ["#N/A", "#REF!"]


def test_rows_come_in_parts_and_empty_ones_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "BLOCK", 2)
    path = stored(workbook([], ["a", "b"], [1, "x"], [], [2, "y"], [3, None], [], []), tmp_path)
    book = openpyxl.load_workbook(path)
    book["Sheet"]["F30"].number_format = "0%"
    source = open_table(stored(book, tmp_path))
    parts = list(source.parts(["b", "a"]))
    assert [part.columns.rows for part in parts] == [2, 1]
    assert cells_of(source.read(["b", "a"])) == {"b": ["x", "y", ""], "a": ["1", "2", "3"]}
    assert parts[-1].done <= parts[-1].total


def test_empty_columns_are_left_out_and_nameless_ones_refused(tmp_path: Path) -> None:
    path = stored(workbook(["a", None, "b"], [1, None, 2], [3, None, 4]), tmp_path)
    assert read(path) == {"a": ["1", "3"], "b": ["2", "4"]}
    message = refusal(stored(workbook(["a", None, "b"], [1, None, 2, "x"], [3, "y", 4]), tmp_path))
    assert "columns B, D with cells have no name in row 1" in message


def test_a_title_above_the_header_is_refused(tmp_path: Path) -> None:
    message = refusal(stored(workbook(["Patients of 2024"], [], ["a", "b"], [1, 2]), tmp_path))
    assert "Row 1, 'Patients of 2024', has one cell, row 3 has more. Remove the rows above the header." in message


def test_a_table_of_one_column(tmp_path: Path) -> None:
    assert read(stored(workbook(["a"], [1], [2]), tmp_path)) == {"a": ["1", "2"]}


def test_merged_cells_are_refused_unless_they_stand_above(tmp_path: Path) -> None:
    book = workbook(["a", "b"], [1, 2], [3, None], [5, 6])
    book["Sheet"].merge_cells("B2:B3")
    assert "B2:B3" in refusal(stored(book, tmp_path))


def test_one_sheet_with_cells_is_taken_and_several_are_listed(tmp_path: Path) -> None:
    assert read(stored(workbook(["a"], [1], empty=[]), tmp_path)) == {"a": ["1"]}
    path = stored(workbook(["a"], [1], other=[["b"], [2]]), tmp_path)
    assert "--sheet: 'Sheet', 'other'" in refusal(path)
    assert read(path, How(sheet="other")) == {"b": ["2"]}
    assert "'Sheet', 'other'" in refusal(path, How(sheet="third"))
    assert "No sheet has a cell" in refusal(stored(workbook(), tmp_path))
    assert "is empty" in refusal(stored(workbook(["a"], [1], empty=[]), tmp_path), How(sheet="empty"))


def test_hidden_sheets_are_read_only_if_there_is_no_other(tmp_path: Path) -> None:
    book = workbook(["a"], [1], lists=[["b"], [2]])
    book["lists"].sheet_state = "hidden"
    source = open_table(stored(book, tmp_path))
    assert source.names == ("a",)
    assert any("'lists'" in remark for remark in source.remarks)
    alone = workbook(lists=[["b"], [2]])
    alone["lists"].sheet_state = "hidden"
    source = open_table(stored(alone, tmp_path))
    assert source.names == ("b",)
    assert any("hidden" in remark for remark in source.remarks)


def test_hidden_rows_and_columns_count_and_are_mentioned(tmp_path: Path) -> None:
    book = workbook(["a", "b"], [1, 2], [3, 4])
    book["Sheet"].row_dimensions[3].hidden = True
    book["Sheet"].row_dimensions[9].hidden = True
    book["Sheet"].column_dimensions["B"].hidden = True
    source = open_table(stored(book, tmp_path))
    assert cells_of(source.read(source.names)) == {"a": ["1", "3"], "b": ["2", "4"]}
    rows, columns = source.remarks
    assert "1 hidden row of" in rows
    assert "hidden column 'b'" in columns


def test_a_decimal_comma_concerns_texts_only(tmp_path: Path) -> None:
    path = stored(workbook(["a", "b"], ["1,5", 1.234], [2.125, "2,25"]), tmp_path)
    assert read(path, How(decimal=",")) == {"a": ["1.5", "2.125"], "b": ["1.234", "2.25"]}
    assert read(path, How(decimal=",", missing=("1.5",))) == {"a": ["", "2.125"], "b": ["1.234", "2.25"]}
    message = refusal(stored(workbook(["a"], ["1.234,5"]), tmp_path), How(decimal=","))
    assert "'a' has points between thousands" in message


def test_columns_with_the_same_name_are_refused(tmp_path: Path) -> None:
    assert "'a'" in refusal(stored(workbook(["a", "a"], [1, 2]), tmp_path))


@pytest.mark.parametrize("name", ["table.xls", "table.ods", "table.xlsb"])
def test_other_formats_are_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert "save it as .xlsx" in refusal(tmp_path / name)


@pytest.mark.parametrize(("more", "word"), [("EncryptedPackage".encode("utf-16-le"), "password"), (b"", ".xls")])
def test_files_of_old_office_are_refused_with_what_to_do(tmp_path: Path, more: bytes, word: str) -> None:
    path = tmp_path / "table.xlsx"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600) + more)
    assert word in refusal(path)


def test_a_missing_package_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored(workbook(["a"], [1]), tmp_path)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(Unsupported, match=r"pip install 'mixbayes\[excel\]'"):
        open_table(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="No such file"):
        open_table(tmp_path / "none.xlsx")


def spelled(value: object) -> str:
    """What the writer of a CSV export writes, independently of the program."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


# Calamine reads a cell of blanks alone as empty.
LETTERS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(
    str.strip
)
KINDS = [
    st.integers(-999_999, 999_999),
    st.integers(-99_999, 99_999).map(lambda number: number / 1000),
    st.booleans(),
    st.dates(date(1900, 3, 1), date(2100, 1, 1)),
    LETTERS,
    st.sampled_from(["007", "1.50", " x ", "NA", "?", "TRUE", "1,5"]),
]
TABLES = st.integers(1, 5).flatmap(
    lambda width: st.tuples(*[st.sampled_from(KINDS) for _ in range(width)]).flatmap(
        lambda kinds: st.lists(
            st.tuples(st.sampled_from(["sick", "well"]), *[st.none() | kind for kind in kinds]), min_size=2, max_size=9
        )
    )
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TABLES)
def test_the_vector_is_that_of_the_csv_export(tmp_path: Path, rows: list[tuple[object, ...]]) -> None:
    rows = [("sick",) + ("1",) * (len(rows[0]) - 1), ("well",) + ("2",) * (len(rows[0]) - 1), *rows]
    header = ["diagnosis", *(f"c{at}" for at in range(1, len(rows[0])))]
    book = workbook(header, *rows)
    for row in book["Sheet"].iter_rows():
        for cell in row:
            if isinstance(cell.value, str):
                cell.data_type = "s"  # openpyxl has made formulas and errors of some
    sheet = stored(book, tmp_path)
    with open(tmp_path / "table.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *([spelled(value) for value in row] for row in rows)])
    text = tmp_path / "table.csv"
    assert read(sheet) == read(text)
    layout = Layout(infer([read_table(text)], class_column="diagnosis"))
    assert (counted(layout, open_table(sheet)).vector == counted(layout, open_table(text)).vector).all()


CONTENT = io.BytesIO()
_book = workbook(["a", "b"], [1, "x"], ["#N/A", date(2024, 1, 2)], ["=1", True])
_book["Sheet"].row_dimensions[3].hidden = True
_book.save(CONTENT)


def only_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with suppress(BadData):
        read_table(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.booleans())
def test_random_bytes_are_refused(tmp_path: Path, content: bytes, zipped: bool) -> None:
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK\3\4" * zipped + content)
    with pytest.raises(BadData, match="is no Excel file"):
        read_table(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_are_refused(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(CONTENT.getvalue())
    if data.draw(st.booleans(), "truncated"):
        only_refused(tmp_path / "table.xlsx", bytes(content[: data.draw(st.integers(0, len(content) - 1))]))
        return
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    only_refused(tmp_path / "table.xlsx", bytes(content))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_xml_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    changed = io.BytesIO()
    with zipfile.ZipFile(CONTENT) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            part = bytearray(archive.read(name))
            if data.draw(st.booleans(), name):
                at = data.draw(st.integers(0, len(part) - 1))
                part[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=4))
            copy.writestr(name, bytes(part))
    only_refused(tmp_path / "table.xlsx", changed.getvalue())


def test_a_header_that_comes_again_is_named_by_its_row(tmp_path: Path) -> None:
    path = stored(workbook(("age", "ill"), (61, "yes"), ("age", "no"), ("age", "ill"), (58, "no")), tmp_path)
    assert refusal(path) == "Row 4 of sheet 'Sheet' is the header again. Remove it."


@pytest.mark.parametrize(
    ("cell", "said"),
    [("XFD1048576", "row 1048576"), ("ZZ100000", "column ZZ"), ("AAAAA2", "column"), ("A9999999", "row")],
)
def test_a_cell_far_from_all_others_is_refused_before_memory_is_taken(tmp_path: Path, cell: str, said: str) -> None:
    path = stored(workbook(("age", "ill"), (61, "yes")), tmp_path)
    changed = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, archive.read(name).replace(b'r="A2"', f'r="{cell}"'.encode()))
    path.write_bytes(changed.getvalue())
    found = refusal(path)
    assert found.startswith("A cell is at row")
    assert said in found
