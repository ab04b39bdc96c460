"""`mixbayes simulate --report`: a folder that cannot be written to costs no run, and no result."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.cli import report_file
from mixbayes.protocol.errors import BadData
from tests.cli.simulating import Refused, Simulated, north_and_south

SEALED = Path("/proc")
"""Whoever asks is told that it can be written to, and nobody can."""


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(SEALED, marks=pytest.mark.skipif(not SEALED.exists(), reason="this system has none")),
        pytest.param(SEALED / "report", marks=pytest.mark.skipif(not SEALED.exists(), reason="this system has none")),
        Path("r" * 300),
    ],
    ids=["there", "below", "long"],
)
def test_a_folder_that_cannot_be_is_refused_before_the_run(folder: Path, tmp_path: Path, refused: Refused) -> None:
    said = refused(6, "simulate", *north_and_south(tmp_path), "--report", folder)
    assert f"{folder} cannot be the folder of a report: " in said


def test_looking_at_a_folder_leaves_nothing_there(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "report").mkdir()
    refused(6, "simulate", tmp_path / "none.csv", "--report", tmp_path / "report")
    assert list((tmp_path / "report").iterdir()) == []


def test_results_are_told_though_the_page_cannot_be_written(
    tmp_path: Path, simulated: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise BadData("No space left on device.")

    monkeypatch.setattr(report_file, "write_private", full)
    done = simulated(*north_and_south(tmp_path), "--report", tmp_path / "report")
    assert done.code == 6
    assert "No space left on device." in done.err
    assert "jointly, nothing pooled" in done.out
