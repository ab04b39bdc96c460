"""The traps of masks: one ρ for several things, a factor in place of a mask, a label under no pad or an old one.

Each attack succeeds against a variant that falls into the trap, and fails on ours. A broken variant is ours with one
piece replaced; the attack is the same code in both cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Bytes, Values, Words, mask
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, Line, Selection, answer
from mixbayes.protocol.circuits import argmax
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import unpack_words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pads import chosen_masks
from tests.protocol.adversary import TappedEnds, TappedPair, bits_heard, difference, varying
from tests.protocol.pairs import connect_asker, converse, layout_of, random_for, seed

pytestmark = pytest.mark.usefixtures("dealt_base_transfers")  # no trap here concerns how they are made
WIDTH = 40


class OneForAttributes(Randomness):
    """Every attribute of a row gets the ρ of the first."""

    def words(self, *shape: int) -> Words:
        return random_for(1).words(*shape)


class OneForClasses(Randomness):
    """Every class gets the ρ of the first."""

    def words(self, *shape: int) -> Words:
        return np.broadcast_to(super().words(1, *shape[1:]), shape).copy()


class OneForRows(Randomness):
    """Every row gets the ρ of the first."""

    def words(self, *shape: int) -> Words:
        return np.broadcast_to(super().words(*shape[:-1], 1), shape).copy()


FORM = Form.of(layout_of(3, [2, 2]), WIDTH)
"""Two attributes of two values, so that an attribute of one query differs from the next only in what is asked."""


def random_model(number: int) -> Model:
    random = random_for(number)
    tables = [np.append(random.words(2, 2) & mask(WIDTH), np.zeros((1, 2), np.uint64), axis=0) for _ in range(2)]
    return Model(WIDTH, random.words(2) & mask(WIDTH), tuple(tables))


def ask(codes: Values, mixer: Model, random: Randomness, number: int = 1) -> Words:
    """What the hospital takes of one mixer's tables: (attributes, K − 1, rows), each entry with its ρ."""
    asker, answerer, _ = connect_asker(number)
    ends = TappedEnds("party va", "mixer a")
    question = Selection(FORM, Line(ends.first, asker), codes)

    def hospital() -> Words:
        announced = question.announce()
        announced.receive_and_add_up()
        return announced._received.pads

    rows = codes.shape[1]
    taken, _ = converse([ends], hospital, lambda: answer(FORM, Line(ends.second, answerer), mixer, random, rows))
    tables = [unmasked(raw, rows) for step, raw in ends.first.heard if step == "tables for the question"]
    pads = np.split(taken, len(codes))
    return np.stack(
        [
            table[values, :, np.arange(rows)].T
            - chosen_masks(asker.hash, pad.reshape(2, rows, 2), values.astype(np.uint64), 2).T
            for table, values, pad in zip(tables, codes, pads, strict=True)
        ]
    ) & mask(WIDTH)


def unmasked(raw: Bytes, rows: int) -> Words:
    return unpack_words(raw, 3 * 2 * rows, WIDTH, "mixer a", "test").reshape(3, 2, rows)


def between_attributes(taken: Words) -> Words:
    return taken[0] - taken[1]


def between_classes(taken: Words) -> Words:
    return taken[:, 0] - taken[:, 1]


def between_rows(taken: Words) -> Words:
    return taken[:, :, 0] - taken[:, :, 1]


CODES = np.array([[0, 1], [1, 0]], np.int32)
TRAPS: list[tuple[type[Randomness], Callable[[Words], Words]]] = [
    (OneForAttributes, between_attributes),
    (OneForClasses, between_classes),
    (OneForRows, between_rows),
]


def in_the_clear(model: Model, codes: Values) -> Words:
    """The entries that the hospital takes, without ρ."""
    return np.stack([table[values].T for table, values in zip(model.tables, codes, strict=True)])


@pytest.mark.parametrize(("trap", "attack"), TRAPS, ids=["attributes", "classes", "rows"])
def test_one_rho_for_several_shows_differences_of_the_table(
    trap: type[Randomness], attack: Callable[[Words], Words]
) -> None:
    for number in range(5):
        model = random_model(number)
        secret = attack(in_the_clear(model, CODES)) & mask(WIDTH)
        broken = attack(ask(CODES, model, trap(seed(number)))) & mask(WIDTH)
        ours = attack(ask(CODES, model, Randomness(seed(number)))) & mask(WIDTH)
        assert np.array_equal(broken, secret)
        assert not (ours == secret).any()


def test_one_rho_for_two_queries_shows_differences_of_the_table() -> None:
    first, second = np.array([[0, 1], [1, 2]], np.int32), np.array([[1, 0], [0, 1]], np.int32)
    for number in range(5):
        model = random_model(number)
        secret = (in_the_clear(model, first) - in_the_clear(model, second)) & mask(WIDTH)
        once, again, ours = (Randomness(seed(number)) for _ in range(3))
        broken = ask(first, model, once, 1) - ask(second, model, again, 2)
        fresh = ask(first, model, ours, 1) - ask(second, model, ours, 2)
        assert np.array_equal(broken & mask(WIDTH), secret)
        assert not (fresh & mask(WIDTH) == secret).any()


def test_the_hospital_sees_no_entry_itself() -> None:
    model = random_model(9)
    assert not (ask(CODES, model, random_for(9)) == in_the_clear(model, CODES)).any()


Compare = Callable[[ComputingParty, Words], Any]


def opens_scaled(run: int) -> Compare:
    """The trap: the sign of a shared difference, by opening it times a random positive factor known to both."""
    factor = random_for(run).words(16) & mask(10) | np.uint64(1)
    return lambda me, share: me.channel.swap("opened", share * factor)


def ours_compares(run: int) -> Compare:
    return lambda me, share: negative(me, share, WIDTH)


def seen_while_comparing(compare: Callable[[int], Compare], size: int, runs: int) -> Bits:
    """All that both parties hear while a difference of this size is compared, run by run.

    A's shares are zero, a case as good as any other and the easiest for A.
    """
    views = []
    for run in range(runs):
        pair = TappedPair(4000 + 2 * (size + run), 4001 + 2 * (size + run))
        pair.run(compare(size + run), (np.zeros(16, np.uint64),), (np.full(16, size, np.uint64),))
        views.append(np.concatenate([bits_heard(pair.talk.first.heard), bits_heard(pair.talk.second.heard)]))
    return np.stack(views)


def test_opened_scaled_difference_shows_its_size_and_nothing_of_ours_does() -> None:
    opened = [seen_while_comparing(opens_scaled, size, 16) for size in (1, 1 << 20)]
    assert difference(*opened) > 15
    compared = [seen_while_comparing(ours_compares, size, 48) for size in (1, 1 << 20)]
    coins = varying(*compared)
    assert abs(difference(compared[0][:, coins], compared[1][:, coins])) < 8


def label_messages(blinding: Callable[[int], Randomness], runs: int = 64) -> Words:
    """The words that a mixer sends for the same share of a label, run after run."""
    share = np.full(8, 0b101, np.uint64)
    messages = (label.blinded(share, 3, blinding(run)) for run in range(runs))
    return np.stack([unpack_words(message, 8, 3, "", "") for message in messages])


class NoPad(Randomness):
    def words(self, *shape: int) -> Words:
        return np.zeros(shape, np.uint64)


def test_unblinded_label_shows_the_mixers_share_and_a_blinded_one_does_not() -> None:
    broken = label_messages(lambda run: NoPad(seed(run)))
    assert (broken == 0b101).all()
    blinded = label_messages(random_for)
    counts = np.bincount(blinded.reshape(-1).astype(np.intp), minlength=8)
    assert counts.sum() == 512
    assert counts.min() > 32  # 64 expected
    assert counts.max() < 96


def test_two_labels_never_share_a_pad() -> None:
    """Else the hospital would see where the mixer's shares differ."""
    blinding = random_for(36)
    share = np.zeros(1000, np.uint64)
    first, second = (label.blinded(share, 63, blinding).view(np.uint8) for _ in range(2))
    assert not np.array_equal(first, second)
    words = unpack_words(first, 1000, 63, "", ""), unpack_words(second, 1000, 63, "", "")
    assert len(np.unique(np.concatenate(words))) == 2000


def test_each_winner_is_shared_under_fresh_masks() -> None:
    """Both raw shares of a label together show one bit of it; each alone, over runs, is uniform in every bit."""
    scores = np.zeros((3, 16), np.uint64)
    shares = []
    for run in range(64):
        pair = TappedPair(5000 + 2 * run, 5001 + 2 * run)
        hot, _ = pair.run(lambda me: argmax.winners(me, scores, WIDTH), (), ())
        shares.append(hot)
    ones = ((np.stack(shares)[..., None] >> np.arange(3, dtype=np.uint64)) & np.uint64(1)).sum(axis=(0, 1))
    assert (abs(ones.astype(int) - 512) < 128).all()  # 16 is one standard deviation
