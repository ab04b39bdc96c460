"""A contribution in folds: each fold is the counts of some table, and all together keep the agreed numbers of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.validity import joint, run_validation
from mixbayes.protocol.shares import split
from tests.protocol.pairs import SEEDS, seed

FOLDS, LEAST, MOST = 3, 5, 40
DICTIONARY = Dictionary(
    class_column="class",
    classes=("a", "b"),
    attributes=(Nominal(name="n", values=("x", "y", "z")), Gaussian(name="g", low=0.0, high=1.0)),
    max_rows=1000,
)
LAYOUT = Layout(DICTIONARY, Terms(hospitals=2, min_rows=LEAST, max_rows_each=MOST, folds=FOLDS))


def folds_of(rows: int, number: int) -> Words:
    """The vectors of all folds of a table, each with a third of its rows."""
    rng = np.random.default_rng(number)
    codes = [rng.integers(0, attribute.codes, (attribute.columns, rows)) for attribute in DICTIONARY.attributes]
    table, labels = np.concatenate(codes).astype(np.int32), rng.integers(0, 2, rows).astype(np.int32)
    return np.stack([count(LAYOUT, Codes(table[:, at::FOLDS], labels[at::FOLDS])) for at in range(FOLDS)])


def judged(*contributions: Words) -> list[bool]:
    shares = [split(one.reshape(-1), seed(at)) for at, one in enumerate(contributions)]
    verdicts, of_a, of_b = run_validation(LAYOUT, shares, (seed(100), seed(101)))
    accepted = [one for one, verdict in zip(contributions, verdicts, strict=True) if verdict]
    expected = sum((joint(LAYOUT, one.reshape(-1)) for one in accepted), np.zeros(LAYOUT.size, np.uint64))
    assert (of_a + of_b).tolist() == expected.tolist()
    return verdicts


@given(SEEDS, st.integers(LEAST, MOST))
@settings(max_examples=8)
def test_the_folds_of_a_table_are_not_accused(number: int, rows: int) -> None:
    assert judged(folds_of(rows, number), folds_of(LEAST, number), folds_of(MOST, number)) == [True] * 3


def test_the_agreed_rows_are_those_of_all_folds_together() -> None:
    assert judged(folds_of(LEAST - 1, 1), folds_of(MOST + 1, 2), folds_of(MOST, 3)) == [False, False, True]


def test_all_rows_may_be_in_one_fold() -> None:
    whole = np.zeros((FOLDS, LAYOUT.size), np.uint64)
    whole[1] = joint(LAYOUT, folds_of(30, 1).reshape(-1))
    assert judged(whole) == [True]


@pytest.mark.parametrize("cell", [0, 1, 2, 5, LAYOUT.size - 1])
@pytest.mark.parametrize("fold", range(FOLDS))
def test_a_lie_in_one_fold_that_another_one_makes_good_is_refused(fold: int, cell: int) -> None:
    lie = folds_of(30, 4)
    lie[fold, cell : cell + 1] += np.uint64(1)
    lie[(fold + 1) % FOLDS, cell : cell + 1] -= np.uint64(1)
    assert joint(LAYOUT, lie.reshape(-1)).tolist() == joint(LAYOUT, folds_of(30, 4).reshape(-1)).tolist()
    assert judged(folds_of(30, 4), lie) == [True, False]


def test_a_fold_with_negative_rows_is_refused_though_the_sum_is_right() -> None:
    lie = folds_of(30, 5)
    extra = folds_of(9, 6)[0]
    lie[0] += extra
    lie[1] -= extra + lie[1]
    lie[1] -= extra
    assert judged(lie, folds_of(30, 5)) == [False, True]
