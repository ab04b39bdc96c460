"""Whole simulations whose nodes die, lie or cannot listen: named in bounded time, and nothing stays behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.errors import BadData, PeerGone
from mixbayes.simulation import prepared, stage
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.run import simulate
from mixbayes.tables.columns import Columns
from mixbayes.tables.folding import Folded
from mixbayes.transport.errors import CannotServe, RoundFailed, Unreachable

PATIENCE = 30.0


@pytest.fixture(autouse=True)
def nothing_left(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process, and no folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = set(multiprocessing.active_children())
    yield
    assert set(multiprocessing.active_children()) <= before
    assert list(temporary.glob("mixbayes*")) == []


def small_table(rows: int = 30) -> Columns:
    rng = np.random.default_rng(0)
    colours, classes = rng.choice(["blue", "red"], rows), rng.choice(["no", "yes"], rows)
    return Columns.of(("colour", "class"), (colours, classes), rows)


def test_what_is_said_on_the_way() -> None:
    said: list[tuple[str, int, int]] = []
    outcome = simulate(
        {"Sankt Ägid": small_table(), "a": small_table(20)}, progress=lambda *step: said.append(step), deadline=PATIENCE
    )
    assert said[:2] == [("contributed: Sankt Ägid", 1, 2), ("contributed: a", 2, 2)]
    assert said[2:4] == [("training", 0, 1), ("training", 1, 1)]
    assert said[-1] == ("rows classified", 15, 15)
    assert [hospital.name for hospital in outcome.hospitals] == ["Sankt Ägid", "a"]
    assert min(outcome.bytes.training, outcome.bytes.classification, outcome.bytes.hospitals_to_mixers) > 0


@pytest.mark.parametrize(
    ("name", "when", "two_party"),
    [
        ("mixer b", "contributed: hospital-1", False),
        ("mixer a", "training", False),
        ("hospital-1", "training", False),
        ("mixer a", "rows classified", False),
        ("hospital-2", "training", True),
        ("hospital-1", "rows classified", True),
        ("mixer a", "classifiers judged", False),
        ("hospital-2", "classifiers judged", False),
    ],
)
def test_node_that_is_killed_is_named(name: str, when: str, two_party: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    processes: dict[str, int] = {}
    really = Crew.start

    def start(crew: Crew, who: str, role: Callable[..., None], *arguments: object) -> None:
        really(crew, who, role, *arguments)
        processes[who] = crew.process_of(who) or 0

    def progress(what: str, done: int, total: int) -> None:
        if what == when and processes[name]:
            os.kill(processes[name], signal.SIGKILL)
            processes[name] = 0

    monkeypatch.setattr(Crew, "start", start)
    with pytest.raises((PeerGone, Unreachable), match=rf"^(party )?{name}, at ") as caught:
        simulate(
            {"all": small_table()},
            two_party=two_party,
            evaluate=when == "classifiers judged",
            deadline=PATIENCE,
            progress=progress,
        )
    assert caught.value.exit_code == 3
    assert processes[name] == 0


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.mark.parametrize("two_party", [False, True])
def test_port_that_somebody_takes_meanwhile(taken: int, two_party: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next ones are tried."""
    really, stages = stage.free_ports, []

    def free_ports(count: int) -> list[int]:
        stages.append(count)
        return [*really(count - 1), taken] if len(stages) == 1 else really(count)

    monkeypatch.setattr(stage, "free_ports", free_ports)
    outcome = simulate({"all": small_table()}, two_party=two_party, deadline=PATIENCE)
    assert outcome.instances > 0
    assert len(stages) >= 2  # more if somebody takes one of these, too


def test_no_port_to_be_had(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "free_ports", lambda count: [taken])
    with pytest.raises(CannotServe, match=f"Nothing can listen on 127.0.0.1:{taken}"):
        simulate({"all": small_table()}, two_party=True, deadline=PATIENCE)


def test_hospital_that_lies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counts are those of no table."""
    really, hospitals = prepared.folded, iter(range(3))

    def folded(*arguments: Any, **named: Any) -> Folded:
        honest = really(*arguments, **named)
        if next(hospitals) != 1:
            return honest
        lie = np.zeros_like(honest.counted.vector) - honest.counted.vector
        return replace(honest, counted=replace(honest.counted, vector=lie))

    monkeypatch.setattr(prepared, "folded", folded)
    with pytest.raises(RoundFailed, match="hospital-2"):
        simulate({"all": small_table()}, deadline=PATIENCE)


def test_too_many_rows_start_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Crew, "start")
    with pytest.raises(BadData, match="21 rows, the agreed maximum is 20"):
        simulate({"all": small_table()}, max_rows=20)
