"""What the mixers and the hospital hear of an evaluation: nothing but its totals, and those only the hospital."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import Sheet, Totals, run_evaluation, totals_of
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.packing import unpack_words
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import Tap, tapped_memory
from tests.protocol.pairs import layout_of, seed
from tests.protocol.views import RUNS, dealt, some_bits, tells_nothing, uniform

FOLDS = 2
LAYOUT = Layout(layout_of(2, [2], max_rows=20).dictionary, Terms(2, folds=FOLDS))
SHEET = Sheet(LAYOUT, read_recipe("personal:weight=2:prior=own"), 1)
SECRETS = [
    (np.array([[0, 0]], np.int32), np.array([0, 0]), np.array([[0, 0, 0, 0]], np.int32), np.array([0, 0, 1, 1])),
    (np.array([[1, 2]], np.int32), np.array([3, -1]), np.array([[1, 1, 1, 0]], np.int32), np.array([0, 1, 1, 1])),
]
"""Rows and their groups, and the hospital's patients with their classes: of two hospitals that differ in everything."""


def run(secret: int, number: int, at: int) -> tuple[list[Tap], Totals]:
    """An evaluation in which the mixer `at` has always the same seed and the same shares."""
    codes, groups, patients, labels = SECRETS[secret]
    parts = [Codes(patients[:, one::FOLDS], labels[one::FOLDS].astype(np.int32)) for one in range(FOLDS)]
    folds = np.stack([count(LAYOUT, part) for part in parts])
    joint = folds.sum(axis=0, dtype=np.uint64)
    fixed, taps = Randomness(seed(7)), list[Tap]()
    mine = fixed.words(joint.size), fixed.words(folds.size).reshape(folds.shape)
    theirs: tuple[Words, Words] = (joint - mine[0], folds - mine[1])
    seeds = [seed(20_000 + number), seed(30_000 + number)]
    seeds.insert(at, seed(9))
    with tapped_memory(taps):
        shares = (mine, theirs) if at == 0 else (theirs, mine)
        found = run_evaluation(SHEET, shares, codes, groups.astype(np.int64), (seed(number), seeds[0], seeds[1]))
    return taps, found


def heard_by(taps: list[Tap], mixer: int) -> Bits:
    """What a mixer hears of the other one and of the hospital; pools and the agreed pad are tested elsewhere."""
    between, asking = taps[mixer], taps[2 + 2 * mixer + 1]
    return some_bits([(step, raw) for step, raw in (*between.heard, *asking.heard) if step != "blinding"])


@lru_cache
def views_of(mixer: int, secret: int) -> Bits:
    return np.stack([heard_by(run(secret, 100 * secret + at, mixer)[0], mixer) for at in range(RUNS)])


@pytest.mark.parametrize("mixer", [0, 1])
@dealt
def test_a_mixer_hears_fair_coins_whatever_is_asked_and_counted(mixer: int) -> None:
    tells_nothing([views_of(mixer, secret) for secret in range(len(SECRETS))])


@dealt
def test_the_hospital_hears_its_totals_under_a_pad_and_a_simulator_could_say_the_same() -> None:
    """Each mixer's share of the totals is uniform by itself, and the other one's is the totals less that."""
    shares = []
    for number in range(RUNS):
        taps, found = run(0, 500 + number, 0)
        of_a, of_b = (
            unpack_words(raw, SHEET.size, 64, "", "")
            for tap in (taps[2], taps[4])
            for step, raw in tap.heard
            if step == "totals of the evaluation"
        )
        opened = totals_of(SHEET, of_a + of_b)
        assert opened.answers.tolist() == found.answers.tolist()
        shares.append(np.unpackbits(of_a.view(np.uint8)))
        # What a mixer's key must withstand is what that mixer opens.
        assert SHEET.form.opened.in_all == of_a.size * 64
    uniform(np.stack(shares))
