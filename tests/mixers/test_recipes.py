"""Recipes and evaluations at mixers that lie on disks: the right model, kept once, and refused where not agreed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixbayes.mixers.personal import Personal
from mixbayes.node import questions
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import Sheet, Totals, totals_in_clear, without_each
from mixbayes.protocol.bayes.recipe import JOINT, OWN, Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_models
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.errors import MixbayesError
from mixbayes.tables.folding import Patients
from mixbayes.transport.errors import OverBudget
from tests.mixers.misfortune import Killed
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers

FOLDS, EACH = 2, 7
PERSONAL = read_recipe("personal:weight=10:prior=own")
COSTLY = read_recipe("joint:costs=yes=3:unsure=0.5")
LISTED = [str(PERSONAL), str(COSTLY)]
QUESTION = b"q" * 16


class Wards(World):
    """Three hospitals with several patients each, in folds."""

    def __init__(self, folder: str, *, noisy: bool = False, budget: int = 10_000, folds: int = FOLDS) -> None:
        privacy = {**NOISE, "coins": [40]} if noisy else None
        super().__init__(Path(folder), agreement(privacy, LISTED, folds=folds, budget=budget))
        rng = np.random.default_rng(3)
        self.own = {name: self._table(rng) for name in HOSPITALS}
        self.vectors = {name: one.vector for name, one in self.own.items()}
        self.codes = self._some(rng, 12)

    def joint(self) -> Words:
        pooled = sum((joint(self.layout, vector) for vector in self.vectors.values()), np.zeros(1, np.uint64))
        return pooled

    def noised(self) -> Words:
        """The joint counts with what noise both mixers keep."""
        if not self.layout.terms.coins:
            return self.joint()
        of_a, of_b = (self.nodes[mixer].rounds.counts(1) for mixer in MIXERS)  # type: ignore[union-attr]
        return np.frombuffer(of_a, "<u8") + np.frombuffer(of_b, "<u8")

    def expected_of(self, recipe: Recipe, hospital: str) -> list[int]:
        model = fixed_model(self.layout, self.noised(), recipe, joint(self.layout, self.vectors[hospital]))
        return fixed_labels(self.layout, model, self.codes).tolist()

    def labels_of(self, recipe: Recipe, hospital: str, id: bytes = QUESTION) -> list[int]:
        return self.asked(hospital, 1, self.codes, private=True, id=id, recipe=recipe).tolist()

    def totals_of(self, recipe: Recipe, hospital: str) -> Totals:
        own = self.own[hospital]
        with self.asking(hospital) as asking:
            return asking.totals(1, own.sheet(recipe), own.codes, own.groups)

    def expected_totals(self, recipe: Recipe, hospital: str) -> Totals:
        own = self.own[hospital]
        folds = own.vector.reshape(FOLDS, -1)
        models = fixed_models(self.layout, recipe, *without_each(self.layout, self.noised(), folds))
        return totals_in_clear(own.sheet(recipe), models, own.codes, own.groups)

    def _table(self, rng: np.random.Generator) -> OwnPatients:
        codes, labels = self._some(rng, EACH), rng.integers(0, 2, EACH).astype(np.int32)
        folds = np.arange(EACH) % self.layout.terms.folds
        parts = [folds == fold for fold in range(self.layout.terms.folds)]
        vectors = [count(self.layout, Codes(codes[:, part], labels[part])) for part in parts]
        return OwnPatients(self.layout, np.concatenate(vectors), Patients(codes, labels, folds))

    def _some(self, rng: np.random.Generator, rows: int) -> Values:
        return np.stack([rng.integers(0, a.codes, rows) for a in self.layout.dictionary.attributes]).astype(np.int32)


@pytest.fixture(autouse=True)
def ask_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs time to start again: in memory a mixer is back at once."""
    monkeypatch.setattr("mixbayes.parties.with_mixers.asking._PAUSE", 0.0)
    deal_base_transfers(monkeypatch)


@contextmanager
def wards(**about: object) -> Iterator[Wards]:
    with new_folder() as folder:
        world = Wards(folder, **about)  # type: ignore[arg-type]
        try:
            world.everybody()
            yield world
        finally:
            world.close()


@pytest.mark.parametrize("noisy", [False, True])
def test_every_hospital_gets_the_answers_of_its_own_recipe(noisy: bool) -> None:
    with wards(noisy=noisy) as world:
        for at, hospital in enumerate(HOSPITALS):
            for recipe in (PERSONAL, COSTLY, JOINT):
                id = bytes([at]) * 16
                assert world.labels_of(recipe, hospital, id) == world.expected_of(recipe, hospital), (hospital, recipe)


@pytest.mark.parametrize("noisy", [False, True])
def test_evaluations_open_what_the_reference_counts(noisy: bool) -> None:
    with wards(noisy=noisy) as world:
        for hospital, recipe in (("north", PERSONAL), ("south", JOINT), ("west", COSTLY)):
            found, expected = world.totals_of(recipe, hospital), world.expected_totals(recipe, hospital)
            assert found.answers.tolist() == expected.answers.tolist()
            assert found.above.tolist() == expected.above.tolist()
            assert found.answers.sum() == EACH


def test_a_recipe_is_trained_once_and_kept_for_the_round() -> None:
    with wards() as world:
        kept: list[bytes] = []
        keep = Personal.keep

        def noted(self: Personal, question: object, run: bytes, model: object) -> None:
            kept.append(run)
            keep(self, question, run, model)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Personal, "keep", noted)
            first = world.labels_of(PERSONAL, "north", b"1" * 16)
            assert world.labels_of(PERSONAL, "north", b"2" * 16) == first
        assert len(kept) == 2
        assert kept[0] == kept[1]


@pytest.mark.parametrize("mixer", MIXERS)
def test_a_mixer_that_lost_its_model_of_a_recipe_trains_it_again(mixer: str) -> None:
    with wards() as world:
        expected = world.labels_of(PERSONAL, "north", b"1" * 16)
        with world.nodes[mixer].rounds.datastore.write() as tables:  # type: ignore[union-attr]
            tables._do("DELETE FROM recipe_model")
        assert world.labels_of(PERSONAL, "north", b"2" * 16) == expected


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("write", range(1, 4))
def test_a_mixer_killed_at_any_write_of_a_recipe_gives_the_same_answers_later(mixer: str, write: int) -> None:
    with wards() as world:
        world.fuses[mixer].left = write
        with suppress(MixbayesError, Killed):
            world.labels_of(PERSONAL, "north", b"1" * 16)
        world.kill(mixer)
        world.fuses[mixer].left = None
        assert world.start(mixer)
        world.everybody()
        assert world.labels_of(PERSONAL, "north", b"2" * 16) == world.expected_of(PERSONAL, "north")


@pytest.mark.parametrize("text", ["personal:weight=11:prior=own", "joint:unsure=0.25"])
def test_a_recipe_that_is_not_agreed_is_refused_by_both_mixers_and_not_charged(text: str) -> None:
    with wards() as world:
        with pytest.raises(MixbayesError, match="Nobody may ask"):
            world.labels_of(read_recipe(text), "north")
        for mixer in MIXERS:
            assert not world.on_disk(mixer)[1].questions


def test_an_evaluation_needs_folds() -> None:
    with wards(folds=1) as world:
        codes, groups = np.zeros((2, 3), np.int32), np.zeros(3, np.int64)
        with pytest.raises(MixbayesError, match="Nobody may evaluate"), world.asking("north") as asking:
            asking.totals(1, Sheet(world.layout, JOINT, 3), codes, groups)


def test_an_evaluation_of_more_rows_than_a_fold_can_have_is_refused() -> None:
    with wards() as world:
        rows = world.own["north"].sheet(JOINT).most_rows + 1
        codes, groups = np.zeros((2, FOLDS * rows), np.int32), np.zeros(FOLDS * rows, np.int64)
        with pytest.raises(MixbayesError, match="Nobody may evaluate"), world.asking("north") as asking:
            asking.totals(1, Sheet(world.layout, JOINT, rows), codes, groups)


def test_what_is_opened_is_charged_and_the_budget_ends_it() -> None:
    with wards(budget=60) as world:
        sheet = world.own["north"].sheet(JOINT)
        world.totals_of(JOINT, "north")
        for mixer in MIXERS:
            assert world.on_disk(mixer)[1].spent == {"north": sheet.opened}
        with pytest.raises(OverBudget):
            world.totals_of(JOINT, "north")


def test_the_hospital_s_own_classifier_asks_nobody() -> None:
    with wards() as world:
        own = world.own["north"]
        vector = joint(world.layout, own.vector)
        assert (
            own.labels(OWN, world.codes).tolist()
            == fixed_labels(own._alone, fixed_model(own._alone, vector), world.codes).tolist()
        )


@pytest.mark.parametrize("told", [[PERSONAL, COSTLY], [JOINT, PERSONAL], [PERSONAL, JOINT]])
def test_mixers_that_are_told_different_recipes_refuse(told: list[Recipe]) -> None:
    with wards() as world:
        sent = iter(told)
        send = questions.send

        def differently(channel: object, question: questions.Question) -> None:
            send(channel, replace(question, recipe=next(sent, JOINT)))  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(questions, "send", differently)
            with pytest.raises(MixbayesError, match="different questions"):
                world.labels_of(PERSONAL, "north")
        for mixer in MIXERS:
            assert not world.on_disk(mixer)[1].questions
