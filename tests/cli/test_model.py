"""`mixbayes model`: the model that the agreement gives away, as a file, and a refusal where it gives none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mixbayes
from mixbayes.protocol.errors import BadData
from tests.cli.typed import Prompt
from tests.services.couple import ROWS
from tests.services.helpers import Site, make_site
from tests.services.test_noise import FRAME, MODEL


def test_a_file_that_classifies_as_the_nodes_do(typed: Prompt, tmp_path: Path) -> None:
    site, out = make_site(tmp_path / "site", privacy=MODEL), tmp_path / "model.json"
    with site.mixers():
        site.serve()
        done = typed.at(site, "north", "model", "-o", out)
        labels = site.labels("south", ROWS)
        told = json.loads(typed.at(site, "north", "status", "--json").out)["privacy"]
    assert (done.code, done.out, done.err) == (0, "", f"{out}: the model of round 1\n")
    assert mixbayes.load_model(out).predict(FRAME).tolist() == labels
    assert (told["epsilon"], told["release"]) == (4.0, "model")
    assert told["spent"] + told["left"] == pytest.approx(told["total_epsilon"])
    assert told["spent"] > 0


def test_an_agreement_on_labels_gives_no_model(typed: Prompt, serving: Site, tmp_path: Path) -> None:
    done = typed.at(serving, "north", "model", "-o", tmp_path / "model.json")
    assert (done.code, done.out) == (2, "")
    assert "gives labels alone" in done.err
    assert not (tmp_path / "model.json").exists()
    assert json.loads(typed.at(serving, "north", "status", "--json").out)["privacy"] is None


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}"])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(BadData, match=r"model\.json"):
        mixbayes.load_model(path)
    with pytest.raises(BadData, match="No such file"):
        mixbayes.load_model(tmp_path / "none.json")
