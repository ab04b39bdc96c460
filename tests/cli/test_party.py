"""`mixbayes party`: what it refuses before anything is sent. tests/nodes starts and stops it as a process."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from mixbayes.cli import nodes
from mixbayes.cli.nodes import _tell_what_was_counted
from mixbayes.node.log import logger
from mixbayes.tables.sources.source import SourceAway
from mixbayes.tables.tallying import Counted
from tests.cli.typed import Prompt
from tests.services.helpers import Site, write_csv


@pytest.fixture
def data(site: Site, tmp_path: Path) -> Path:
    write_csv(tmp_path / "patients.csv", site.tables["north"])
    return tmp_path / "patients.csv"


def test_examples_and_options_are_told(typed: Prompt) -> None:
    done = typed("party", "--help")
    assert done.code == 0
    for word in ("--data", "--listen", "127.0.0.1", "mixbayes party --federation"):
        assert word in done.out


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("sex,tumour,class\nf,huge,ill\n", "E101", "huge"),
        ("sex,class\nf,ill\n", "E101", "tumour"),
        ("sex,tumour,class\nf,large,\n", "E101", "no class"),
        ("", "E100", "empty"),
        ("sex,tumour,class\n", "E100", "no rows"),
        ("sex,tumour,class\nf,large\n", "E100", "line 2 has 2"),
    ],
)
def test_a_table_that_does_not_fit(typed: Prompt, site: Site, tmp_path: Path, text: str, code: str, words: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    done = typed.at(site, "north", "party", "--data", tmp_path / "bad.csv", "--state", tmp_path / "state")
    assert done.code == 6
    assert f"[{code}]" in done.err
    assert words in done.err
    assert not (tmp_path / "state").exists()


def test_columns_beyond_the_bounds_are_named_in_the_log() -> None:
    said = io.StringIO()
    found = Counted(np.zeros(1, np.uint64), 3, {"age": 2, "chol": 1})
    _tell_what_was_counted(found, logger("party north", said))
    assert "'age 2, chol 1'" in said.getvalue().replace('"', "'")


def test_cells_that_were_generalised_are_counted_in_the_log() -> None:
    said = io.StringIO()
    found = Counted(np.zeros(1, np.uint64), 3, {}, protection="generalisation:k=2", coarsened=4)
    _tell_what_was_counted(found, logger("party north", said))
    assert "cells that the protection generalised count as missing" in said.getvalue()
    assert '"cells": 4' in said.getvalue()


def test_a_mixer_is_no_hospital(typed: Prompt, site: Site, data: Path) -> None:
    done = typed.at(site, "a", "party", "--data", data, "--state", data.parent / "state")
    assert done.code == 2
    assert "has no party 'a'" in done.err


@pytest.mark.parametrize(
    "address", ["0.0.0.0:7000", "[::]:7000", "hospital.example:7000", "192.0.2.1:7000", "nonsense"]
)
def test_nothing_at_a_hospital_listens_to_the_outside(typed: Prompt, site: Site, data: Path, address: str) -> None:
    done = typed.at(site, "north", "party", "--data", data, "--state", data.parent / "state", "--listen", address)
    assert done.code == 2
    assert "serves this machine alone" in done.err


def test_a_port_that_is_taken(typed: Prompt, serving: Site, data: Path) -> None:
    address = serving.federation.mixer("a").address
    done = typed.at(serving, "north", "party", "--data", data, "--state", data.parent / "state", "--listen", address)
    assert done.code == 1
    assert f"Nothing can listen on {address}" in done.err


def test_another_agreement_ends_it_at_once(typed: Prompt, serving: Site, data: Path) -> None:
    other = serving.other(policy={"budget": 3})
    done = typed.at(other, "north", "party", "--data", data, "--state", data.parent / "state")
    assert done.code == 3
    assert "they differ in the policy" in done.err
    assert "[E206]" in done.err


def test_a_database_that_is_away_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: list[SourceAway | Counted] = [SourceAway("clinic: it sleeps."), Counted(np.zeros(1, np.uint64), 3, {})]
    waits: list[float] = []
    monkeypatch.setattr(nodes.time, "sleep", waits.append)

    def work() -> Counted:
        answer = answers.pop(0)
        if isinstance(answer, SourceAway):
            raise answer
        return answer

    assert nodes._when_it_answers(work).rows == 3
    assert waits == [30.0]
    assert capsys.readouterr().err == "mixbayes: clinic: it sleeps. Trying again in 30 s. [E112]\n"
