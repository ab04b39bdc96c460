"""Simulations in which hospitals judge classifiers and ask by recipes: real nodes, against the same in the clear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mixbayes.evaluation.document import Table, document
from mixbayes.evaluation.opened import Opened, of_totals
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.evaluation import totals_in_clear
from mixbayes.protocol.bayes.recipe import OWN, Recipe
from mixbayes.protocol.bayes.reference import fixed_models
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation import run
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.plan import plan
from mixbayes.simulation.prepared import Prepared, prepare
from mixbayes.simulation.run import simulate
from mixbayes.simulation.wishes import wishes
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer

PATIENCE = 30.0
FOLDS = 3
COSTLY = "joint:costs=yes=2:unsure=0.5"
AND_COSTLY = wishes(evaluate=True, recipe=COSTLY)


def table(rows: int, seed: int = 0, ill: float = 0.5) -> Columns:
    """Words and a class that depends on them; `ill` makes hospitals differ."""
    random = np.random.default_rng(seed)
    colour, size = random.choice(["blue", "red"], rows), random.choice(["l", "m", "s"], rows)
    score = (colour == "red") + (size == "s") + random.normal(0, 0.6, rows)
    return Columns.of(("colour", "size", "class"), (colour, size, np.where(score > 1.6 - ill, "yes", "no")), rows)


HELD = {"north": table(60, 1, 0.9), "South 2": table(45, 2, 0.1), "west": table(3, 3)}
"""West has fewer patients to train on than there are folds."""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Prepared]:
    """What hospitals counted, and their patients."""
    found: list[Prepared] = []

    def kept(*arguments: Any) -> Prepared:
        found.append(prepare(*arguments))
        return found[-1]

    monkeypatch.setattr(run, "prepare", kept)
    return found


def judged(given: Prepared, hospital: str, recipe: Recipe) -> Opened:
    """In the clear."""
    layout, vector = given.layout, given.vectors[hospital]
    own = OwnPatients(layout, vector, given.patients[hospital], None, given.unprotected[hospital].vector)
    if recipe.base == "own":
        return of_totals(str(recipe), own.own_totals(recipe))
    folds = vector.reshape(layout.terms.folds, layout.size)
    pooled: Any = sum(given.counts.values(), np.zeros(layout.size, np.uint64))
    models = fixed_models(layout, recipe, pooled - folds, folds.sum(axis=0, dtype=np.uint64) - folds)
    sheet = own.sheet(recipe)
    weighing = type(sheet)(layout.weighing(recipe.weight), recipe, sheet.rows)
    return of_totals(str(recipe), totals_in_clear(weighing, models, own.codes, own.groups))


def expected(given: Prepared, hospital: str, recipes: list[Recipe]) -> dict[str, Any]:
    dictionary = given.layout.dictionary
    table = Table(dictionary.classes, dictionary.class_column, dictionary.names, given.layout.terms.folds)
    own, *others = (judged(given, hospital, recipe) for recipe in [OWN, *recipes])
    return document(hospital, table, own, others).as_json()


def test_every_hospital_judges_by_its_own_patients_and_asks_by_its_own_best(seen: list[Prepared]) -> None:
    """The first one protects its table: its own classifier is that of the table as it is."""
    said: list[tuple[str, int, int]] = []
    outcome = simulate(
        HELD,
        evaluate=True,
        folds=FOLDS,
        protect={"north": "sap:p=0.4"},
        recipe="best",
        deadline=PATIENCE,
        progress=lambda *step: said.append(step),
    )
    (given,) = seen
    changed = [hospital.changed for hospital in outcome.hospitals]
    assert changed[0]
    assert changed[0].differing > 0
    assert changed[1:] == [None, None]
    recipes = list(wishes(evaluate=True).compared)
    documents = {name: expected(given, name, recipes) for name in HELD}
    assert outcome.evaluation == documents
    assert [one["rows"] for one in documents.values()] == [hospital.rows for hospital in outcome.hospitals]
    answered = outcome.recipe
    assert answered
    assert {name: one.recipe for name, one in answered.hospitals.items()} == {
        name: one["best"] for name, one in documents.items()
    }
    assert [one.rows for one in answered.hospitals.values()] == [18, 14, 1]
    assert outcome.agreement_with_pooled == 1.0
    assert answered.accuracy["joint"] == outcome.accuracy.joint == outcome.accuracy.pooled
    assert said.count(("classifiers judged", 4, 12)) == 1
    assert ("rows classified", 66, 66) in said
    assert (outcome.seconds.evaluate or 0) > 0
    assert (outcome.bytes.evaluation or 0) > outcome.bytes.classification > 0


def test_rows_to_classify_are_asked_about_by_the_first_hospital(seen: list[Prepared]) -> None:
    """By the recipe; what is agreed on is no more than that. Unsure answers are not right, and are counted."""
    asked = table(40, 4)
    outcome = simulate(HELD, classify=asked, recipe=COSTLY, test_share=0.2, deadline=PATIENCE)
    answered = outcome.recipe
    assert answered
    assert list(answered.hospitals) == ["north"]
    assert (answered.rows, outcome.agreement_with_pooled) == (40, 1.0)
    assert answered.unsure == outcome.labels.count("unsure") > 0
    right = [label == truth for label, truth in zip(outcome.labels, asked.texts("class"), strict=True)]
    assert answered.accuracy["recipe"] == sum(right) / 40
    (given,) = seen
    assert sum(one.rows for one in outcome.hospitals) < sum(one.rows for one in HELD.values())
    assert given.layout.terms.folds == 1
    assert outcome.evaluation is None
    assert "evaluation" not in outcome.document()


def test_the_own_classifier_of_a_hospital_answers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With noise it has none."""
    outcome = simulate(
        {"all": table(70, 5)}, hospitals=2, recipe="own", epsilon=1.0, delta=1e-3, holdout=0.5, deadline=PATIENCE
    )
    assert outcome.recipe
    assert outcome.agreement_with_pooled == 1.0
    assert outcome.recipe.accuracy["own"] == outcome.recipe.accuracy["recipe"]


def test_two_hospitals_alone_judge_and_ask_too(seen: list[Prepared]) -> None:
    held = {name: HELD[name] for name in ("north", "South 2")}
    outcome = simulate(held, two_party=True, evaluate=True, folds=2, recipe=COSTLY, deadline=PATIENCE)
    (given,) = seen
    assert outcome.evaluation == {name: expected(given, name, list(AND_COSTLY.compared)) for name in held}
    assert outcome.recipe
    assert [one.rows for one in outcome.recipe.hospitals.values()] == [18, 14]
    assert outcome.agreement_with_pooled == 1.0
    assert outcome.recipe.accuracy["joint"] == outcome.accuracy.pooled


def test_the_exact_protocol_answers_by_a_personal_recipe() -> None:
    held = {name: HELD[name] for name in ("north", "South 2")}
    recipe = "personal:weight=2:prior=own:costs=yes=2"
    outcome = simulate(
        held, two_party=True, protocol="paillier", recipe=recipe, max_rows=100, holdout=0.1, deadline=PATIENCE
    )
    assert outcome.recipe
    assert [one.recipe for one in outcome.recipe.hospitals.values()] == [recipe] * 2
    assert outcome.agreement_with_pooled == 1.0


def test_nothing_held_out_is_nothing_asked() -> None:
    outcome = simulate({"all": table(20, 5)}, hospitals=2, recipe="personal", holdout=0.0, deadline=PATIENCE)
    assert outcome.recipe
    assert (outcome.labels, outcome.agreement_with_pooled, outcome.recipe.rows) == ([], None, 0)
    assert outcome.recipe.accuracy == {"own": None, "joint": None, "recipe": None}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": 1.0, "protect": {"north": "sap:p=1"}}, "Possible with noise: recoding"),
        ({"evaluate": True, "folds": 1}, "dealt into 2 to 20 folds"),
        ({"recipe": "joint:costs=maybe=3"}, "has a cost for 'maybe'; the classes are no, yes"),
    ],
)
def test_what_cannot_be_judged_or_asked_starts_nothing(
    asked: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Crew, "start")
    with pytest.raises(Unsupported, match=said):
        simulate(HELD, **asked)


def test_a_seed_decides_who_is_kept_aside() -> None:
    planned = plan(HELD, hospitals=None, two_party=False, classify=HELD["west"], holdout=None, seed=0)
    layout = Layout(infer(list(HELD.values()), None, (), (), None, "1", None), Terms(3, folds=FOLDS))

    def counted(seed: int) -> dict[str, tuple[int, list[int]]]:
        given = prepare(planned, layout, "", seed, lambda what, done, total: None, 0.4)
        return {name: (one.rows, one.vector.tolist()) for name, one in given.held.items()}

    assert counted(1) == counted(1) != counted(2)
    assert counted(1)["north"][0] < 60
