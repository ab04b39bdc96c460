"""Notebooks run from their first cell to their last one, and every document leads where it says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
RUNNER = Path(__file__).with_name("run_notebook.py")


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, RUNNER, path], capture_output=True, text=True, timeout=110, check=False)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_has_the_outputs_that_it_shows(notebook: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(notebook, tmp_path))
    done = run(copy)
    assert done.returncode == 0, done.stderr
    before, after = code_cells(notebook), code_cells(copy)
    assert [kinds(cell) for cell in before] == [kinds(cell) for cell in after]


def kinds(cell: dict[str, Any]) -> list[str]:
    return [output["output_type"] for output in cell["outputs"]]


def test_a_cell_that_fails_fails_the_run(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": [text]} for text in ("here = 1\n", "here / 0\n")]
    path = tmp_path / "bad.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    done = run(path)
    assert done.returncode != 0
    assert "ZeroDivisionError" in done.stderr
    assert "cell 2" in done.stderr


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["choose-a-protection", "simulate-a-federation"]
