"""Was this patient among them? Whoever asks everything, over thousands of trainings, finds out no more than ε allows.

With a patient or without: an event has probabilities p and q, and ε, δ promise p ≤ e^ε·q + δ, and the same the other
way. The event is the best that half of the trainings show, and the other half says how probable it is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import product

import numpy as np
import pytest

from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, epsilon_of
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.randomness import Randomness

TRAININGS = 1000
DELTA = 1e-3
ATTRIBUTES = tuple(Nominal(name=f"a{at}", values=("x", "y")) for at in range(3))
DICTIONARY = Dictionary(class_column="class", classes=("ill", "well"), attributes=ATTRIBUTES)
EVERYTHING = np.array(list(product(range(3), repeat=3)), np.int32).T
PATIENT = np.array([[1], [0], [1]], np.int32)


def layout(coins: Coins | None) -> Layout:
    return Layout(DICTIONARY, Terms(hospitals=2, coins=coins))


def table(with_patient: bool) -> Words:
    """Few others, so that the one is seen if anybody is."""
    exact, rng = layout(None), np.random.default_rng(1)
    others = count(exact, Codes(rng.integers(0, 2, (3, 12)).astype(np.int32), np.arange(12, dtype=np.int32) % 2))
    return others + count(exact, Codes(PATIENT, np.zeros(1, np.int32))) * np.uint64(with_patient)


def seen(coins: Coins, with_patient: bool, number: int) -> tuple[Hashable, float]:
    """All labels of one training, and how much more probable its noisy counts are with the patient than without."""
    agreed = layout(coins)
    of_a, of_b = (Randomness(b"%031d" % number + bytes([2 * with_patient + party])) for party in (0, 1))
    noisy = blurred_in_clear(agreed, table(with_patient), of_a, of_b)
    labels = fixed_labels(agreed, fixed_model(agreed, noisy), EVERYTHING)
    return labels.tobytes(), _evidence(coins, noisy)


def _evidence(coins: Coins, noisy: Words) -> float:
    """The logarithm of the ratio of both likelihoods, over the cells that the patient touches."""
    touched = table(with_patient=True) != table(with_patient=False)
    law = np.concatenate([[0.0, 0.0], coins.distribution(), [0.0, 0.0]])
    off = (noisy - table(with_patient=False)).view(np.int64)[touched] + coins.bound + 2
    with np.errstate(divide="ignore"):
        return float(np.clip(np.log(law[off - 1]) - np.log(law[off]), -50, 50).sum())


def advantage(found: list[Hashable], without: list[Hashable], epsilon: float) -> float:
    """p − e^ε·q of the best event, chosen on one half of the trainings and measured on the other."""
    half = len(found) // 2
    share = {one: (found[:half].count(one), without[:half].count(one)) for one in {*found[:half], *without[:half]}}
    chosen = {one for one, (p, q) in share.items() if p > math.exp(epsilon) * q}
    p, q = (sum(one in chosen for one in some[half:]) / half for some in (found, without))
    return p - math.exp(epsilon) * q


def trainings(coins: Coins) -> tuple[list[tuple[Hashable, float]], list[tuple[Hashable, float]]]:
    both = ([seen(coins, with_patient, number) for number in range(TRAININGS)] for with_patient in (True, False))
    there, not_there = both
    return there, not_there


@pytest.mark.parametrize("coins", [Coins((2, 4, 12)), Coins((24,))], ids=["small ε", "large ε"])
def test_an_attacker_stays_within_the_promise(coins: Coins) -> None:
    epsilon = epsilon_of([Release(coins, layout(coins).coordinates)], DELTA)
    there, not_there = trainings(coins)
    chance = 5 * math.sqrt((1 + math.exp(epsilon)) / TRAININGS)
    for one, other in ((there, not_there), (not_there, there)):
        # By labels, and by the noisy counts themselves, cut into steps of evidence.
        for view in (lambda found: found[0], lambda found: round(2 * found[1])):
            assert advantage(list(map(view, one)), list(map(view, other)), epsilon) <= DELTA + chance


def test_the_attack_finds_the_patient_where_less_is_promised() -> None:
    """Else the test above could not fail: with ε = 2.5 kept, an attacker beats ε = 0.2 by far."""
    there, not_there = trainings(Coins((24,)))
    evidence = [round(2 * found[1]) for found in there], [round(2 * found[1]) for found in not_there]
    assert advantage(list(evidence[0]), list(evidence[1]), 0.2) > 0.2
