"""What the mechanism is told of the rows: noisy counts of which a row changes one by one, choices, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.local_methods.base import silent
from mixbayes.local_methods.private_synthesis.counting import PlacedRows
from mixbayes.local_methods.private_synthesis.learning import ENOUGH, Curator, LearnedTree, learned
from mixbayes.local_methods.private_synthesis.plan import BudgetPlan, plans
from mixbayes.local_methods.tables import Codes, Floats
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import delta_of

SIZES = (9, 4, 6, 3, 2)
ORDERED = (True, False, True, False)
PLANS = plans(4.0, 1e-6, len(ORDERED), True)
MANY = round(2 * ENOUGH * PLANS.with_pairs.coins.deviation)
"""So many rows that pairs are chosen."""


@dataclass(frozen=True, eq=False)
class Witness(Curator):
    """Keeps what was asked for and what was answered; with earlier answers it gives these, whatever the rows are."""

    asked: list[Codes] = field(default_factory=list)
    scores: list[Sequence[int]] = field(default_factory=list)
    answers: list[Floats | int] = field(default_factory=list)
    earlier: Sequence[Floats | int] = ()

    def measured(self, counts: Codes, coins: Coins) -> Floats:
        self.asked.append(counts.copy())
        return self._told(super().measured(counts, coins))  # type: ignore[return-value]

    def chosen(self, scores: Sequence[int], plan: BudgetPlan) -> int:
        self.scores.append(scores)
        return self._told(super().chosen(scores, plan))  # type: ignore[return-value]

    def _told(self, answer: Floats | int) -> Floats | int:
        told = self.earlier[len(self.answers)] if self.earlier else answer
        self.answers.append(told)
        return told


def some_rows(count: int, seed: int = 0) -> PlacedRows:
    random = np.random.default_rng(seed)
    classes = random.integers(0, 2, count)
    first = np.minimum(random.integers(0, 9, count), 7 + classes)
    tied = (first + random.integers(0, 2, count)) % 6
    others = [np.minimum(random.geometric(0.6, count) - 1, size - 1) for size in (4, 3)]
    return PlacedRows([first, others[0], tied, others[1], classes], SIZES)


def worked(rows: PlacedRows, seed: int = 1, earlier: Sequence[Floats | int] = ()) -> tuple[Witness, LearnedTree]:
    witness = Witness(rows, Random(seed), earlier=earlier)
    return witness, learned(witness, ORDERED, 32, PLANS, silent)


@pytest.mark.parametrize("count", [150, MANY])
def test_the_same_answers_give_the_same_release_whatever_the_rows_are(count: int) -> None:
    before, found = worked(some_rows(count))
    _, again = worked(some_rows(count + 77, seed=5), seed=9, earlier=before.answers)
    first, second = (one.tree.draw(500, np.random.default_rng(3)) for one in (found, again))
    assert found.tree.rows == again.tree.rows
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@given(st.integers(0, MANY - 1), st.sampled_from([150, MANY]))
@settings(max_examples=12, deadline=None)
def test_a_row_changes_one_count_of_each_table_by_one_and_no_score_by_more(place: int, count: int) -> None:
    rows = some_rows(count)
    before, found = worked(rows)
    without = PlacedRows([np.delete(places, place % count) for places in rows.places], SIZES)
    after, _ = worked(without, earlier=before.answers)
    assert len(before.asked) == 1 + found.plan.tables == len(after.asked)
    for whole, less in zip(before.asked, after.asked, strict=True):
        assert np.abs(whole - less).sum() == 1
    assert len(before.scores) == len(after.scores) == found.plan.choices
    for whole, less in zip(before.scores, after.scores, strict=True):
        assert max(abs(a - b) for a, b in zip(whole, less, strict=True)) <= 1


@pytest.mark.parametrize("count", [150, MANY])
def test_what_was_spent_is_what_was_planned_and_no_more_than_promised(count: int) -> None:
    witness, found = worked(some_rows(count))
    assert delta_of(witness.spent, 4.0) == pytest.approx(delta_of(found.plan.steps, 4.0), rel=1e-6)
    assert PLANS.delta_at(4.0) <= 1e-6
    assert (found.plan is PLANS.with_pairs) == (count == MANY)


def test_every_answer_has_the_noise_of_the_plan() -> None:
    """Over many runs: the variance of each table's noise is that of its coins."""
    told = [worked(some_rows(400, seed), seed)[0] for seed in range(60)]
    for at in range(len(ORDERED) + 1):
        errors = np.concatenate([np.ravel(one.answers[at] - one.asked[at]) for one in told])
        coins = PLANS.with_pairs.classes if at == 0 else told[0].spent[at].part
        assert isinstance(coins, Coins)
        spread = coins.deviation**2 * np.sqrt(2 / len(errors))
        assert abs((errors**2).mean() - coins.deviation**2) < 5 * spread
        assert abs(errors.mean()) < 5 * coins.deviation / np.sqrt(len(errors))


def test_pairs_that_hang_together_within_a_class_are_chosen_and_kept() -> None:
    rows = some_rows(20 * MANY)
    _, found = worked(rows)
    assert (0, 2) in found.pairs
    assert len(found.pairs) == len(ORDERED) - 1
    drawn = found.tree.draw(found.tree.rows, np.random.default_rng(0))
    mine, theirs = (PlacedRows(places, SIZES).of_pair(0, 2) / len(places[0]) for places in (drawn, list(rows.places)))
    assert np.abs(mine - theirs).sum() < 0.1


def test_the_number_of_rows_is_a_noisy_one() -> None:
    assert len({worked(some_rows(150), seed)[1].tree.rows for seed in range(8)}) > 1


def test_without_classes_there_is_one_plan_with_all_of_delta() -> None:
    alone = plans(1.0, 1e-6, 5, False)
    assert alone.without_pairs is None
    assert 0.9e-6 < alone.delta_at(1.0) <= 1e-6
    assert alone.with_pairs.coins.deviation < plans(1.0, 1e-6, 5, True).with_pairs.coins.deviation
