"""Peters: the worked example, the printed code, class noise and the averaged score."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.sap.sap import CLASS
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from mixbayes.research.reproduction.peters import Case, found, suppressing
from mixbayes.research.reproduction.peters_appendix import accuracy, certainty
from mixbayes.research.reproduction.peters_class_noise import after_noise, noisy
from mixbayes.research.reproduction.peters_example import AFTER, BEFORE, certainties
from mixbayes.research.reproduction.peters_score import averaged
from mixbayes.research.reproduction.public_tables import VOTE


@pytest.fixture
def rows() -> Labelled:
    """Two classes that one number tells apart, and 60 rows of the first, 40 of the second."""
    random = np.random.default_rng(0)
    labels = Nominal(np.repeat([0, 1], [60, 40]), np.array(["no", "yes"]))
    numbers = Numeric(np.round(labels.codes + random.normal(0, 0.1, 100), 2))
    return Labelled(Table(("x", "y"), (numbers, Numeric(random.permutation(np.arange(100.0)))), 100), labels)


def test_bill_is_33_percent_sure_that_jenny_has_hiv() -> None:
    assert certainties(BEFORE, "Jenny") == {"S1": 1, "S2": 1}
    assert certainties(AFTER, "Jenny") == {"S1": pytest.approx(1 / 3), "S2": pytest.approx(1 / 3)}


@pytest.mark.parametrize("name", ["Dawn", "John", "Stan"])
def test_of_everybody_else_he_is_as_sure_as_before(name: str) -> None:
    assert certainties(AFTER, name) == certainties(BEFORE, name) == {"S1": 1, "S2": 1}


def test_one_class_in_ten_is_another_one(rows: Labelled) -> None:
    assert [int((noisy(rows, seed).labels.codes != rows.labels.codes).sum()) for seed in range(3)] == [10, 10, 10]


def test_the_classes_that_noise_changed_are_not_those_that_sap_suppresses(rows: Labelled) -> None:
    changed = after_noise(partial(suppressing, 0.5, CLASS), rows, 0).labels
    wrong = (changed.codes != rows.labels.codes) & ~changed.missing
    assert 0 < wrong.sum() < 10


def test_noise_costs_accuracy(rows: Labelled) -> None:
    case, clean = Case("drawn", VOTE, {}), partial(suppressing, 0.0, CLASS)
    before, after = (found(case, rows, change, 1)["acc"].mean() for change in (clean, partial(after_noise, clean)))
    assert after < before - 0.05


def test_the_printed_code_teaches_nothing_and_finds_nobody(rows: Labelled) -> None:
    assert certainty(rows, Unknown.NO_MATCH)[1:] == [0, 0, 0]
    assert certainty(rows, Unknown.WILDCARD)[0] > certainty(rows, Unknown.WILDCARD)[1]
    assert accuracy(rows, 0.3, 1) < 0.7


def test_a_score_is_the_average() -> None:
    assert averaged([0.0, 0.5], [1.0, 0.1]) == [0.5, pytest.approx(0.3)]
