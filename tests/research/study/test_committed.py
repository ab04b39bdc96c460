"""The documents in the repository are what its measurements give, and these are of the real tables."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mixbayes.local_methods.registry import METHODS
from mixbayes.research.study.document import document
from mixbayes.research.study.figure import figure
from mixbayes.research.study.hospitals import read_hospitals
from mixbayes.research.study.results import Results, as_json
from mixbayes.research.study.settings import SETTINGS
from mixbayes.research.study.study import Plan, study
from mixbayes.research.study.words import WIDTH
from tests.research.study.conftest import COMMITTED

PAGE = COMMITTED.with_suffix(".md")


def test_the_page_is_what_the_measurements_give(committed: Results) -> None:
    assert document(committed) == PAGE.read_text(encoding="utf-8")


def test_the_picture_is_what_the_measurements_give(committed: Results) -> None:
    assert figure(committed) == COMMITTED.with_suffix(".svg").read_bytes()


def test_the_measurements_are_as_the_command_writes_them(committed: Results) -> None:
    assert as_json(committed) == COMMITTED.read_text(encoding="utf-8")
    assert not committed.setup.quick


def test_every_method_is_tried_at_several_strengths(committed: Results) -> None:
    assert tuple(one.setting for one in committed.protecting) == SETTINGS
    for method in METHODS:
        assert sum(setting.split(":")[0] == method for setting in SETTINGS) > 1, method


def test_the_protocol_gave_the_labels_of_its_reference(committed: Results) -> None:
    assert committed.checked.labels == committed.checked.equal > 0


def test_prose_is_wrapped_and_tables_are_whole() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > WIDTH and not line.startswith("|")] == []
    runs = re.findall(r"(?:^\|.*\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(runs) > 8
    for run in runs:
        assert len({line.count(" | ") for line in run.splitlines()}) == 1


@pytest.mark.real_tables
def test_what_joining_brings_is_of_the_real_tables(committed: Results) -> None:
    tables = read_hospitals(Path(os.environ["MIXBAYES_DATA"]))
    setup = committed.setup
    plan = Plan(setup.repeats, setup.folds, settings=(), nodes=False)
    again = study(tables, plan, setup.seed, lambda what, done, total: None)
    assert again.hospitals == committed.hospitals
    assert again.joining == committed.joining
    assert again.starting == committed.starting
    assert again.recipes == committed.recipes
    assert again.original.given_back == committed.original.given_back
    assert again.original.membership.value == pytest.approx(committed.original.membership.value, abs=0.01)
    assert again.agreement == committed.agreement
