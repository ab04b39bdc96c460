"""The whole protocol, from tables to labels: the pooled classifier's, and what a role that lies or errs changes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mixbayes.mixers import training
from mixbayes.mixers.supply import Supply
from mixbayes.mixers.training import train_round
from mixbayes.node.questions import RUN_BYTES
from mixbayes.privacy.coins import Coins
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes import question
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import Sheet, run_evaluation, totals_in_clear, without_each
from mixbayes.protocol.bayes.model import scores
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_models, fixed_scores
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.bayes.whole import (
    ROUND,
    Outcome,
    Question,
    Received,
    contribute,
    run_federation,
    run_two_hospitals,
)
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets
from mixbayes.protocol.lattice.layout import PolynomialLayout
from mixbayes.protocol.lattice.polynomials import LIMB, Limbs, carried, from_words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.kinds import TransferKind
from mixbayes.protocol.transfer.pool import PairPool, connect_pair
from mixbayes.transport.contribution import Contribution
from tests.protocol.adversary import Tap, tapped_memory
from tests.protocol.pairs import random_for, seed

NORTH, SOUTH, WEST = "north", "south", "west"
NAMES = NORTH, SOUTH, WEST
BUDGET = 100
SEEDS = seed(1), seed(2), seed(3)
COINS = seed(4), seed(5)

pytestmark = pytest.mark.usefixtures("remembered_group")


def layout_of(coins: Coins | None = None, folds: int = 1, hospitals: int = 3, classes: int = 3) -> Layout:
    attributes = (
        Nominal(name="n", values=("x", "y", "z")),
        Several(name="s", values=("p", "q"), most=1),
        Gaussian(name="g", low=0.0, high=1.0),
    )
    names = tuple(f"c{at}" for at in range(classes))
    dictionary = Dictionary(class_column="class", classes=names, attributes=attributes, max_rows=64)
    return Layout(dictionary, Terms(hospitals=hospitals, coins=coins, folds=folds))


def some_codes(layout: Layout, rows: int, number: int) -> Values:
    rng = np.random.default_rng(number)
    codes = [rng.integers(0, attribute.codes, (attribute.columns, rows)) for attribute in layout.dictionary.attributes]
    return np.concatenate(codes).astype(np.int32)


def table(layout: Layout, number: int) -> Words:
    """What a hospital of 40 patients contributes, fold after fold."""
    codes, labels = some_codes(layout, 40, number), np.random.default_rng(number + 50).integers(0, layout.classes, 40)
    folds = layout.terms.folds
    parts = [Codes(codes[:, fold::folds], labels[fold::folds].astype(np.int32)) for fold in range(folds)]
    return np.concatenate([count(layout, part) for part in parts])


def tables_of(layout: Layout, *names: str) -> dict[str, Words]:
    return {name: table(layout, at) for at, name in enumerate(names)}


def sent(layout: Layout) -> tuple[dict[str, Words], tuple[Received, Received]]:
    tables = tables_of(layout, *NAMES)
    return tables, contribute(tables, random_for(7))


def pooled(layout: Layout, tables: dict[str, Words]) -> Words:
    return np.stack([joint(layout, one) for one in tables.values()]).sum(axis=0, dtype=np.uint64)


def questions_of(layout: Layout) -> list[Question]:
    return [
        Question(NORTH, some_codes(layout, 6, 11)),
        Question(SOUTH, some_codes(layout, 5, 12), private=False),
        Question(NORTH, some_codes(layout, 3, 13)),
    ]


def labels_of(outcome: Outcome) -> list[list[int] | None]:
    return [None if found is None else found.tolist() for found in outcome.labels]


def expected(layout: Layout, vector: Words, asked: list[Question]) -> list[list[int] | None]:
    model = fixed_model(layout, vector)
    return [fixed_labels(layout, model, one.codes).tolist() for one in asked]


@pytest.mark.parametrize("coins", [None, Coins((4, 2, 3))], ids=["exact", "noisy"])
@pytest.mark.parametrize("folds", [1, 2])
def test_labels_of_a_federation_are_those_of_the_pooled_table(coins: Coins | None, folds: int) -> None:
    layout = layout_of(coins, folds)
    tables, received = sent(layout)
    asked = questions_of(layout)
    found = run_federation(layout, received, asked, BUDGET, SEEDS, COINS if coins else None)
    whole = pooled(layout, tables)
    if coins:
        whole = blurred_in_clear(layout, whole, *(Randomness(half) for half in COINS))
    assert labels_of(found) == expected(layout, whole, asked)
    assert found.refused == ()
    of_a, of_b = found.parties
    assert of_a.counted == of_b.counted == NAMES
    assert (of_a.counts + of_b.counts).tolist() == whole.tolist()


def test_the_same_randomness_gives_the_same_shares_and_other_randomness_the_same_labels() -> None:
    layout = layout_of()
    _, received = sent(layout)
    asked = questions_of(layout)[:1]
    first, again, other = (
        run_federation(layout, received, asked, BUDGET, seeds) for seeds in (SEEDS, SEEDS, (seed(1), seed(8), seed(9)))
    )
    tables = [one.parties[0].model.tables[0].tolist() for one in (first, again, other)]
    assert tables[0] == tables[1] != tables[2]
    assert labels_of(first) == labels_of(again) == labels_of(other)


@pytest.mark.parametrize("cells", [slice(1), slice(-1, None)], ids=["first", "last"])
def test_a_lying_hospital_is_refused_and_named_and_the_others_count_as_without_it(cells: slice) -> None:
    layout = layout_of()
    tables = tables_of(layout, *NAMES)
    lie = tables[SOUTH].copy()
    lie[cells] -= np.uint64(10**6)
    asked = questions_of(layout)
    received = contribute(tables | {SOUTH: lie}, random_for(7))
    found = run_federation(layout, received, asked, BUDGET, SEEDS)
    assert found.refused == (SOUTH,)
    assert [one.counted for one in found.parties] == [(NORTH, WEST)] * 2
    del tables[SOUTH]
    assert labels_of(found) == expected(layout, pooled(layout, tables), asked)


def test_mixers_that_received_different_sets_compute_nothing() -> None:
    layout = layout_of()
    tables, (at_a, at_b) = sent(layout)
    anew = contribute(tables, random_for(8))[1]
    renamed = {name if name != WEST else "east": one for name, one in at_b.items()}
    without = {name: one for name, one in at_b.items() if name != WEST}
    for other in (without, {**at_b, WEST: anew[WEST]}, renamed):
        taps: list[Tap] = []
        with tapped_memory(taps), pytest.raises(DifferentSets, match=r"mixer [ab], at set of contributions"):
            run_federation(layout, (at_a, other), questions_of(layout), BUDGET, SEEDS)
        # What else they said to each other depends on no contribution: no verdict was opened, and the rest is random.
        said = taps[0].said + taps[1].said
        assert [step for step, _ in said] == [
            "set of contributions",
            "verdicts so far",
            "nonce of the validity check",
            "blinding",
        ] * 2
        assert not any(raw.any() for step, raw in said if step == "verdicts so far")


def test_an_asker_that_alters_the_sums_it_carries_shifts_its_scores_and_nobody_notices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is known and not prevented: the offset moves the difference of two scores by an amount of its choice."""
    layout = layout_of(classes=2)
    tables, received = sent(layout)
    asked = Question(NORTH, some_codes(layout, 30, 14))
    model = fixed_model(layout, pooled(layout, tables))
    truth = fixed_scores(layout, model, asked.codes)
    offset = int(np.median(truth[0] - truth[1]))
    plain, width, calls = question._masks, model.width, itertools.count()

    def altered(of: PolynomialLayout, seed: bytes, rows: int) -> Limbs:
        """The masks of mixer B's sums, which are made after those of A's, are others than A is told."""
        by, limbs = offset % 2**width if next(calls) % 2 else 0, of.parameters.limbs
        shift = from_words(np.full((1, rows), by, np.uint64), LIMB * limbs - width, limbs)
        sums = plain(of, seed, rows).astype(np.int64) + shift.transpose(1, 0, 2).reshape(limbs, 1, rows)
        return carried(sums.reshape(limbs, rows)).reshape(limbs, 1, rows)

    monkeypatch.setattr(question, "_masks", altered)
    found = run_federation(layout, received, [asked], BUDGET, SEEDS)
    shifted = (truth[1] + offset > truth[0]).astype(int).tolist()
    assert labels_of(found) == [shifted]
    assert shifted != truth.argmax(axis=0).tolist()


def test_a_question_beyond_the_budget_is_not_answered_and_others_are() -> None:
    layout = layout_of()
    tables, received = sent(layout)
    asked = questions_of(layout)
    found = run_federation(layout, received, asked, 8, SEEDS)
    first, second, _ = expected(layout, pooled(layout, tables), asked)
    assert labels_of(found) == [first, second, None]


def test_an_evaluation_goes_on_with_what_the_mixers_have() -> None:
    layout = layout_of(folds=2, classes=2)
    tables, received = sent(layout)
    parties = run_federation(layout, received, [], BUDGET, SEEDS).parties
    shares = [
        (party.counts, one[NORTH].share.reshape(2, layout.size)) for party, one in zip(parties, received, strict=True)
    ]
    codes, groups = some_codes(layout, 10, 15), np.arange(10) % 4
    sheet = Sheet(layout, JOINT, 5)
    found = run_evaluation(sheet, (shares[0], shares[1]), codes, groups, SEEDS)
    own = tables[NORTH].reshape(2, layout.size)
    models = fixed_models(layout, JOINT, *without_each(layout, pooled(layout, tables), own))
    clear = totals_in_clear(sheet, models, codes, groups)
    assert (found.answers.tolist(), found.above.tolist()) == (clear.answers.tolist(), clear.above.tolist())


def spoken(tap: Tap) -> list[tuple[str, int]]:
    return [(step, raw.size) for step, raw in tap.said]


def made_here(role: int, channel: Channel, random: Randomness, source: Supply, *, kind: TransferKind) -> PairPool:
    """In place of `connect_supplied`."""
    return connect_pair(role, channel, random, kind=kind)


@pytest.mark.parametrize("coins", [None, Coins((4, 2, 3))], ids=["exact", "noisy"])
def test_mixers_at_work_say_the_same_in_a_training(coins: Coins | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step and of the same lengths, and so that the model is the same, share by share.

    Nodes have their transfers from a supply, and in memory both make them; here nodes do, too.
    """
    monkeypatch.setattr(training, "connect_supplied", made_here)
    layout = layout_of(coins)
    _, received = sent(layout)
    halves = COINS if coins else None
    taps: list[Tap] = []
    with tapped_memory(taps):
        found = run_federation(layout, received, [], BUDGET, SEEDS, halves)
    nodes: list[Tap] = []
    with tapped_memory(nodes):
        (now_a, now_b), (ahead_a, ahead_b) = (memory.channels("mixer a", "mixer b") for _ in range(2))

        def work(role: int, channels: tuple[Channel, Channel]) -> Any:
            held = [Contribution(b"", ROUND, name, one.id, one.share) for name, one in received[role].items()]
            random = Randomness(SEEDS[1 + role]).branch()
            return train_round(role, channels, layout, ROUND, held, 2, random, lambda counted: Draw(COINS[role]))

        of_a, of_b = memory.together(lambda: work(0, (now_a, ahead_a)), lambda: work(1, (now_b, ahead_b)))
    talk_a, talk_b, *ahead = (spoken(tap) for tap in nodes)
    assert [talk_a, talk_b, *ahead] == [spoken(tap) for tap in taps]
    for node, party in zip((of_a, of_b), found.parties, strict=True):
        assert node.run == party.run[:RUN_BYTES]
        assert [one.tolist() for one in node.model.tables] == [one.tolist() for one in party.model.tables]


# Two hospitals alone

PAIR = NORTH, SOUTH
IDS = {NORTH: b"n" * 16, SOUTH: b"s" * 16}


@pytest.mark.parametrize("coins", [None, Coins((4, 2, 3))], ids=["exact", "noisy"])
def test_labels_of_two_hospitals_are_those_of_the_pooled_table(coins: Coins | None) -> None:
    layout = layout_of(coins, 2, hospitals=2)
    tables, asked = tables_of(layout, *PAIR), questions_of(layout)
    found = run_two_hospitals(layout, tables, (IDS, IDS), asked, BUDGET, (seed(1), seed(2)), COINS if coins else None)
    whole = pooled(layout, tables)
    if coins:
        whole = blurred_in_clear(layout, whole, *(Randomness(half) for half in COINS))
    assert labels_of(found) == expected(layout, whole, asked)
    of_a, of_b = found.parties
    assert (of_a.counts + of_b.counts).tolist() == whole.tolist()
    again = run_two_hospitals(layout, tables, (IDS, IDS), asked, 8, (seed(1), seed(2)), COINS if coins else None)
    assert labels_of(again) == [*expected(layout, whole, asked)[:2], None]


def test_two_hospitals_that_mean_different_contributions_compute_nothing() -> None:
    layout = layout_of(hospitals=2)
    tables = tables_of(layout, *PAIR)
    with pytest.raises(DifferentSets, match=r"party [AB], at set of contributions"):
        run_two_hospitals(layout, tables, (IDS, IDS | {SOUTH: b"t" * 16}), [], BUDGET, (seed(1), seed(2)))


def test_two_hospitals_alone_do_not_notice_a_lie() -> None:
    """What is known and not prevented: what no table could have is trained all the same."""
    layout = layout_of(hospitals=2)
    tables = tables_of(layout, *PAIR)
    honest = pooled(layout, tables)
    tables[SOUTH][: layout.classes] += np.array([20, 0, 0], np.uint64)
    asked = questions_of(layout)[:1]
    found = run_two_hospitals(layout, tables, (IDS, IDS), asked, BUDGET, (seed(1), seed(2)))
    assert labels_of(found) == expected(layout, pooled(layout, tables), asked)
    lied = scores(layout, fixed_model(layout, pooled(layout, tables)), asked[0].codes)
    assert (lied != scores(layout, fixed_model(layout, honest), asked[0].codes)).any()
