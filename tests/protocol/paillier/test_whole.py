"""The whole Paillier protocol, from two hospitals' counts to labels: those of exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.bayes.whole import Question
from mixbayes.protocol.errors import DifferentSets
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.key import SecretKey, generate
from mixbayes.protocol.paillier.whole import run_paillier
from tests.protocol.pairs import layout_of, random_codes, random_counts, seed

LAYOUT = layout_of(3, [2, 3], max_rows=60)
RNG = np.random.default_rng(1)
TABLES = {name: random_counts(LAYOUT, RNG, 20) for name in ("north", "south")}
ASKED = [
    Question("north", random_codes(LAYOUT, RNG, 4)),
    Question("south", random_codes(LAYOUT, RNG, 3)),
    Question("north", random_codes(LAYOUT, RNG, 2), private=False),
]
IDS = {"north": b"n" * 16, "south": b"s" * 16}
SEEDS = seed(1), seed(2)


@pytest.fixture(scope="module")
def key() -> SecretKey:
    return generate(2048)


def test_labels_are_those_of_exact_arithmetic_on_the_pooled_table(key: SecretKey) -> None:
    found = run_paillier(LAYOUT, TABLES, (IDS, IDS), key, ASKED, 100, SEEDS)
    joint = TABLES["north"] + TABLES["south"]
    expected = [exact.labels(LAYOUT, joint, one.codes).tolist() for one in ASKED]
    assert [None if one is None else one.tolist() for one in found.labels] == expected
    assert len({label for labels in expected for label in labels}) > 1


def test_a_question_beyond_the_budget_is_not_answered(key: SecretKey) -> None:
    first, second, third = run_paillier(LAYOUT, TABLES, (IDS, IDS), key, ASKED, 4, SEEDS).labels
    assert first is not None
    assert second is not None
    assert third is None


def test_hospitals_that_mean_different_contributions_compute_nothing(key: SecretKey) -> None:
    with pytest.raises(DifferentSets, match=r"party [AB], at set of contributions"):
        run_paillier(LAYOUT, TABLES, (IDS, IDS | {"south": b"t" * 16}), key, ASKED, 100, SEEDS)
