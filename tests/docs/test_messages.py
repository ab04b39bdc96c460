"""The table of messages names every step of every protocol, in its direction, and none that does not occur."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.paillier.key import SecretKey, generate
from mixbayes.wire.v1 import node_pb2
from tests.docs import every_protocol
from tests.docs.overheard import Said, overhearing
from tests.docs.steps_in_code import steps

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "messages.md"
WITH_MIXERS, ALONE = "with mixers", "two hospitals alone"
Direction = tuple[str, str]
Steps = dict[str, set[Direction]]
ROLES = {"mixer a": "A", "mixer b": "B", "party A": "A", "party B": "B"}
"""By a peer's title; who has none of these is a hospital that asks."""


def rows(first: str) -> list[dict[str, str]]:
    """The rows of all tables whose first column has this name, by the names of the columns."""
    found: list[dict[str, str]] = []
    header: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if header and cells and header[0] == first and set(cells[0]) != {"-"}:
            found.append(dict(zip(header, cells, strict=True)))
        header = (header or cells) if cells else []
    return found


def named(row: dict[str, str], column: str) -> list[str]:
    return re.findall(r"`([^`]+)`", row[column])


DIRECTIONS: dict[str, dict[str, list[Direction]]] = {
    WITH_MIXERS: {
        "A → B": [("A", "B")],
        "B → A": [("B", "A")],
        "A ↔ B": [("A", "B"), ("B", "A")],
        "asker → mixers": [("asker", "A"), ("asker", "B")],
        "mixers → asker": [("A", "asker"), ("B", "asker")],
    },
    "A asks": {
        "A → B": [("A", "B")],
        "B → A": [("B", "A")],
        "A ↔ B": [("A", "B"), ("B", "A")],
        "asker → other": [("A", "B")],
        "other → asker": [("B", "A")],
    },
}
DIRECTIONS["B asks"] = DIRECTIONS["A asks"] | {"asker → other": [("B", "A")], "other → asker": [("A", "B")]}


def written(setting: str) -> Steps:
    """What the page says of a setting, step by step."""
    column = WITH_MIXERS if setting == WITH_MIXERS else ALONE
    found: Steps = {}
    for row in rows("step"):
        (step,) = named(row, "step")
        assert step not in found, f"{step} stands twice on the page"
        parts = [] if row[column] == "–" else row[column].split("; ")
        found[step] = {one for part in parts for one in DIRECTIONS[setting][part]}
    return {step: directions for step, directions in found.items() if directions}


def heard(said: Said) -> Steps:
    found: Steps = {}
    for step, sender, receiver in said:
        found.setdefault(step, set()).add((ROLES.get(sender, "asker"), ROLES.get(receiver, "asker")))
    return found


@cache
def key() -> SecretKey:
    return generate(2048)


def _alone(asker: int) -> None:
    every_protocol.alone(asker, key())
    every_protocol.at_two_hospitals(asker)


def _with_mixers() -> None:
    every_protocol.with_mixers()
    every_protocol.at_mixers()
    every_protocol.supply()


RUNS: dict[str, Callable[[], None]] = {
    WITH_MIXERS: _with_mixers,
    "A asks": lambda: _alone(A),
    "B asks": lambda: _alone(B),
}


@pytest.mark.parametrize("setting", RUNS)
def test_every_step_stands_on_the_page_in_its_direction_and_no_other(setting: str) -> None:
    key()
    with overhearing() as said:
        RUNS[setting]()
    found, page = heard(said), written(setting)
    assert sorted(set(found) - set(page)) == [], "steps that are missing on the page"
    assert sorted(set(page) - set(found)) == [], "steps on the page that do not occur"
    assert {step: sorted(found[step]) for step in found} == {step: sorted(page[step]) for step in found}


def test_steps_that_no_run_here_comes_to_stand_on_the_page_too() -> None:
    in_code = steps()
    assert {"label", "OT extension: trees", "noisy counts", "winner shared anew"} <= in_code
    assert sorted(in_code - {step for row in rows("step") for step in named(row, "step")}) == []


def test_every_call_between_nodes_stands_on_the_page() -> None:
    calls = {f"{name}.{method}" for name, one in services().items() for method in one}
    assert sorted(call for row in rows("call") for call in named(row, "call")) == sorted(calls)


def services() -> dict[str, list[str]]:
    described = node_pb2.DESCRIPTOR.services_by_name
    return {name: [method.name for method in one.methods] for name, one in described.items()}


def test_every_row_names_tests_and_these_are_there() -> None:
    words = {row["word"]: (row["file"], named(row, "test")[0]) for row in rows("word")}
    used = {word for kind in ("step", "call") for row in rows(kind) for word in row["test"].split(", ")}
    assert used == set(words)
    for file, test in words.values():
        path = (DOCS / file.partition("(")[2].rstrip(")")).resolve()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (file, test)


def test_a_step_that_is_missing_and_one_too_many_are_found() -> None:
    """So that the comparison could fail: every setting has steps, and the directions of some of them differ."""
    page = {setting: written(setting) for setting in RUNS}
    assert all(len(of_setting) > 25 for of_setting in page.values())
    assert page["A asks"]["label"] == {("B", "A")} != page["B asks"]["label"] == {("A", "B")}
    assert page[WITH_MIXERS]["base OT: offer"] == {("B", "A")}
    assert page[WITH_MIXERS]["masked sums"] == {("asker", "A"), ("asker", "B")}
    assert "encrypted cells" not in page[WITH_MIXERS]
