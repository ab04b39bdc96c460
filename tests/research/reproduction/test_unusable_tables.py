"""A table of no use costs what rests on it, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixbayes.research.reproduction.experiment import Laboratory, Part, Row
from mixbayes.research.reproduction.public_tables import WINE
from mixbayes.research.reproduction.registry import chosen
from mixbayes.research.reproduction.run import run
from tests.cli.in_process import Command, command


@pytest.fixture
def reproduce(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return command("reproduce", monkeypatch, capsys)


@pytest.fixture
def wine(tmp_path: Path) -> Callable[[str], Path]:
    """A folder in which two columns of numbers with this header stand for the wine table."""

    def written(header: str) -> Path:
        numbers = np.random.default_rng(0).normal(size=(60, 2))
        lines = [f"{one:.2f},{two:.2f},{at % 2}" for at, (one, two) in enumerate(numbers)]
        (tmp_path / "wine.csv").write_text("\n".join([header, *lines]) + "\n")
        return tmp_path

    return written


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("alcohol,proline,kind", "has no column `class`: give its last column, the class, that name."),
        ("spirit,proline,class", "wine.csv is not the table of the paper: There is no column 'alcohol'"),
    ],
)
def test_the_others_are_run_and_told(reproduce: Command, wine: Callable[[str], Path], header: str, why: str) -> None:
    names = ("roy-rebuilt-tree", "roy-table-4.1", "--data-dir", wine(header))
    done = reproduce(*names, "--json")
    assert done.code == 6
    assert why in done.err
    assert "Not run: roy-rebuilt-tree, Wine. [E100]" in done.err
    bad, good = json.loads(done.out)["experiments"]
    parts = {part["title"]: part for part in bad["parts"]}
    assert why in parts["Wine"]["unusable"]
    assert (parts["Wine"]["rows"], parts["Wine"]["missing"]) == ([], [])
    assert parts["Housing"]["missing"]
    assert {part["unusable"] for part in good["parts"]} == {parts["Housing"]["unusable"]} == {""}
    assert len(good["parts"][0]["rows"]) == 9
    text = reproduce(*names)
    assert text.code == 6
    assert "Wine: skipped. " in text.out
    assert why in text.out
    assert "71.5" in text.out


def test_one_reason_is_told_once_with_all_that_it_keeps_from_running(
    reproduce: Command, wine: Callable[[str], Path]
) -> None:
    names = ("roy-rebuilt-tree", "roy-table-5.3")
    done = reproduce(*names, "--quick", "--data-dir", wine("alcohol,proline,kind"))
    assert done.err.count("has no column `class`") == 1
    assert "Not run: roy-rebuilt-tree, Wine; roy-table-5.3, Wine." in done.err


@pytest.mark.parametrize("error", [IndexError("no row 7"), ValueError("no row 7"), ZeroDivisionError("no row 7")])
def test_a_mistake_without_a_table_is_no_tables(tmp_path: Path, error: Exception) -> None:
    def fails(_: Laboratory) -> Iterator[Row]:
        raise error

    (experiment,) = chosen(["roy-table-4.1"])
    (done,) = run(replace(experiment, parts=[Part("Wine", [WINE], fails)]), Laboratory(None))
    assert done.missing == [WINE]
    (tmp_path / WINE.file).touch()
    (done,) = run(replace(experiment, parts=[Part("Wine", [WINE], fails)]), Laboratory(tmp_path))
    assert done.unusable == f"{tmp_path / WINE.file} is not the table of the paper: no row 7. {WINE.remedy()}"
    with pytest.raises(type(error)):
        list(run(replace(experiment, parts=[Part("none", [], fails)]), Laboratory(tmp_path)))
