"""A disk that is full for a while, at nodes on loopback: its owner is named, and nothing is charged for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.node import questions
from mixbayes.node.disk.database import Database, Fault, Moment
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.disk.sqlite import looking
from mixbayes.node.questions import Kind, Question
from mixbayes.node.rounds.state import SEALED, SERVING
from mixbayes.parties.desk import at_own_node
from mixbayes.parties.with_mixers import asking
from mixbayes.protocol.errors import MixbayesError, PeerGone
from mixbayes.tables.encoding import encode_query
from mixbayes.transport.errors import BadState
from tests.services.couple import OTHER, ROWS, Couple, both
from tests.services.helpers import Site, wait_until

FULL = "/a/path/state.sqlite: the disk is full. Make room; nothing half-written was kept."
NAMED = "( says: its state folder cannot be used|, at .*: (the connection broke|it hung up))"
"""A node that has dialled another one can break off, and cannot tell it why."""


class Disks:
    """All disks in this process. `full` says of the next commit in a folder whether it finds no room."""

    def __init__(self) -> None:
        self.full: Callable[[str], bool] = lambda folder: False

    def fill(self, folder: Path, after: int = 0) -> None:
        """This one, once so many further commits have found room."""
        left = iter(range(after))
        self.full = lambda name: name == folder.name and next(left, None) is None

    def mend(self) -> None:
        self.full = lambda folder: False


@pytest.fixture
def disks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disks]:
    monkeypatch.setattr(asking, "_PAUSE", 0.1)
    found, really = Disks(), Database.__init__

    def made(database: Database, folder: Path, seal: Seal, writer: Any, held: ExitStack, _: Fault) -> None:
        def fault(moment: Moment) -> None:
            if moment == "before" and found.full(folder.name):
                raise BadState(FULL)

        really(database, folder, seal, writer, held, fault)

    monkeypatch.setattr(Database, "__init__", made)
    yield found
    found.mend()


def spent(state: Path, hospital: str) -> int:
    with looking(state) as tables:
        row = tables.execute("SELECT rows FROM spent WHERE hospital = ?", (hospital,)).fetchone()
    return row[0] if row else 0


@pytest.mark.parametrize("after", [0, 1], ids=["at the charge", "at the answer"])
@pytest.mark.parametrize("owner", ["a", "b"])
def test_thirty_rows_are_charged_once_and_the_owner_of_the_disk_is_named(
    disks: Disks, served: Site, owner: str, after: int
) -> None:
    rows = served.tables["south"].take(np.arange(30))
    with served.mixers():
        budget = served.status("north").budget_left
        with served.hospital("north"), ExitStack() as stack:
            ask = asker(stack, served, rows)
            for _ in range(3):
                disks.fill(served.state(owner), after)
                with pytest.raises((BadState, PeerGone), match=f"^mixer {owner}{NAMED}"):
                    ask()
            disks.mend()
            assert ask() == served.expected(rows)
            assert budget - served.status("north").budget_left == 30
    assert [spent(served.state(mixer), "north") for mixer in "ab"] == [30, 30]


@pytest.mark.parametrize("after", [0, 1], ids=["at the charge", "at the answer"])
def test_commands_of_which_each_asks_anew_are_charged_once(disks: Disks, served: Site, after: int) -> None:
    rows = served.tables["south"].take(np.arange(30))
    with served.mixers():
        budget = served.status("north").budget_left
        for _ in range(3):
            disks.fill(served.state("b"), after)
            with pytest.raises((BadState, PeerGone), match=f"^mixer b{NAMED}"):
                served.labels("north", rows)
        disks.mend()
        assert served.labels("north", rows) == served.expected(rows)
        assert budget - served.status("north").budget_left == 30


def asker(stack: ExitStack, site: Site, rows: Any) -> Callable[[], list[str]]:
    """What an application of north does, which gives its rows no id."""
    dictionary = site.federation.dictionary
    desk = stack.enter_context(at_own_node(site.federation, site.identity("north"), site.keys))
    codes = encode_query(dictionary, rows).codes

    def ask() -> list[str]:
        found = desk.labels(codes, rows, private=True, progress=lambda done: None)
        return [dictionary.classes[label] for label in found]

    return ask


@pytest.mark.parametrize("first", [0, 1], ids=["mixer a speaks first", "mixer b speaks first"])
@pytest.mark.parametrize("owner", ["a", "b"])
def test_both_mixers_name_the_owner_of_a_full_disk(disks: Disks, served: Site, owner: str, first: int) -> None:
    question = Question(Kind.PUBLIC, 1, 3, b"q".ljust(16))
    with served.mixers(), served.both("north") as mixers, suppress(HungUp), mixers.conversation() as (to_a, to_b):
        disks.fill(served.state(owner))
        for mixer in (to_a, to_b):
            questions.send(mixer, question)
        for mixer in ((to_a, to_b), (to_b, to_a))[first]:
            with pytest.raises(MixbayesError) as told:
                questions.receive_verdict(mixer)
            assert re.match(f"mixer {owner}{NAMED}", str(told.value))
        raise HungUp


class HungUp(Exception):
    """The hospital does not wait for a last word."""


def test_a_round_that_waits_for_a_disk_names_its_owner(disks: Disks, site: Site) -> None:
    def in_training(folder: str) -> bool:
        return folder == site.state("b").name and threading.current_thread().name == "conversation mixer a"

    with site.mixers():
        disks.full = in_training
        site.contribute(*site.federation.names)
        wait_until(lambda: "says" in site.status("north").reason, "the round waits for the disk")
        status = site.status("north")
        assert status.state == SEALED
        assert status.reason.startswith("waiting: mixer b says: its state folder cannot be used.")
        disks.mend()
        site.wait_for(SERVING)


@both
@pytest.mark.parametrize("full", ["own", "other"])
def test_two_hospitals_alone_name_the_owner_and_charge_nothing(
    disks: Disks, couple: Couple, name: str, full: str
) -> None:
    owner = name if full == "own" else OTHER[name]
    with couple.nodes():
        couple.serve()
        for after in (0, 1, 1):
            disks.fill(couple.site.state(owner), after)
            with pytest.raises((BadState, PeerGone), match=f"^party {owner}{NAMED}"):
                couple.labels(name, private=False)
        disks.mend()
        wait_until(lambda: asked_again(couple, name), "it is answered")
    assert [spent(couple.site.state(at), name) for at in OTHER] == [ROWS.rows] * 2


def asked_again(couple: Couple, name: str) -> bool:
    """Once the two talk again."""
    try:
        return couple.labels(name, private=False) == couple.due()
    except MixbayesError:
        return False
