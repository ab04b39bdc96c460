"""Flags and codes that are released together give single patients; drawn apart, they do so no more than by guessing."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods import ClassWiseCondensation
from mixbayes.local_methods.attacks.claims import ClaimScore, drawn, score
from mixbayes.local_methods.attacks.few_values import by_few_values
from mixbayes.local_methods.attacks.view import AttackersView, known_of
from mixbayes.local_methods.condensation import resynthesis
from mixbayes.local_methods.tables import Nominal, Numeric, Table


def attacked(k: int) -> ClaimScore:
    """Thirty flags, most of them rare, and a number that hides who is complete."""
    random = np.random.default_rng(1)
    flags = (random.random((600, 30)) < random.beta(1, 9, 30)).astype(float)
    columns = [*(Numeric(flag) for flag in flags.T), Numeric(random.normal(50, 9, 600).round(3))]
    table = Table(tuple(f"c{at}" for at in range(31)), tuple(columns), 600)
    labels = Nominal((np.arange(600) % 2).astype(np.int64), np.array(["ill", "well"]))
    released, classes = ClassWiseCondensation(k=k, random_state=0).fit_resample(table, labels)
    known = known_of(table)
    seen, original = AttackersView.of(released, classes, known), AttackersView.of(table, labels, known)
    return score(by_few_values(seen), drawn, seen, original.rounded(), 0)


def test_columns_that_change_together_give_patients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resynthesis, "share_apart", lambda k, columns: 0.0)
    found = attacked(5)
    assert found.beats_guessing
    assert found.share.value > 2 * found.guessed.value


@pytest.mark.parametrize("k", [5, 10])
def test_of_todays_condensation_they_give_no_more_than_guessing(k: int) -> None:
    assert not attacked(k).beats_guessing
