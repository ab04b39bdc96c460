"""What a hospital hears in the steps of the Paillier protocol that use transfers: fair coins, whatever the other has.

The tests of training and of classification look at what the encryption hides, and at the ciphertexts' randomness.
"""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Numbers, Values
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.paillier import classification
from mixbayes.protocol.paillier.key import big_numbers
from mixbayes.protocol.paillier.training import ExactModel, Group
from mixbayes.protocol.transfer.pool import connect_answerer, connect_asker
from tests.protocol.adversary import TappedEnds, bits_heard
from tests.protocol.paillier.test_key import small_key
from tests.protocol.pairs import converse, layout_of, random_for
from tests.protocol.views import RUNS, dealt, pairs_seen_by, tells_nothing

LAYOUT = layout_of(2, [2, 3], max_rows=60)
GROUP = Group.of(LAYOUT, small_key(300).public)
TOP = GROUP.modulus - 1
COUNT = 4


def numbers(value: int, *shape: int) -> Numbers:
    return big_numbers(np.full(shape, value, object).tolist())


@dealt
@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
def test_what_a_party_hears_when_a_winner_is_shared_anew_is_uniform(role: int) -> None:
    """Whoever won by the other's share of the outcome, and whatever its factors are."""

    def views(outcome: int, factor: int) -> Bits:
        def step(me: ComputingParty) -> None:
            own = me.role == role
            bits = np.full((1, COUNT), 0 if own else outcome, np.uint8)
            earlier, later = (numbers(1 if own else value, 2, 1, COUNT) for value in (factor, TOP))
            classification._reshared(me, GROUP, bits, earlier, later)

        heard = []
        for pair in pairs_seen_by(role):
            tap = pair.talk.first if role == A else pair.talk.second
            tap.forget()
            pair.run(step, (), ())
            heard.append(bits_heard(tap.heard))
        return np.stack(heard)

    tells_nothing([views(0, 1), views(1, TOP)])


def model(factor: int) -> ExactModel:
    """The factors of a hospital, all the same."""
    tables = tuple(numbers(factor, rows, 2) for rows in LAYOUT.rows)
    return ExactModel(GROUP, numbers(factor, 2), tables, np.zeros(2, np.uint8))


def question(codes: Values, factor: int, seeds: tuple[int, int]) -> tuple[Bits, Bits]:
    """What the asker hears of a private row, and the other hospital."""
    talk, ahead = TappedEnds(), TappedEnds()

    def asking() -> None:
        line = classification.Line(talk.first, connect_asker(ahead.first, random_for(seeds[0])))
        classification._chosen(line, model(1), codes)

    def answering() -> None:
        random = random_for(seeds[1])
        line = classification.Line(talk.second, connect_answerer(ahead.second, random))
        classification._offered(line, model(factor), random, codes.shape[1])

    converse([talk, ahead], asking, answering)
    return bits_heard(talk.first.heard), bits_heard(talk.second.heard)


@dealt
def test_what_both_hear_of_a_private_row_is_uniform_whatever_is_asked_and_whatever_the_factors() -> None:
    first, missing = np.zeros((2, COUNT), np.int32), np.array([[2] * COUNT, [3] * COUNT], np.int32)
    tells_nothing(
        [
            np.stack([question(first, factor, (50, at + run))[0] for run in range(RUNS)])
            for factor, at in ((1, 6000), (TOP, 6100))
        ]
    )
    tells_nothing(
        [
            np.stack([question(codes, 1, (at + run, 51))[1] for run in range(RUNS)])
            for codes, at in ((first, 6200), (missing, 6300))
        ]
    )
