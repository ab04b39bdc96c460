"""Figures of the joint test: without noise Wilson's intervals, and with noise ones that hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.evaluation.document import Table
from mixbayes.evaluation.intervals import ANYWHERE, wilson
from mixbayes.evaluation.jointly import EVERYBODY, joint_evaluation
from mixbayes.report.jointly import joint_page

TABLE = Table(("no", "yes"), "class", ("a",), 5)


def test_without_noise_intervals_are_wilson_s() -> None:
    found = joint_evaluation(TABLE, ["north"], np.array([[40, 10], [5, 25]]), None)
    document = found.as_json()
    (result,) = document["recipes"]
    assert result["accuracy"] == 65 / 80
    assert result["interval"] == pytest.approx(list(wilson(65, 80)))
    assert result["recall"] == {"no": 40 / 50, "yes": 25 / 30}
    assert result["recall_intervals"]["yes"] == pytest.approx(list(wilson(25, 30)))
    assert (document["hospital"], document["rows"], document["noise"]) == (EVERYBODY, 80, None)
    assert document["commonest_class"] == {"class": "no", "share": 50 / 80}


@pytest.mark.parametrize(("rows", "deviation"), [(400, 8.0), (2000, 16.0), (150, 4.0)])
def test_intervals_with_noise_hold_nineteen_times_in_twenty(rows: int, deviation: float) -> None:
    rng, truth, times = np.random.default_rng(7), np.array([0.45, 0.12, 0.08, 0.35]), 2000
    held = 0
    for _ in range(times):
        figures = rng.multinomial(rows, truth) + np.rint(rng.normal(0, deviation, 4)).astype(np.int64)
        low, high = joint_evaluation(TABLE, ["north"], figures.reshape(2, 2), deviation).accuracy.interval
        held += low <= truth[0] + truth[3] <= high
        assert high - low > np.ptp(wilson(round(0.8 * rows), rows)) or high == 1.0
    assert 0.94 <= held / times <= 0.99


@pytest.mark.parametrize("figures", [[[3, -9], [2, -4]], [[5, -2], [1, 2]]])
def test_figures_that_are_noise_say_nothing(figures: list[list[int]]) -> None:
    found = joint_evaluation(TABLE, ["north"], np.array(figures), 16.0)
    assert found.accuracy.interval == ANYWHERE
    document = found.as_json()
    assert ("nothing can be said" in joint_page(document).lead[0]) == (found.accuracy.value is None)
    assert "may be negative" in document["why"]
    assert all(one is None or 0 <= one <= 1 for one in document["recipes"][0]["recall"].values())


@pytest.mark.parametrize(("rows", "said"), [(124, False), (128, True)])
def test_a_sum_that_is_not_clearly_above_its_noise_says_nothing(rows: int, said: bool) -> None:
    """Clearly: twice 1.96 standard deviations, and the sum of four figures has one of 32."""
    figures = np.array([[rows - 50, -20], [10, 60]])
    interval = joint_evaluation(TABLE, ["north"], figures, 16.0).accuracy.interval
    assert (interval != ANYWHERE) == said
