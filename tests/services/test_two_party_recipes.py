"""Recipes and evaluations of two hospitals alone, as nodes on loopback: the right answers, and one training at both."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.node import questions
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.questions import ID_BYTES, RUN_BYTES, Kind, Question
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.parties.alone import talk
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.evaluation import Totals, totals_in_clear, without_each
from mixbayes.protocol.bayes.noise import clamped_in_clear
from mixbayes.protocol.bayes.recipe import JOINT, UNSURE, Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_models
from mixbayes.protocol.errors import PeerGone, Unsupported
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.key import SecretKey
from mixbayes.transport.errors import OverBudget, RefusedByPolicy, TooEarly
from tests.services.couple import NORTH, OTHER, ROWS, SOUTH, Couple, both, cheap_paillier, make_couple
from tests.services.helpers import table
from tests.services.liar import lying

PERSONAL, COSTLY = "personal:weight=30:prior=own", "joint:costs=ill=4:unsure=1"
FOLDS = 3
AGREED: dict[str, Any] = {"recipes": [PERSONAL, COSTLY], "policy": {"folds": FOLDS}}
NOISE: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "total_epsilon": 4.0, "total_delta": 1e-6, "coins": [24]}


def unlike(couple: Couple) -> Couple:
    """At south a small tumour is the sign, so that each hospital does better with some weight on its own patients."""
    couple.site.tables[SOUTH] = table(9, ill="small")
    return couple


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Couple]:
    couple = unlike(make_couple(tmp_path_factory.mktemp("recipes") / "site", **AGREED))
    with couple.nodes():
        couple.serve()
        yield couple


def own_of(couple: Couple, name: str) -> OwnPatients:
    return couple.settings(name).own_patients


def due(couple: Couple, recipe: str, name: str, joint: Words | None = None) -> list[str]:
    """The answers of the reference."""
    counts = couple.counts(NORTH) + couple.counts(SOUTH) if joint is None else joint
    model = fixed_model(couple.layout, counts, read_recipe(recipe), couple.counts(name))
    labels = fixed_labels(couple.layout, model, couple.codes(ROWS))
    return [(*couple.site.federation.dictionary.classes, UNSURE)[label] for label in labels]


def totals_due(couple: Couple, recipe: Recipe, name: str, joint: Words | None = None) -> Totals:
    own, counts = own_of(couple, name), couple.counts(NORTH) + couple.counts(SOUTH) if joint is None else joint
    models = fixed_models(couple.layout, recipe, *without_each(couple.layout, counts, own.vector.reshape(FOLDS, -1)))
    return totals_in_clear(own.sheet(recipe), models, own.codes, own.groups)


def trained_recipes(couple: Couple, name: str) -> int:
    return sum(record.entry.verb == "trained a recipe" for record in audit.entries(couple.site.state(name)))


def kept(couple: Couple, name: str, asker: str, recipe: str = PERSONAL) -> bytes | None:
    """Which training this node's model of the recipe is of, by its disk; no node runs."""
    with on_disk(couple, name) as rounds, rounds.datastore.read() as tables:
        found = tables.recipe_model(1, asker, recipe)
    return found and found[0]


def noisy_counts(couple: Couple) -> Words:
    """What both have of them on their disks, put together; no node runs."""
    found = []
    for name in (NORTH, SOUTH):
        with on_disk(couple, name) as rounds:
            found.append(np.frombuffer(rounds.counts(1), "<u8").astype(np.uint64))
    return found[0] if couple.site.federation.gives_model else found[0] + found[1]


@contextmanager
def on_disk(couple: Couple, name: str) -> Iterator[Rounds]:
    title = couple.site.federation.title(name)
    seal, state = couple.site.identity(name).seal, couple.site.state(name)
    with Database.open(state, COMPUTING_PARTY, seal, f"{title} of {couple.site.federation.name}") as database:
        yield Rounds(database, couple.site.federation, title, time.time)


@contextmanager
def broken_off(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[list[str]]:
    """This node stops once between the training of a recipe and the writing; the titles of those who wrote."""
    really, wrote, due = Rounds.keep_recipe_model, list[str](), [f"party {name}"]

    def keep(rounds: Rounds, *about: Any) -> None:
        if rounds.me in due:
            due.remove(rounds.me)
            raise PeerGone("this node", "keeping the model", "it was stopped")
        really(rounds, *about)
        wrote.append(rounds.me)

    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "keep_recipe_model", keep)
        yield wrote
    assert not due


@both
@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
@pytest.mark.parametrize("recipe", [PERSONAL, COSTLY, str(JOINT)])
def test_labels_are_those_of_the_recipe(serving: Couple, name: str, private: bool, recipe: str) -> None:
    assert serving.labels(name, private=private, recipe=recipe) == due(serving, recipe, name)


def test_recipes_of_the_two_differ_and_from_the_joint_classifier(serving: Couple) -> None:
    """Else the other tests would show nothing."""
    answers = [due(serving, recipe, name) for recipe in (PERSONAL, COSTLY, str(JOINT)) for name in (NORTH, SOUTH)]
    assert len({tuple(labels) for labels in answers}) == 4
    assert UNSURE in answers[2]


@both
@pytest.mark.parametrize("recipe", [PERSONAL, COSTLY, str(JOINT)])
def test_evaluations_open_what_the_reference_counts(serving: Couple, name: str, recipe: str) -> None:
    with serving.desk(name) as desk:
        left = desk.status().budget_left
        found = {str(one): (totals, rows) for one, totals, rows in desk.evaluate([read_recipe(recipe)])}
        expected, own = totals_due(serving, read_recipe(recipe), name), own_of(serving, name)
        totals, rows = found[recipe]
        assert totals.answers.tolist() == expected.answers.tolist()
        assert totals.above.tolist() == expected.above.tolist()
        assert rows == own.judged == totals.answers.sum() == serving.site.tables[name].rows
        assert found["own"][0].answers.tolist() == own.own_totals(read_recipe("own")).answers.tolist()
        assert desk.status().budget_left == left - own.sheet(read_recipe(recipe)).opened


def test_an_evaluation_is_in_both_trails(serving: Couple) -> None:
    with serving.desk(NORTH) as desk:
        list(desk.evaluate([JOINT]))
    opened = own_of(serving, NORTH).sheet(JOINT).opened
    for name in (NORTH, SOUTH):
        last = list(audit.entries(serving.site.state(name)))[-1].entry
        assert (last.actor, last.verb) == (f"party {NORTH}", "evaluated")
        assert last.details["opened"] == opened


def test_a_recipe_is_trained_once_and_survives_both_nodes(tmp_path: Path) -> None:
    couple = unlike(make_couple(tmp_path / "site", **AGREED))
    for _ in range(2):
        with couple.nodes():
            couple.serve()
            for name in (NORTH, SOUTH):
                assert couple.labels(name, recipe=PERSONAL) == due(couple, PERSONAL, name)
    for asker in (NORTH, SOUTH):
        assert kept(couple, NORTH, asker) == kept(couple, SOUTH, asker) is not None
    assert kept(couple, NORTH, NORTH) != kept(couple, NORTH, SOUTH)
    assert [trained_recipes(couple, name) for name in (NORTH, SOUTH)] == [2, 2]


@both
def test_a_recipe_that_only_one_has_is_trained_again(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conversation breaks at one of them between the training and the writing. The question is asked anew."""
    couple = unlike(make_couple(tmp_path / "site", **AGREED))
    with couple.nodes():
        couple.serve()
        with broken_off(monkeypatch, name) as wrote:
            assert couple.labels(NORTH, recipe=PERSONAL) == due(couple, PERSONAL, NORTH)
        assert set(wrote) == {f"party {NORTH}", f"party {SOUTH}"}
    assert kept(couple, NORTH, NORTH) == kept(couple, SOUTH, NORTH) is not None


@pytest.mark.parametrize("broken", ["ask_partner_totals", "answer_partner_totals"])
def test_an_evaluation_that_breaks_off_is_asked_and_charged_again(
    tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the two it breaks at."""
    couple = unlike(make_couple(tmp_path / "site", **AGREED))
    really, calls = getattr(talk, broken), list[str]()

    def once(*about: Any) -> Any:
        calls.append(broken)
        if len(calls) == 1:
            raise PeerGone("this node", "evaluating", "it was stopped")
        return really(*about)

    with couple.nodes():
        couple.serve()
        monkeypatch.setattr(talk, broken, once)
        with couple.desk(SOUTH) as desk:
            left = desk.status().budget_left
            _, (_, totals, _) = desk.evaluate([JOINT])
            assert left - desk.status().budget_left == 2 * own_of(couple, SOUTH).sheet(JOINT).opened
    assert totals.answers.tolist() == totals_due(couple, JOINT, SOUTH).answers.tolist()
    assert len(calls) == 2


def test_models_of_different_trainings_never_answer_together(tmp_path: Path) -> None:
    """One begins again with an earlier model of the recipe on its disk."""
    couple = unlike(make_couple(tmp_path / "site", **AGREED))
    with couple.nodes():
        couple.serve()
        couple.labels(NORTH, recipe=PERSONAL)
    with on_disk(couple, SOUTH) as rounds:
        _, model = rounds.recipe_model(1, NORTH, PERSONAL) or (b"", b"")
        rounds.keep_recipe_model(1, NORTH, PERSONAL, secrets.token_bytes(RUN_BYTES), model)
    with couple.nodes():
        couple.serve()
        assert couple.labels(NORTH, recipe=PERSONAL) == due(couple, PERSONAL, NORTH)
    assert kept(couple, NORTH, NORTH) == kept(couple, SOUTH, NORTH)


@both
def test_a_table_that_has_changed_is_not_judged(tmp_path: Path, name: str) -> None:
    """Its rows are not those that count. Labels are given as before."""
    couple = unlike(make_couple(tmp_path / "site", **AGREED))
    with couple.nodes():
        couple.serve()
    labels, before = due(couple, PERSONAL, name), couple.site.tables[name]
    couple.site.tables[name] = before.take(np.arange(before.rows)[::-1])
    with couple.nodes():
        couple.serve()
        with couple.desk(name) as desk, pytest.raises(TooEarly, match="has other counts now"):
            list(desk.evaluate([JOINT]))
        assert couple.labels(name, recipe=PERSONAL) == labels
        with couple.desk(OTHER[name]) as desk:
            assert [str(one) for one, _, _ in desk.evaluate([JOINT])] == ["own", "joint"]


@pytest.mark.parametrize("release", ["labels", "model"])
def test_with_noise_recipes_are_made_of_noisy_counts(tmp_path: Path, release: str) -> None:
    couple = unlike(make_couple(tmp_path / "site", privacy=NOISE | {"release": release}, policy={"folds": FOLDS}))
    with couple.nodes():
        couple.serve()
        recipe = read_recipe("personal:weight=1:prior=mixed")
        found = [couple.labels(name, recipe=str(recipe)) for name in (NORTH, SOUTH)]
        with couple.desk(SOUTH) as desk:
            _, (_, totals, _) = desk.evaluate([recipe])
    joint = noisy_counts(couple)
    assert found == [due(couple, str(recipe), name, joint) for name in (NORTH, SOUTH)]
    expected = totals_due(couple, recipe, SOUTH, joint)
    assert totals.answers.tolist() == expected.answers.tolist()
    assert totals.above.tolist() == expected.above.tolist()
    assert totals.answers.sum() == couple.site.tables[SOUTH].rows


@pytest.mark.parametrize("release", ["labels", "model"])
def test_with_noise_the_exact_protocol_answers_by_noisy_counts(
    tmp_path: Path, key: SecretKey, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheap_paillier(key, monkeypatch)
    couple = unlike(make_couple(tmp_path / "site", "paillier", privacy=NOISE | {"release": release}))
    with couple.nodes():
        couple.serve()
        found = couple.labels(NORTH)
        assert 0 < couple.status(NORTH).epsilon_spent <= 4.0
        with pytest.raises(RefusedByPolicy, match="would show the own counts of a personal recipe"):
            couple.labels(SOUTH, recipe="personal:weight=1:prior=mixed")
    layout, counts, classes = couple.layout, noisy_counts(couple), couple.site.federation.dictionary.classes
    expected = exact.labels(layout, clamped_in_clear(layout, counts), couple.codes(ROWS))
    assert found == [classes[label] for label in expected]


@both
def test_the_best_recipe_is_remembered(tmp_path: Path, name: str) -> None:
    couple = unlike(make_couple(tmp_path / "site", **AGREED))
    with couple.nodes():
        couple.serve()
        with couple.desk(name) as desk:
            assert desk.best() == ""
            desk.remember_best(read_recipe(PERSONAL))
    with couple.nodes():
        couple.serve()
        assert couple.labels(name, recipe="best") == due(couple, PERSONAL, name)
        with pytest.raises(TooEarly, match="remembers no best recipe"):
            couple.labels(OTHER[name], recipe="best")


@pytest.mark.parametrize("text", ["personal:weight=31:prior=own", "joint:unsure=0.5"])
def test_a_recipe_that_is_not_agreed_is_refused_by_the_other_hospital_too(tmp_path: Path, text: str) -> None:
    couple = make_couple(tmp_path / "site", **AGREED)
    with lying(couple) as liar:
        liar.served()
        left = liar.left
        with liar.asking() as (_, line):
            questions.send(line, question(Kind.PRIVATE, text))
            with pytest.raises(RefusedByPolicy, match="Nobody may ask for the recipe"):
                questions.receive_verdict(line)
        assert liar.left == left
        with couple.desk(NORTH) as desk, pytest.raises(RefusedByPolicy):
            desk.labels(couple.codes(ROWS), ROWS, private=True, progress=lambda done: None, recipe=text)


def test_an_evaluation_needs_folds(tmp_path: Path) -> None:
    couple = make_couple(tmp_path / "site")
    with lying(couple) as liar:
        liar.served()
        left = liar.left
        with liar.asking() as (_, line):
            questions.send(line, question(Kind.EVALUATION, str(JOINT)))
            with pytest.raises(RefusedByPolicy, match="Nobody may evaluate"):
                questions.receive_verdict(line)
        assert liar.left == left
        with couple.desk(NORTH) as desk, pytest.raises(Unsupported, match="has no folds"):
            list(desk.evaluate([JOINT]))


def test_what_is_opened_is_charged_and_the_budget_ends_it(tmp_path: Path) -> None:
    couple = make_couple(tmp_path / "site", recipes=[], policy={"folds": FOLDS, "budget": 60})
    with couple.nodes():
        couple.serve()
        with couple.desk(SOUTH) as desk:
            list(desk.evaluate([JOINT]))
            with pytest.raises(OverBudget):
                list(desk.evaluate([JOINT]))
            assert desk.status().budget_left == 60 - own_of(couple, SOUTH).sheet(JOINT).opened


def question(kind: Kind, recipe: str) -> Question:
    return Question(kind, 1, ROWS.rows, secrets.token_bytes(ID_BYTES), read_recipe(recipe))


def test_paillier_answers_by_recipe(tmp_path: Path, key: SecretKey, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, whoever asks, and in the next process from what is on both disks."""
    cheap_paillier(key, monkeypatch)
    costly = "joint:costs=well=4"
    couple = unlike(make_couple(tmp_path / "site", "paillier", recipes=[PERSONAL, costly]))
    joint = couple.counts(NORTH) + couple.counts(SOUTH)
    classes = couple.site.federation.dictionary.classes

    def exactly(recipe: str, name: str) -> list[str]:
        labels = exact.labels(couple.layout, joint, couple.codes(ROWS), read_recipe(recipe), couple.counts(name))
        return [classes[label] for label in labels]

    due = [exactly(recipe, name) for name in (NORTH, SOUTH) for recipe in (PERSONAL, costly)]
    assert len({tuple(labels) for labels in due}) == 3
    for _ in range(2):
        with couple.nodes():
            couple.serve()
            found = [couple.labels(name, recipe=recipe) for name in (NORTH, SOUTH) for recipe in (PERSONAL, costly)]
            assert found == due
    with couple.nodes():
        couple.serve()
        with couple.desk(NORTH) as desk, pytest.raises(Unsupported, match="judges no classifiers"):
            list(desk.evaluate([JOINT]))
    assert [trained_recipes(couple, name) for name in (NORTH, SOUTH)] == [4, 4]
