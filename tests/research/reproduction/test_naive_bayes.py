"""Equation (5) with and without smoothing, on counts that can be done by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixbayes.protocol.bayes.reference import real_scores
from mixbayes.research.reproduction.experiment import Laboratory
from mixbayes.research.reproduction.naive_bayes import Given, Patients, compared, scores, smoothing
from mixbayes.research.reproduction.public_tables import VOTE
from mixbayes.tables.columns import Columns

LEARNED = [("low", "a", "no"), ("low", "b", "no"), ("high", "a", "yes"), ("high", "?", "yes"), ("high", "?", "yes")]
ASKED = [("low", "a", "no"), ("low", "c", "no"), ("high", "b", "yes"), ("?", "?", "yes")]
"""Of these the first is possible in one class alone, the next two in none, and the last has no value at all."""


def patients() -> Patients:
    rows = np.array(LEARNED + ASKED)
    return Patients.of(Columns.of(("one", "two", "class"), tuple(rows.T), len(rows)))


def learned() -> np.ndarray:
    return np.arange(len(LEARNED) + len(ASKED)) < len(LEARNED)


def test_without_smoothing_a_score_is_the_product_of_shares() -> None:
    known = patients()
    vector, asked = known.counted(learned()), known.codes[:, ~learned()]
    found = np.exp2(scores(known.layout, vector, asked, 0.0))
    np.testing.assert_allclose(found[0], [2 / 5 * 1 * 1 / 2, 0, 0, 2 / 5])
    np.testing.assert_allclose(found[1], [0, 0, 0, 3 / 5])


def test_smoothed_scores_are_those_of_the_reference() -> None:
    known = patients()
    vector, asked = known.counted(learned()), known.codes[:, ~learned()]
    np.testing.assert_array_equal(scores(known.layout, vector, asked, 1.0), real_scores(known.layout, vector, asked))


def test_where_every_score_is_zero_the_rule_names_no_class() -> None:
    known = patients()
    vector, asked = known.counted(learned()), known.codes[:, ~learned()]
    given = Given.of(scores(known.layout, vector, asked, 0.0))
    assert given.none.tolist() == [False, True, True, False]
    assert given.some.tolist() == [True, False, False, False]
    usual, _, unsmoothed, none, some, differ = compared(known, learned())
    assert unsmoothed.tolist() == [1, 0, 0, 1]
    assert (none.sum(), some.sum(), differ.sum()) == (2, 1, 0)
    assert usual.tolist()[0] == 1


def test_a_class_without_a_value_of_an_attribute_has_a_score_of_zero() -> None:
    rows = np.array([("x", "no"), ("x", "no"), ("?", "yes"), ("?", "yes"), ("x", "yes")])
    known = Patients.of(Columns.of(("one", "class"), tuple(rows.T), len(rows)))
    vector = known.counted(np.arange(5) < 4)
    np.testing.assert_allclose(np.exp2(scores(known.layout, vector, known.codes[:, 4:], 0.0)), [[1 / 2], [0]])


@pytest.mark.filterwarnings("error")
def test_shares_of_a_table_are_shares(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{random.choice(list('abc'))},{random.normal():.3f},{random.choice(['x', 'y'])}" for _ in range(60)]
    (tmp_path / VOTE.file).write_text("\n".join(["one,two,class", *lines]) + "\n")
    (row,) = smoothing(VOTE, Laboratory(tmp_path, quick=True))
    assert all(0 <= float(share) <= 1 for share in row.measured.values())
    assert float(row.measured["α = 0"]) + float(row.measured["no answer"]) <= 1
