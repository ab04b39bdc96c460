"""--report: where the page goes, when it does not, and which command it tells of."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.cli.report_file import told_command
from tests.cli.in_process import Command, command
from tests.report.test_markup import read

ORIGINAL = "a,b,class\n" + "".join(f"{i},{i * i % 7},{'yes' if i > 20 else 'no'}\n" for i in range(40))
SECRET = "31415926"


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("measure", monkeypatch, capsys)


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """An original and its release; in the one a cell that nobody else may see."""
    paths = [tmp_path / "original.csv", tmp_path / "released.csv"]
    paths[0].write_text(ORIGINAL.replace("39,2", f"{SECRET},2"))
    paths[1].write_text(ORIGINAL)
    assert SECRET in paths[0].read_text()
    return paths


def test_the_folder_is_made_and_a_page_replaced(measure: Command, tables: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    plain = measure(*tables, "--json")
    done = measure(*tables, "--json", "--report", folder)
    assert done.document == plain.document
    assert f"The report is {folder / 'report.html'}." in done.err
    assert (folder / "report.html").stat().st_mode & 0o777 == 0o600
    first = (folder / "report.html").read_text()
    assert measure(*tables, "--report", folder).code == 0
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    assert (folder / "report.html").read_text() != first  # another command


def test_no_cell_is_on_the_page(measure: Command, tables: list[Path], tmp_path: Path) -> None:
    assert measure(*tables, "--report", tmp_path).code == 0
    assert SECRET not in (tmp_path / "report.html").read_text()


def test_the_command_is_told_without_folders(measure: Command, tables: list[Path], tmp_path: Path) -> None:
    assert measure(*tables, "--report", tmp_path).code == 0
    text = read((tmp_path / "report.html").read_text()).text
    assert f"mixbayes measure original.csv released.csv --report {tmp_path.name}" in text
    assert str(tmp_path.parent) not in text


def test_a_file_in_the_way_is_named_before_the_work(measure: Command, tables: list[Path], tmp_path: Path) -> None:
    for wrong in (tables[0], tables[0] / "below"):
        done = measure(*tables, "--report", wrong)
        assert done.code == 6
        assert "no folder" in done.err
        assert "utility" not in done.err
    (tmp_path / "full" / "report.html").mkdir(parents=True)
    assert measure(*tables, "--report", tmp_path / "full").code == 6


def test_a_failure_leaves_no_page_and_no_folder(measure: Command, tables: list[Path], tmp_path: Path) -> None:
    assert measure(tables[0], tmp_path / "not there.csv", "--report", tmp_path / "out").code == 6
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["simulate", "/srv/ward 7/north.csv"], "mixbayes simulate north.csv"),
        (
            ["simulate", "--labels=/srv/out.csv", "~/a.csv", "../b.csv"],
            "mixbayes simulate --labels=out.csv a.csv b.csv",
        ),
        (["simulate", "data/a.csv", "--smoothing", "1/3"], "mixbayes simulate data/a.csv --smoothing 1/3"),
        (["simulate", "--protect", "north=sap:p=1"], "mixbayes simulate --protect north=sap:p=1"),
        (["tune", "a b.csv"], "mixbayes tune 'a b.csv'"),
    ],
)
def test_told_command(words: list[str], told: str) -> None:
    assert told_command(words) == told
