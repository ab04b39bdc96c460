"""Notebooks run from their first cell to their last one, and every document leads where it says."""

from __future__ import annotations

import json
import os
import re
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
    return subprocess.run([sys.executable, RUNNER, path], capture_output=True, text=True, timeout=280, check=False)


@pytest.mark.skipif("CI" not in os.environ, reason="only make ci runs the notebooks")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_has_the_outputs_that_it_shows(notebook: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(notebook, tmp_path))
    done = run(copy)
    assert done.returncode == 0, done.stderr
    before, after = code_cells(notebook), code_cells(copy)
    assert [shown(cell) for cell in before] == [shown(cell) for cell in after]


def shown(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """What it prints, letter by letter; of a picture, that there is one."""
    return [(output["output_type"], "".join(texts_of(output))) for output in cell["outputs"]]


def texts_of(output: dict[str, Any]) -> list[str]:
    return list(output.get("text") or output["data"].get("text/plain", []))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_are_drawn_and_no_output_names_a_place(notebook: Path) -> None:
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"]]
    assert any(len(output.get("data", {}).get("image/png", "")) > 1000 for output in outputs)
    lines = [line for output in outputs for line in texts_of(output)]
    assert lines
    assert [line for line in lines if re.search(r"(^|\W)/\w+/|0x[0-9a-f]{6}", line)] == []


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
