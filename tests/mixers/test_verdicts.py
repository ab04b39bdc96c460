"""Verdicts on contributions at two nodes: what is on disk before they are opened, after a crash, and beside a liar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.mixers import training
from mixbayes.mixers.training import train_round
from mixbayes.node.disk import audit
from mixbayes.node.rounds.record import COUNTED, REFUSED
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import FAILED, SERVING
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import validity
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.verdicts import MOST_OPENINGS, KeptVerdict
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import PeerGone
from mixbayes.protocol.memory import channels
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.contribution import Contribution
from mixbayes.transport.errors import AlreadyContributed, RefusedByPolicy, RoundFailed
from tests.mixers.test_killed import Operators
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, NOISE, Clock, agreement, new_folder, one_hot, rounds_in
from tests.mixers.world import World, deal_base_transfers

MIXER = pytest.mark.parametrize("name", MIXERS)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_base_transfers(monkeypatch)


@contextmanager
def sealed(privacy: dict[str, object] | None = None, **vectors: Words) -> Iterator[World]:
    """All have contributed and the set is fixed."""
    with new_folder() as folder:
        world = World(Path(folder), agreement(privacy))
        world.vectors |= vectors
        try:
            for name in HOSPITALS:
                world.visit(name)
            world.lead()
            yield world
        finally:
            world.close()


def a_lie(layout: Layout) -> Words:
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[:] = 1, 2
    return vector


LIE = a_lie(agreement().layout)


def rounds_of(world: World, name: str) -> Rounds:
    return {"a": world.a, "b": world.b}[name].rounds


def kept(world: World, name: str) -> dict[str, KeptVerdict]:
    return rounds_of(world, name).verdicts(1)


@MIXER
def test_a_mixer_killed_at_any_write_of_the_check_comes_to_the_same_verdicts(name: str) -> None:
    """Before and after an opening is noted, and before and after a verdict is kept: of what holds and what does not."""
    for commit in range(2 * 4 + 1):
        with sealed(south=LIE) as world:
            fuse = world.fuses[name]
            fuse.left = commit
            people = Operators(world)
            people.serve(1)
            for mixer in MIXERS:
                found = {hospital: one.verdict for hospital, one in rounds_of(world, mixer).contributions(1).items()}
                assert found == {"north": COUNTED, "south": REFUSED, "west": COUNTED}
                assert max(one.openings for one in kept(world, mixer).values()) <= MOST_OPENINGS
                assert kept(world, mixer)["north"].holds is True
            people.promises.check()
            assert fuse.left is None, "the fuse never reached a write"


@MIXER
def test_verdicts_that_both_keep_are_not_computed_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The training breaks off after the check; the next one begins with what was found."""
    with sealed(south=LIE) as world, monkeypatch.context() as patch:

        def breaks_off(*about: object) -> object:
            raise PeerGone("mixer b", "training", "the connection broke")

        patch.setattr(training, "train", breaks_off)
        world.lead()
        before = {mixer: kept(world, mixer) for mixer in MIXERS}
        assert [one.holds for one in before[name].values()] == [True, False, True]
        patch.undo()
        world.everybody()
        assert {mixer: kept(world, mixer) for mixer in MIXERS} == before
        assert world.a.rounds.status("north").refused == ["south"]


class Liar:
    """One mixer of the two shifts its share of a count of one hospital, hears the verdict, forgets it and hangs up."""

    def __init__(self, world: World, name: str, patch: pytest.MonkeyPatch) -> None:
        self.role, self.by, self.heard = MIXERS.index(name), 0, list[bool]()
        self.layout = world.layout
        node = rounds_of(world, name)
        patch.setattr(node, "verdicts", lambda number: dict.fromkeys(HOSPITALS, KeptVerdict()))
        patch.setattr(node, "note_openings", lambda number, hospitals: None)
        patch.setattr(node, "keep_verdicts", lambda number, verdicts: None)
        self._share, self._equal = training.share_of, validity._equal
        patch.setattr(training, "share_of", self.share_of)
        patch.setattr(validity, "_equal", self.equal)

    def share_of(self, layout: Layout, contribution: Contribution) -> Words:
        found, of_liar = self._share(layout, contribution), isinstance(contribution.share, bytes) == (self.role == A)
        if of_liar and contribution.hospital == "south":
            found = found.copy()
            block = layout.block(found, 1)
            block[1, 1] -= np.uint64(self.by)
            block[0, 1] += np.uint64(self.by)
        return found

    def equal(self, me: ComputingParty, digests: Sequence[bytes], *more: Any) -> list[bool]:
        found = self._equal(me, digests, *more)
        if me.role == self.role:
            self.heard.append(found[1])
            raise PeerGone("mixer", "validity", "this one hangs up")
        return found


@MIXER
def test_a_mixer_that_hangs_up_after_each_verdict_hears_no_fourth(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the other one leads, and begins every training itself."""
    with sealed(south=7 * one_hot(agreement().layout, "south")) as world, monkeypatch.context() as patch:
        liar = Liar(world, name, patch)
        least, most = 0, 7
        for _ in range(8):
            liar.by = (least + most + 1) // 2
            before = len(liar.heard)
            world.lead()
            if len(liar.heard) > before and least < most:
                least, most = (liar.by, most) if liar.heard[-1] else (least, liar.by - 1)
        assert len(liar.heard) == MOST_OPENINGS
        honest = rounds_of(world, "b" if name == "a" else "a")
        assert {one.openings for one in honest.verdicts(1).values()} == {MOST_OPENINGS}
        assert (honest.current().state, honest.current().run) == (FAILED, None)
        assert "opened 3 times" in honest.current().reason


@MIXER
def test_a_contribution_without_openings_left_is_left_out_and_the_hospital_contributes_anew(name: str) -> None:
    with sealed() as world:
        for _ in range(MOST_OPENINGS):
            rounds_of(world, name).note_openings(1, ["south"])
        world.everybody()
        for number, counted in ((1, {"north", "west"}), (2, set(HOSPITALS))):
            for mixer in MIXERS:
                now = world.on_disk(mixer)[number]
                assert (now.state, now.counted) == (SERVING, counted)
            if number == 1:
                assert world.a.rounds.status("south").refused == ["south"]
                assert world.close_round("north", 1)
                assert world.open_round("north", 2)
                world.everybody()


def test_no_opening_is_noted_beyond_the_third(tmp_path: Path) -> None:
    """However many trainings the leader begins at once."""
    with rounds_in(tmp_path, Clock()) as rounds:
        for name in HOSPITALS:
            rounds.hold(1, name, name.encode().ljust(16), b"message")
        rounds.seal(1, {name: name.encode().ljust(16) for name in HOSPITALS})
        for _ in range(MOST_OPENINGS):
            rounds.note_openings(1, ["south"])
        rounds.note_openings(1, ["north"])
        with pytest.raises(RefusedByPolicy, match="mixer a opens that of party south no more"):
            rounds.note_openings(1, ["north", "south"])
        openings = {name: one.openings for name, one in rounds.verdicts(1).items()}
        assert openings == {"north": 1, "south": MOST_OPENINGS, "west": 0}


def test_a_contribution_that_comes_again_brings_no_openings_with_it(tmp_path: Path) -> None:
    """After a lost answer a hospital sends the same bytes, to the same round; an id of an earlier round is refused."""
    with rounds_in(tmp_path, Clock()) as rounds:
        chosen = {name: name.encode().ljust(16) for name in HOSPITALS}
        for name, id in chosen.items():
            rounds.hold(1, name, id, b"message")
        rounds.seal(1, chosen)
        rounds.note_openings(1, ["south"])
        rounds.keep_verdicts(1, {"south": False})
        rounds.hold(1, "south", chosen["south"], b"message")
        rounds.keep_verdicts(1, {"south": False})
        with pytest.raises(RefusedByPolicy, match="different verdicts on what party south sent"):
            rounds.keep_verdicts(1, {"north": True, "south": True})
        assert rounds.verdicts(1)["north"] == KeptVerdict()
        assert rounds.verdicts(1)["south"] == KeptVerdict(1, holds=False)
        rounds.fail(1, "for the test.")
        rounds.open(2, "party north")
        with pytest.raises(AlreadyContributed, match="party south has sent a contribution with this id"):
            rounds.hold(2, "south", chosen["south"], b"message")
        rounds.hold(2, "south", b"another id".ljust(16), b"message")
        assert rounds.verdicts(2)["south"] == KeptVerdict()


def test_the_trail_says_how_often_verdicts_were_opened() -> None:
    with sealed(south=LIE) as world:
        world.everybody()
        assert world.a.rounds.current().state == SERVING
        entries = [(one.entry.verb, dict(one.entry.details)) for one in audit.entries(world.folder / "a")]
        said = [entry for entry in entries if "verdicts" in entry[0]]
        assert said == [
            ("opens verdicts", {"round": 1, "contributions": 3}),
            ("keeps verdicts", {"round": 1, "hold": 2, "contributions": 2}),
            ("opens verdicts", {"round": 1, "contributions": 1}),
            ("keeps verdicts", {"round": 1, "hold": 0, "contributions": 1}),
        ]


# What noise is charged for


def test_noise_is_charged_for_the_contributions_that_are_added_up() -> None:
    with sealed(NOISE, south=LIE) as world:
        world.everybody()
        accepted = frozenset({"north", "west"})
        for mixer in MIXERS:
            now = world.on_disk(mixer)[1]
            ids = {name: id for name, (id, _, _) in now.held.items() if name in accepted}
            assert (now.state, now.counted, list(now.noise)) == (SERVING, accepted, [set_digest(1, ids)])


def test_other_verdicts_on_the_same_set_cost_another_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """One mixer could else have two sums opened under one noise: their difference is a hospital's counts."""
    with sealed() as world:
        held = [node.store.contributions(1) for node in (world.a, world.b)]
        charged: list[dict[str, bytes]] = []
        layout = agreement(NOISE).layout

        def trained(spoilt: bool) -> None:
            plain = training.share_of

            def share(layout: Layout, one: Contribution) -> Words:
                lies = spoilt and one.hospital == "south" and isinstance(one.share, bytes)
                return plain(layout, one) + np.uint64(lies)

            def charge(counted: Mapping[str, bytes]) -> Draw:
                charged.append(dict(counted))
                raise RoundFailed("that is enough")

            monkeypatch.setattr(training, "share_of", share)
            (now_a, now_b), (ahead_a, ahead_b) = (channels("mixer a", "mixer b") for _ in range(2))
            random = Randomness.from_system
            with suppress(RoundFailed):
                memory.together(
                    lambda: train_round(A, (now_a, ahead_a), layout, 1, held[A], 2, random(), charge),
                    lambda: train_round(B, (now_b, ahead_b), layout, 1, held[B], 2, random(), charge),
                )
            monkeypatch.setattr(training, "share_of", plain)

        trained(spoilt=False)
        trained(spoilt=True)
        assert [sorted(counted) for counted in charged] == [sorted(HOSPITALS)] * 2 + [["north", "west"]] * 2
