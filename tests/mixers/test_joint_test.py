"""The joint test at mixers that lie on disks: sums of all hospitals or nothing, and the same for whoever asks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from mixbayes.node.disk.datastore import JOINT_TEST
from mixbayes.node.questions import ID_BYTES, Kind, Question
from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.parties.with_mixers.node import Hospital
from mixbayes.protocol import memory
from mixbayes.protocol.bayes.agreed_set import set_digest
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import Integers
from mixbayes.protocol.bayes.joint_test import figures_in_clear, joint_sheet
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import DifferentSets, MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.tables.folding import Patients
from mixbayes.transport.errors import OverBudget, RefusedByPolicy, TooEarly
from tests.mixers.misfortune import Killed
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, as_it_is, deal_base_transfers

COUNTED, SHARE = 7, 0.4
TEST_NOISE = NOISE | {"test_epsilon": 50.0, "test_coins": [2, 2]}
CLASSES = 2


class Wards(World):
    """Three hospitals with several patients each, of whom some are kept aside."""

    def __init__(self, folder: str, *, noisy: bool, budget: int = 100) -> None:
        privacy = TEST_NOISE if noisy else None
        super().__init__(Path(folder), agreement(privacy, test_share=SHARE, budget=budget))
        rng = np.random.default_rng(5)
        self.own = {name: self._table(rng, 2 + at) for at, name in enumerate(HOSPITALS)}
        self.vectors = {name: one.vector for name, one in self.own.items()}

    def give(self, *hospitals: str) -> None:
        """The nodes of these hospitals do what they do by themselves."""
        for name in hospitals:
            hospital = self.node_of(name)
            try:
                hospital.between_questions(SERVING, 1)
            finally:
                hospital.close()
                self.bury()

    def give_if_possible(self, hospital: str) -> None:
        with suppress(MixbayesError, Killed):
            self.give(hospital)

    def node_of(self, name: str) -> Hospital:
        node = self.hospital(name)
        own = self.own[name]
        return Hospital(name, node.mixers, self.federation, node.outbox, as_it_is, own)

    def figures(self, hospital: str) -> list[list[int]]:
        with self.asking(hospital) as asking:
            return asking.figures(1, self.federation.test_coins).tolist()  # type: ignore[no-any-return]

    def expected(self, *left_out: str) -> list[list[int]]:  # type: ignore[override]
        """The figures in the clear; with noise, that of the coins for which both mixers have paid."""
        names = [name for name in HOSPITALS if name not in left_out]
        rows = [self._rows(self.own[name]) for name in names]
        model = fixed_model(self.layout, self.noisy(1, frozenset(names)))
        coins = self.federation.test_coins
        halves = [Randomness(self._test_seed(mixer)) for mixer in MIXERS] if coins else []
        return figures_in_clear(self.layout, model, rows, coins, *halves).tolist()  # type: ignore[no-any-return]

    def charged(self, mixer: str) -> list[str]:
        return [chosen for chosen in self.on_disk(mixer)[1].noise if chosen.startswith(JOINT_TEST)]

    def _test_seed(self, mixer: str) -> bytes:
        (chosen,) = self.charged(mixer)
        with self.nodes[mixer].rounds.datastore.read() as tables:  # type: ignore[union-attr]
            seed = tables.coin_seed(self.federation.digest(), 1, chosen)
        assert seed, "noise that could not be drawn again"
        return seed

    def _rows(self, own: OwnPatients) -> tuple[np.ndarray, Integers]:  # type: ignore[type-arg]
        return own.rows_aside(self.federation.rows_asked_aside)

    def _table(self, rng: np.random.Generator, aside: int) -> OwnPatients:
        codes, labels = self._some(rng, COUNTED)
        kept, classes = self._some(rng, aside)
        patients = Patients(kept, classes, np.zeros(aside, np.int64))
        return OwnPatients(self.layout, count(self.layout, Codes(codes, labels)), None, patients)

    def _some(self, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
        labels = rng.integers(0, CLASSES, rows).astype(np.int32)
        codes = [rng.integers(0, a.codes, rows) for a in self.layout.dictionary.attributes]
        codes[1] = np.where(rng.integers(0, 4, rows) > 0, labels, codes[1])
        return np.stack(codes).astype(np.int32), labels


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_base_transfers(monkeypatch)


@pytest.fixture(autouse=True)
def ask_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs time to start again: in memory a mixer is back at once."""
    monkeypatch.setattr("mixbayes.parties.with_mixers.asking._PAUSE", 0.0)


@contextmanager
def wards(*, noisy: bool = True, collected: bool = True, budget: int = 100) -> Iterator[Wards]:
    with new_folder() as folder:
        world = Wards(folder, noisy=noisy, budget=budget)
        try:
            if collected:
                world.everybody()
            yield world
        finally:
            world.close()


@pytest.mark.parametrize("noisy", [False, True])
def test_every_hospital_gets_the_same_sums_of_all(noisy: bool) -> None:
    with wards(noisy=noisy) as world:
        world.give(*HOSPITALS)
        found = [world.figures(name) for name in HOSPITALS]
        again = [world.figures(name) for name in HOSPITALS]
        assert found == again == [world.expected()] * len(HOSPITALS)
        if not noisy:
            assert np.sum(found[0]) == sum(one.aside.rows for one in world.own.values() if one.aside)


def test_hospitals_that_ask_at_once_get_the_same_sums_and_no_mixer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixbayes.parties.with_mixers.asking._of_round", lambda number: secrets.token_bytes(ID_BYTES))
    with wards() as world:
        world.give(*HOSPITALS)
        found = memory.together(*(partial(world.figures, name) for name in HOSPITALS))
        assert [*found, world.figures("north")] == [world.expected()] * (len(HOSPITALS) + 1)


def test_whoever_is_missing_is_named_and_nothing_is_charged() -> None:
    with wards() as world:
        world.give("north", "west")
        with pytest.raises(TooEarly, match="the patients that party south keeps aside are not judged"):
            world.figures("north")
        for mixer in MIXERS:
            assert not world.charged(mixer)
            assert not world.on_disk(mixer)[1].spent.get("north")
        world.give("south")
        assert world.figures("north") == world.expected()


def test_rows_are_given_once_and_others_do_not_take_their_place() -> None:
    with wards() as world:
        world.give(*HOSPITALS)
        expected = world.figures("south")
        codes, classes = world._rows(world.own["north"])
        sheet = joint_sheet(world.layout, codes.shape[1], world.federation.test_coins)
        with world.asking("north") as asking:
            asking.give_aside(1, sheet, codes[:, ::-1].copy(), np.ones_like(classes))
        assert world.figures("west") == expected == world.expected()


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("write", range(4))
def test_a_mixer_killed_at_any_write_of_what_is_given(mixer: str, write: int) -> None:
    with wards() as world:
        world.give("south", "west")
        world.fuses[mixer].left = write
        world.give_if_possible("north")
        world.kill(mixer)
        world.fuses[mixer].left = None
        assert world.start(mixer)
        world.everybody()
        world.give("north")
        assert world.figures("south") == world.expected()


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("write", range(6))
def test_a_mixer_killed_at_any_write_of_the_sums_gives_the_same_later(mixer: str, write: int) -> None:
    with wards() as world:
        world.give(*HOSPITALS)
        world.fuses[mixer].left = write
        with suppress(MixbayesError, Killed):
            world.figures("north")
        world.kill(mixer)
        world.fuses[mixer].left = None
        assert world.start(mixer)
        world.everybody()
        assert world.figures("north") == world.figures("west") == world.expected()
        for each in MIXERS:
            assert len(world.charged(each)) == 1


@pytest.mark.parametrize("write", range(3))
def test_a_hospital_killed_at_any_write_gives_its_rows_later_and_pays_once(write: int) -> None:
    with wards() as world:
        world.give("south", "west")
        world.fuses["north"].left = write
        world.give_if_possible("north")
        world.kill("north")
        world.fuses["north"].left = None
        assert world.start("north")
        world.give("north")
        assert world.figures("north") == world.expected()
        with world.hospital("north").outbox._datastore.read() as tables:
            assert sum(one == world.federation.test_release for one in tables.releases()) == 1


def test_a_hospital_s_ledger_is_charged_before_its_rows_leave() -> None:
    with wards() as world:
        world.kill("a")
        world.give_if_possible("north")
        with world.hospital("north").outbox._datastore.read() as tables:
            assert not tables.noise_charged(world.federation.digest(), 1, JOINT_TEST)
        world.start("a")
        world.give("north")
        with world.hospital("north").outbox._datastore.read() as tables:
            assert tables.noise_charged(world.federation.digest(), 1, JOINT_TEST)
            assert tables.noise_charges(world.federation.digest()) == 1  # that of the counts


def test_two_hospitals_have_no_joint_test_without_noise() -> None:
    with wards(noisy=False, collected=False) as world:
        for name in ("north", "south"):
            world.visit(name)
        for mixer in MIXERS:
            world.clock[mixer] += 25 * 3600
        while world.lead():
            pass
        world.give("north", "south")
        with pytest.raises(RefusedByPolicy, match="fewer than 3 hospitals, and this round counts 2"):
            world.figures("north")
        for mixer in MIXERS:
            assert not world.on_disk(mixer)[1].spent.get("north")


def test_two_hospitals_have_one_with_noise() -> None:
    with wards(collected=False) as world:
        for name in ("north", "south"):
            world.visit(name)
        for mixer in MIXERS:
            world.clock[mixer] += 25 * 3600
        while world.lead():
            pass
        world.give("north", "south", "west")  # west counts nowhere, and gives nothing
        assert world.figures("west") == world.expected("west")


def test_figures_are_charged_once_to_whoever_asks() -> None:
    with wards(budget=CLASSES**2) as world:
        world.give(*HOSPITALS)
        for _ in range(2):
            world.figures("north")
        for mixer in MIXERS:
            assert world.on_disk(mixer)[1].spent == {name: 4 if name == "north" else 0 for name in HOSPITALS}


def test_the_budget_ends_it() -> None:
    with wards(budget=CLASSES**2 - 1) as world:
        world.give(*HOSPITALS)
        with pytest.raises(OverBudget):
            world.figures("north")
        for mixer in MIXERS:
            assert not world.charged(mixer)


def test_with_noise_another_number_of_rows_is_refused() -> None:
    with wards() as world:
        codes, classes = world._rows(world.own["north"])
        sheet = joint_sheet(world.layout, codes.shape[1] - 1, world.federation.test_coins)
        with pytest.raises(RefusedByPolicy, match="no such joint test"), world.asking("north") as asking:
            asking.give_aside(1, sheet, codes[:, 1:], classes[1:])


def test_a_changed_table_gives_nothing() -> None:
    with wards() as world:
        own = world.own["north"]
        world.own["north"] = OwnPatients(own.layout, own.vector + np.uint64(1), None, own.aside)
        with pytest.raises(TooEarly, match="its table has changed"):
            world.give("north")
        world.give("south", "west")
        with pytest.raises(TooEarly, match="party north"):
            world.figures("west")


def test_the_end_of_a_round_deletes_what_was_given() -> None:
    with wards() as world:
        world.give(*HOSPITALS)
        world.figures("north")
        assert world.close_round("north", 1)
        for mixer in MIXERS:
            with world.nodes[mixer].rounds.datastore.read() as tables:  # type: ignore[union-attr]
                assert not tables.aside_ids(1)
            assert not any(world.on_disk(mixer)[1].noise.values())


def test_mixers_that_have_different_attempts_refuse_and_name_the_hospital() -> None:
    with wards() as world:
        world.give(*HOSPITALS)
        rounds = world.a.rounds
        rounds.keep_aside(1, "west", b"!" * 16, rounds.aside(1)["west"], 1)
        with pytest.raises(TooEarly, match="party west"):
            world.figures("north")
        world.give("west")
        assert world.figures("north") == world.expected()


@pytest.mark.parametrize("mixer", MIXERS)
def test_a_mixer_that_has_charged_other_totals_is_named_and_adds_nothing_up(mixer: str) -> None:
    """It says that it has the same totals, and charges others: its noise would then hide other sums than are opened."""
    with wards() as world:
        world.give(*HOSPITALS)
        rounds, store = world.nodes[mixer].rounds, world.nodes[mixer].store  # type: ignore[union-attr]
        here, there = memory.channels(f"mixer {mixer}", "mixer x")
        ids, figures = rounds.aside_ids(1), Question(Kind.JOINT_TEST, 1, 0, bytes(ID_BYTES))
        me = cast("ComputingParty", SimpleNamespace(channel=here))

        def liar() -> None:
            there.swap("whose rows kept aside are there", b"".join(ids[name] for name in sorted(ids)))
            there.swap("noise of the joint test is charged", bytes.fromhex(set_digest(1, {**ids, "west": bytes(16)})))

        with pytest.raises(DifferentSets, match="mixer x, at noise of the joint test is charged: it adds up other"):
            memory.together(lambda: store.joint_test("north").prepare(me, figures), liar)
