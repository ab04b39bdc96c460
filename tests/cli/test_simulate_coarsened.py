"""What people are told of cells that a hospital's protection generalised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mixbayes.cli.simulate_text import show
from mixbayes.report.page import built
from mixbayes.report.simulated import simulated
from tests.report.pages import RUN, outcome


@pytest.mark.parametrize("coarsened", [0, 1200])
def test_cells_that_count_as_missing_are_told(capsys: pytest.CaptureFixture[str], coarsened: int) -> None:
    found = outcome(["north", "south"], ["no", "yes"], "generalisation:k=5")
    north, south = found.hospitals
    found = replace(found, hospitals=[north, replace(south, coarsened=coarsened)])
    show(found)
    shown = capsys.readouterr().out
    assert ("south: 1,200 cells were generalised or suppressed: they count as missing" in shown) == (coarsened > 0)
    assert "north: " not in shown
    page = built(simulated(found), RUN)
    assert ("Cells that were generalised or suppressed count as missing: 1,200." in page) == (coarsened > 0)
