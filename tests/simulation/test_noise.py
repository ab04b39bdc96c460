"""Simulations with noise: real nodes draw it, and the labels are those of the noisy counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.promise import release_of
from mixbayes.privacy.loss import epsilon_of
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.simulation import run
from mixbayes.simulation.applications import Desks
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.plan import plan
from mixbayes.simulation.run import simulate
from mixbayes.simulation.stage import Stage
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query

PATIENCE = 20.0


def table(rows: int, seed: int = 0) -> Columns:
    """Words and numbers, some of them missing, and a class that depends on them."""
    random = np.random.default_rng(seed)
    colours, level = random.choice(["blue", "red", "?"], rows), random.normal(0, 1, rows)
    ill = np.where(level + (colours == "red") + random.normal(0, 0.5, rows) > 0.5, "yes", "no")
    return Columns.of(("colour", "level", "class"), (colours, level.round(3).astype(np.str_), ill), rows)


Opened = list[tuple[Federation, Words]]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """After every simulation its agreement and the noisy counts that it gives away."""
    found: Opened = []
    really = run.applications

    @contextmanager
    def applications(set_up: Stage, hospitals: Sequence[str]) -> Iterator[Desks]:
        with really(set_up, hospitals) as desks:
            yield desks
            found.append((set_up.federation, next(iter(desks.values())).counts()[1]))

    monkeypatch.setattr(run, "applications", applications)
    return found


@pytest.mark.parametrize("two_party", [False, True])
@pytest.mark.parametrize("bins", [None, 3])
def test_labels_are_those_of_the_noisy_counts(two_party: bool, bins: int | None, opened: Opened) -> None:
    held = {"north": table(60, 1), "south": table(70, 2)}
    asked = table(80, 3)
    outcome = simulate(
        held,
        two_party=two_party,
        bins=bins,
        classify=asked,
        epsilon=2.0,
        delta=1e-3,
        release="model",
        deadline=PATIENCE,
    )
    ((federation, noisy),) = opened
    layout = federation.layout
    labels = fixed_labels(layout, fixed_model(layout, noisy), encode_query(layout.dictionary, asked).codes)
    assert outcome.labels == [layout.dictionary.classes[label] for label in labels]
    exact = sum((counted(layout, one).vector for one in held.values()), np.zeros(layout.size, np.uint64))
    noise = (layout.class_counts(noisy) - layout.class_counts(exact)).view(np.int64)
    assert np.abs(noise).max() <= layout.noise
    assert (noisy != exact).any()
    assert (federation.policy.min_rows, federation.policy.max_rows_each) == (1, None)


def test_what_the_outcome_says_of_noise(opened: Opened) -> None:
    outcome = simulate(
        {"all": table(90)}, hospitals=2, epsilon=4.0, delta=1e-4, release="model", min_rows=5, deadline=PATIENCE
    )
    ((federation, _),) = opened
    privacy = federation.privacy
    assert privacy
    assert outcome.privacy
    assert (privacy.epsilon, privacy.delta, privacy.total_delta) == (4.0, 1e-4, 1e-4)
    assert federation.policy.min_rows == 5
    coins = privacy.noise
    assert outcome.privacy["noise"] == {
        "coins": list(coins.counts),
        "known": coins.known,
        "standard_deviation": coins.deviation,
    }
    spent = epsilon_of([release_of(coins, federation.layout)], 1e-4)
    assert outcome.privacy["spent"] == pytest.approx(spent)
    assert spent <= 4.0
    assert outcome.document()["privacy"] == outcome.privacy


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"epsilon": 4.0, "total_epsilon": 1.0}, Unsupported, "One round costs epsilon"),
        ({"epsilon": 0.0}, Unsupported, "An epsilon of 0 is not possible"),
        ({"min_rows": 9, "max_rows_each": 8}, Unsupported, "needs 9 rows, and may have 8"),
        ({"min_rows": 500}, BadData, "it has [0-9]+ rows, and every hospital needs 500"),
        ({"max_rows_each": 5}, BadData, "rows, a hospital may have 5"),
    ],
)
def test_what_cannot_be_promised_starts_nothing(
    asked: dict[str, Any], error: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Crew, "start")
    with pytest.raises(error, match=said):
        simulate({"all": table(90)}, **asked)


def test_recipes_with_noise_are_answered_from_the_noisy_counts(opened: Opened) -> None:
    """Nobody lists the recipe, and every hospital asks about its own rows."""
    recipe = read_recipe("personal:weight=2:prior=mixed")
    whole = table(90, 4)
    outcome = simulate(
        {"all": whole},
        hospitals=2,
        bins=3,
        epsilon=4.0,
        delta=1e-3,
        release="model",
        recipe=str(recipe),
        deadline=PATIENCE,
    )
    ((federation, noisy),) = opened
    assert federation.recipes == ()
    layout = federation.layout
    planned = plan({"all": whole}, hospitals=2, two_party=False, classify=None, holdout=None, seed=0)
    at, expected = 0, []
    for name, rows in planned.asked.items():
        own = counted(layout, planned.training[name]).vector
        asked = planned.questions.take(np.arange(at, at := at + rows))
        codes = encode_query(layout.dictionary, asked).codes
        expected += fixed_labels(layout.weighing(2), fixed_model(layout, noisy, recipe, own), codes).tolist()
    assert outcome.labels == [layout.dictionary.classes[label] for label in expected]
    assert outcome.recipe
    assert [one.rows for one in outcome.recipe.hospitals.values()] == list(planned.asked.values())


def test_with_noise_patients_are_judged_and_padding_is_not(opened: Opened) -> None:
    """And no recipe need be listed."""
    outcome = simulate(
        {"all": table(60, 6)},
        hospitals=2,
        bins=2,
        epsilon=4.0,
        delta=1e-3,
        release="model",
        max_rows_each=40,
        evaluate=True,
        folds=2,
        deadline=PATIENCE,
    )
    ((federation, _),) = opened
    assert federation.recipes == ()
    assert (federation.policy.folds, federation.policy.max_rows_each) == (2, 40)
    assert outcome.evaluation
    for one in outcome.evaluation.values():
        assert one["rows"] == 21
        assert [sum(map(sum, found["confusion"])) for found in one["recipes"]] == [21, 21, 21]
