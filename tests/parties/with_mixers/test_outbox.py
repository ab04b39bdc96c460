"""What a hospital has sent: made once, the same bytes until they are acknowledged, and then gone from its disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import Privacy
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database, Fault
from mixbayes.node.disk.datastore import HOSPITAL
from mixbayes.node.disk.sealing import Seal
from mixbayes.parties.with_mixers.contributing import Messages, Outbox
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release
from mixbayes.protocol.errors import OutOfRange
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.errors import BadState, RefusedByPolicy
from tests.mixers.misfortune import Fuse, Killed
from tests.mixers.three_hospitals import Clock

AGREEMENT = "ab" * 32
KEY = b"north".ljust(32)
PRIVACY = Privacy(epsilon=4.0, delta=1e-6, total_epsilon=4.0, total_delta=1e-6, coins=(24,))


class Maker:
    """Makes another contribution every time."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> Messages:
        self.made += 1
        return Messages(bytes([self.made]) * 16, b"seed %d" % self.made, b"masked counts %d" % self.made)


@contextmanager
def outbox_in(
    folder: Path, fault: Fault = lambda _: None, agreement: str = AGREEMENT, most: int = 9
) -> Iterator[Outbox]:
    with Database.open(folder, HOSPITAL, Seal(KEY), "party north", fault) as database:
        yield Outbox(database, "party north", agreement, Clock(), most)


@contextmanager
def noisy_outbox_in(folder: Path, agreement: str = AGREEMENT) -> Iterator[Outbox]:
    """Of an agreement whose total pays for one round."""
    with Database.open(folder, HOSPITAL, Seal(KEY), "party north") as database:
        yield Outbox(database, "party north", agreement, Clock(), 9, PRIVACY, Release(Coins((24,)), 3))


def raw(folder: Path) -> bytes:
    return b"".join(part.read_bytes() for part in folder.iterdir())


def test_contribution_is_made_once_for_a_round(tmp_path: Path) -> None:
    make = Maker()
    with outbox_in(tmp_path) as outbox:
        first = outbox.due(1, make)
        assert first == {"a": b"seed 1", "b": b"masked counts 1"}
        assert outbox.due(1, make) == first
        assert outbox.due(2, make) == {"a": b"seed 2", "b": b"masked counts 2"}
    with outbox_in(tmp_path) as outbox:
        assert outbox.due(1, make) == first
    assert make.made == 2


def test_another_agreement_gets_a_contribution_of_its_own(tmp_path: Path) -> None:
    make = Maker()
    with outbox_in(tmp_path) as outbox:
        outbox.due(1, make)
    with outbox_in(tmp_path, agreement="cd" * 32) as outbox:
        assert outbox.due(1, make)["a"] == b"seed 2"
    with outbox_in(tmp_path) as outbox:
        assert outbox.due(1, make)["a"] == b"seed 1"


def test_what_is_acknowledged_is_due_no_more_and_gone_from_the_disk(tmp_path: Path) -> None:
    make = Maker()
    with outbox_in(tmp_path) as outbox:
        outbox.due(1, make)
        outbox.acknowledged(1, "a", b"\x01" * 16, 6)
        assert outbox.due(1, make) == {"b": b"masked counts 1"}
        outbox.acknowledged(1, "b", b"\x01" * 16, 15)
        assert outbox.due(1, make) == {}
        with outbox._datastore.database.read() as connection:
            kept = connection.execute("SELECT message FROM outbox").fetchall()
        assert kept == [(None,), (None,)]
    assert make.made == 1


def test_what_waits_lies_there_sealed(tmp_path: Path) -> None:
    with outbox_in(tmp_path) as outbox:
        outbox.due(1, Maker())
        assert b"seed 1" not in raw(tmp_path)
        assert b"masked counts" not in raw(tmp_path)


def test_messages_that_were_swapped_on_disk_do_not_open(tmp_path: Path) -> None:
    """Mixer a must never be sent what is meant for mixer b."""
    with outbox_in(tmp_path) as outbox:
        outbox.due(1, Maker())
        with outbox._datastore.database.write() as connection:
            (message,) = connection.execute("SELECT message FROM outbox WHERE mixer = 'b'").fetchone()
            connection.execute("UPDATE outbox SET message = ? WHERE mixer = 'a'", (message,))
        with pytest.raises(BadState, match="does not open"):
            outbox.due(1, Maker())


@pytest.mark.parametrize(
    ("number", "mixer", "receipt"), [(1, "a", b"\x02" * 16), (2, "a", b"\x01" * 16), (1, "c", b"\x01" * 16)]
)
def test_receipt_for_something_else_is_refused(tmp_path: Path, number: int, mixer: str, receipt: bytes) -> None:
    with outbox_in(tmp_path) as outbox:
        due = outbox.due(1, Maker())
        with pytest.raises(OutOfRange, match=f"mixer {mixer}, at contribution: it acknowledged something else"):
            outbox.acknowledged(number, mixer, receipt, 6)
        assert outbox.due(1, Maker()) == due


@pytest.mark.parametrize("side", [0, 1], ids=["before the commit", "after it"])
def test_killed_while_it_is_made_sends_one_contribution_all_the_same(tmp_path: Path, side: int) -> None:
    fuse, make = Fuse(), Maker()
    fuse.left = side
    with outbox_in(tmp_path, fuse) as outbox, pytest.raises(Killed):
        outbox.due(1, make)
    with outbox_in(tmp_path) as outbox:
        due = outbox.due(1, make)
        assert due["a"].endswith(due["b"][-1:])
        assert make.made == (2 if side == 0 else 1)
    with outbox_in(tmp_path) as outbox:
        assert outbox.due(1, make) == due


def test_contributions_and_questions_are_in_the_audit_trail(tmp_path: Path) -> None:
    with outbox_in(tmp_path) as outbox:
        outbox.due(1, Maker())
        outbox.acknowledged(1, "a", b"\x01" * 16, 6)
        outbox.acknowledged(1, "b", b"\x01" * 16, 15)
        outbox.asked(1, 5, shown=False)
        outbox.asked(1, 7, shown=True)
    found = [
        (record.entry.actor, record.entry.verb, record.entry.subject, dict(record.entry.details))
        for record in audit.entries(tmp_path)
    ]
    assert found == [
        ("party north", "contributed", "mixer a", {"round": 1, "bytes": 6, "contribution": "01" * 16}),
        ("party north", "contributed", "mixer b", {"round": 1, "bytes": 15, "contribution": "01" * 16}),
        ("party north", "asked", "both mixers", {"round": 1, "rows hidden": 5}),
        ("party north", "asked", "both mixers", {"round": 1, "rows shown": 7}),
    ]


def test_only_rounds_that_were_sealed_count_against_the_agreed_number(tmp_path: Path) -> None:
    with outbox_in(tmp_path, most=2) as outbox:
        for number in (1, 2, 3, 4):
            outbox.due(number, Maker())
        outbox.sealed(3)
        outbox.due(5, Maker())
        outbox.sealed(5)
        assert outbox.due(5, Maker()) == {}, "what is sealed is not sent again, not even to mixers that have lost it"
        with pytest.raises(RefusedByPolicy, match="2 rounds, as many as the agreement allows"):
            outbox.due(6, Maker())


def test_noise_is_charged_before_a_contribution_leaves_and_refused_beyond_the_total(tmp_path: Path) -> None:
    with noisy_outbox_in(tmp_path) as outbox:
        assert outbox.noise_spent() == 0
        assert outbox.due(1, Maker())
        once = outbox.noise_spent()
        assert 0 < once <= PRIVACY.total_epsilon
        with pytest.raises(RefusedByPolicy, match=r"does not contribute: the noise of 1 release has used"):
            due_after(outbox, 1, number=2)
        assert outbox.noise_spent() == once
    with noisy_outbox_in(tmp_path, agreement="another") as outbox:
        with pytest.raises(RefusedByPolicy, match="does not contribute"):
            outbox.due(3, Maker())
        assert outbox.noise_spent() == once


def test_rounds_that_end_before_anything_is_drawn_use_up_nothing(tmp_path: Path) -> None:
    """Whoever closes rounds cannot use up the ledgers of others."""
    with noisy_outbox_in(tmp_path) as outbox:
        for number in range(1, 6):
            assert due_after(outbox, 0, number)
        with pytest.raises(RefusedByPolicy, match="the noise of 1 release has used"):
            due_after(outbox, 1, number=6)


def due_after(outbox: Outbox, drawn: int, number: int, make: Callable[[], Messages] | None = None) -> dict[str, bytes]:
    """What is due to a round once both mixers say that they have charged noise so often."""
    outbox.noise_drawn(number, {"a": drawn, "b": drawn})
    return outbox.due(number, make or Maker())


def charges(outbox: Outbox) -> int:
    with outbox._datastore.read() as tables:
        return tables.noise_charges(AGREEMENT)


def test_mixers_that_have_lost_their_ledgers_do_not_make_a_charge_forgotten(tmp_path: Path) -> None:
    with outbox_with_test_in(tmp_path) as outbox:
        for number in (1, 2, 3):
            due_after(outbox, number - 1, number)
        outbox.noise_drawn(3, {"a": 3, "b": 3})
        assert charges(outbox) == 3
        for number, drawn in ((4, 0), (5, 1), (6, 2)):
            due_after(outbox, drawn, number)
            assert charges(outbox) == number
        due_after(outbox, 2, number=7)
        assert charges(outbox) == 6, "round 6 ended before anything was drawn, and leaves its charge to round 7"


def test_a_restored_mixer_counts_on_from_what_it_still_knows(tmp_path: Path) -> None:
    with outbox_with_test_in(tmp_path) as outbox:
        for number, drawn in ((1, 0), (2, 1), (3, 2)):
            due_after(outbox, drawn, number)
        outbox.noise_drawn(3, {"a": 3, "b": 3})
        for number, drawn in ((4, 2), (5, 3)):  # a backup of round 2 was put back
            due_after(outbox, drawn, number)
            assert charges(outbox) == number


def test_what_both_mixers_have_drawn_is_charged_to_a_hospital_that_knows_nothing_of_it(tmp_path: Path) -> None:
    with outbox_with_test_in(tmp_path) as outbox:
        for number, drawn in ((4, {"a": 3, "b": 3}), (4, {"a": 3, "b": 3}), (4, {"a": 3})):
            outbox.noise_drawn(number, drawn)
            assert charges(outbox) == 3
        outbox.due(4, Maker())
        assert charges(outbox) == 4
    (caught_up,) = (one.entry for one in audit.entries(tmp_path) if one.entry.verb == "charged noise")
    assert caught_up.details == {"round": 4, "releases": 3, "why": "drawn without this node"}


def test_one_mixer_alone_cannot_use_up_a_hospitals_ledger(tmp_path: Path) -> None:
    with outbox_with_test_in(tmp_path) as outbox:
        outbox.noise_drawn(1, {"a": 10**18, "b": 0})
        outbox.noise_drawn(1, {"a": 10**18})
        assert charges(outbox) == 0
        outbox.noise_drawn(1, {"a": 10**18, "b": 10**18})
        assert charges(outbox) == 9, "an agreement on nine rounds has no more"


TEST = Release(Coins((24,)), 1)
GENEROUS = PRIVACY.model_copy(update={"total_epsilon": 1e6, "total_delta": 0.9})


@contextmanager
def outbox_with_test_in(folder: Path, agreement: str = AGREEMENT, privacy: Privacy = GENEROUS) -> Iterator[Outbox]:
    """Of an agreement with a joint test."""
    with Database.open(folder, HOSPITAL, Seal(KEY), "party north") as database:
        yield Outbox(database, "party north", agreement, Clock(), 9, privacy, Release(Coins((24,)), 3), TEST)


def counted(counts: bytes) -> Callable[[], Messages]:
    make = Maker()
    return lambda: replace(make(), counts=counts)


def test_with_rows_aside_and_noise_a_changed_table_needs_another_agreement(tmp_path: Path) -> None:
    with outbox_with_test_in(tmp_path) as outbox:
        outbox.due(1, counted(b"table"))
        assert due_after(outbox, 1, 2, counted(b"table"))
        with pytest.raises(RefusedByPolicy, match="a changed table needs a new agreement"):
            due_after(outbox, 2, 3, counted(b"another"))
        assert due_after(outbox, 2, 3, counted(b"table"))
    with outbox_with_test_in(tmp_path, "cd" * 32) as outbox:
        assert outbox.due(1, counted(b"another"))
    with noisy_outbox_in(tmp_path / "without a test") as outbox:
        outbox.due(1, counted(b"table"))
        assert outbox.due(2, counted(b"another"))


def test_the_joint_test_is_charged_once_a_round_and_refused_beyond_the_total(tmp_path: Path) -> None:
    with outbox_with_test_in(tmp_path, privacy=PRIVACY) as outbox:
        with outbox._datastore.write() as tables:
            tables.charge_noise("ef" * 32, 1, "some set", Release(Coins((24,)), 3), None)
        with pytest.raises(RefusedByPolicy, match="gives no rows for the joint test"):
            outbox.give_aside(1, 9)
    with outbox_with_test_in(tmp_path) as outbox:
        for _ in range(2):
            outbox.give_aside(1, 9)
        with outbox._datastore.read() as tables:
            assert tables.releases().count(TEST) == 1
            assert tables.noise_charges(AGREEMENT) == 0


@contextmanager
def private_outbox_in(folder: Path, own: PrivateRelease, privacy: Privacy = PRIVACY) -> Iterator[Outbox]:
    """Of a hospital that contributes a release with a promise of its own."""
    with Database.open(folder, HOSPITAL, Seal(KEY), "party north") as database:
        yield Outbox(database, "party north", AGREEMENT, Clock(), 9, privacy, Release(Coins((24,)), 3), None, own)


OWN, OTHER = PrivateRelease(b"one", 2.5, 1e-7), PrivateRelease(b"another", 2.0, 1e-7)


def test_an_own_release_is_charged_once_for_all_rounds_and_their_noise_is_not(tmp_path: Path) -> None:
    with private_outbox_in(tmp_path, OWN) as outbox:
        for number in range(1, 6):
            assert due_after(outbox, number - 1, number)
        outbox.noise_drawn(5, {"a": 5, "b": 5})
        assert (outbox.noise_spent(), charges(outbox)) == (2.5, 5)
    with private_outbox_in(tmp_path, OTHER) as outbox:
        with pytest.raises(RefusedByPolicy, match=r"1 release has used ε = 2\.5 of the 4"):
            due_after(outbox, 5, 6)
        assert outbox.noise_spent() == 2.5
    with noisy_outbox_in(tmp_path) as outbox, pytest.raises(RefusedByPolicy, match=r"1 release has used ε = 2\.5"):
        due_after(outbox, 5, 6)


def test_a_round_whose_noise_was_for_nothing_pays_for_none_of_the_table_as_it_is(tmp_path: Path) -> None:
    """Round 1 counted a release, and ended before its noise was drawn. Round 2 counts the table as it is."""
    with private_outbox_in(tmp_path, OWN, GENEROUS) as outbox:
        due_after(outbox, 0, 1)
    with outbox_with_test_in(tmp_path) as outbox:
        due_after(outbox, 0, 2)
        assert len(outbox.given_away().noise) == 1
