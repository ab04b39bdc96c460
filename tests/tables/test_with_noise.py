"""Protections beside noise: what is counted of a recoded row is that row's alone, and who has which promise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.protecting import read_protection
from mixbayes.tables.with_noise import for_whom, refuse_unfit_for_noise
from tests.tables.whole_release import protected

ATTRIBUTES = Nominal(name="sex", values=("m", "f")), Gaussian(name="age", low=0.0, high=120.0)
LAYOUT = Layout(Dictionary(class_column="class", classes=("no", "yes"), attributes=ATTRIBUTES))


def test_what_noise_hides_of_a_recoded_table_is_one_row_of_the_table(tmp_path: Path) -> None:
    """The counts of a table with a row more are those without it, and those of this row by itself."""
    (tmp_path / "cuts.json").write_text(json.dumps({"age": [0, 30, 60, 120]}))
    recoding = read_protection(f"recoding:cuts={tmp_path / 'cuts.json'}:suppress=sex")
    refuse_unfit_for_noise(recoding, 0.1, 1e-9)
    random = np.random.default_rng(0)
    cells = random.choice(["m", "f", ""], 30), random.integers(0, 130, 30).astype(np.str_), ["no", "yes"] * 15
    table = Columns.of(("sex", "age", "class"), tuple(np.array(column) for column in cells), 30)
    counts = [
        protected(LAYOUT, table.take(rows), recoding, 0).vector
        for rows in (np.arange(30), np.delete(np.arange(30), 7), np.array([7]))
    ]
    assert counts[0].tolist() == (counts[1] + counts[2]).tolist()


@pytest.mark.parametrize(
    ("protection", "said"),
    [
        ("condensation:k=3", "Possible with noise: recoding; private-synthesis, with an epsilon and a delta not above"),
        ("additive-noise", "one row of the table changes many rows that are counted"),
        ("private-synthesis:epsilon=1.1", "promises a row epsilon 1.1 and delta 1e-06, and the agreement epsilon 1"),
        ("private-synthesis:epsilon=1:delta=1e-5", "Set both at most as large as agreed"),
    ],
)
def test_what_noise_does_not_go_together_with(protection: str, said: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(said)):
        refuse_unfit_for_noise(read_protection(protection), 1.0, 1e-6)
    refuse_unfit_for_noise(read_protection("private-synthesis:epsilon=1:delta=1e-6"), 1.0, 1e-6)


def test_for_whom_a_promise_holds() -> None:
    release = PrivateRelease(b"", 2.0, 1e-6)
    assert for_whom(release, noise=False).endswith("once for all rounds that count this release")
    assert "the noise of the rounds promises these patients nothing" in for_whom(release, noise=True, aside=True)
    assert "not for the rows kept aside" in for_whom(release, noise=False, aside=True)
