"""The traps of masks: one mask for several things, a factor in place of a mask, a label under no pad or an old one.

Each attack succeeds against a variant that falls into the trap, and fails on ours. A broken variant is ours with one
piece replaced; the attack is the same code in both cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Values, Words, mask
from mixbayes.protocol.bayes import label, question
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader, receive_masks, receive_sums
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits import argmax
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.lattice.encryption import Encrypted, Key, Parameters, Table, masks, uniform
from mixbayes.protocol.lattice.layout import PolynomialLayout
from mixbayes.protocol.lattice.polynomials import LIMB, Integers, Limbs, carried, integers, spectrum, top_bits
from mixbayes.protocol.packing import unpack_words
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import TappedEnds, TappedPair, bits_heard, difference, varying
from tests.protocol.pairs import converse, layout_of, random_for, seed

pytestmark = pytest.mark.usefixtures("dealt_base_transfers")  # no trap here concerns how they are made
WIDTH = 40


FORM = Form.of(layout_of(3, [2, 2]), WIDTH)
CODES = np.array([[0, 1], [1, 0]], np.int32)
Masks = Callable[[PolynomialLayout, bytes, int], Limbs]


def random_model(number: int) -> Model:
    random = random_for(number)
    tables = [np.append(random.words(2, 2) & mask(WIDTH), np.zeros((1, 2), np.uint64), axis=0) for _ in range(2)]
    return Model(WIDTH, np.zeros(2, np.uint64), tuple(tables))


def sums_of(model: Model, codes: Values) -> Words:
    """(K − 1, rows): what the hospital asks about, in the clear."""
    named = [table[values].T for table, values in zip(model.tables, codes, strict=True)]
    return np.sum(named, axis=0) & mask(WIDTH)


@dataclass(frozen=True)
class Answered:
    """What a mixer has of a question: what it decrypts, and its share of the masks of the other one's sums."""

    decrypted: Words
    masks: Words


def ask(model: Model, codes: Values, number: int = 1) -> tuple[Answered, Answered]:
    """A question to two mixers that have the same table."""
    ends = [TappedEnds("party va", mixer) for mixer in ("mixer a", "mixer b")]

    def mixer(asker: Channel, own: int) -> Answered:
        (offered,) = TableHolder(asker, random_for(own)).offered(FORM, [(model, codes.shape[1])])
        masks = receive_masks(asker, offered)
        return Answered(receive_sums(asker, offered), masks)

    reader = TableReader([end.first for end in ends], random_for(100 + number))
    _, of_a, of_b = converse(
        ends,
        lambda: reader.ask_both(FORM, codes),
        lambda: mixer(ends[0].second, 2 * number),
        lambda: mixer(ends[1].second, 2 * number + 1),
    )
    return of_a, of_b


def one_for_classes(layout: PolynomialLayout, seed: bytes, rows: int) -> Limbs:
    """Every class gets the mask of the first."""
    masks = OURS(layout, seed, rows)
    return np.broadcast_to(masks[:, :1], masks.shape)


def one_for_rows(layout: PolynomialLayout, seed: bytes, rows: int) -> Limbs:
    """Every row gets the mask of the first."""
    masks = OURS(layout, seed, rows)
    return np.broadcast_to(masks[:, :, :1], masks.shape)


def between_classes(sums: Words) -> Words:
    return sums[0] - sums[1]


def between_rows(sums: Words) -> Words:
    return sums[:, 0] - sums[:, 1]


OURS: Masks = question._masks
TRAPS: list[tuple[Masks, Callable[[Words], Words]]] = [
    (one_for_classes, between_classes),
    (one_for_rows, between_rows),
]


@pytest.mark.parametrize(("trap", "attack"), TRAPS, ids=["classes", "rows"])
def test_one_mask_for_several_sums_shows_a_mixer_their_difference(
    trap: Masks, attack: Callable[[Words], Words], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        model = random_model(number)
        secret = attack(sums_of(model, CODES)) & mask(WIDTH)
        ours = attack(ask(model, CODES, number)[0].decrypted) & mask(WIDTH)
        with monkeypatch.context() as patch:
            patch.setattr(question, "_masks", trap)
            broken = attack(ask(model, CODES, number)[0].decrypted) & mask(WIDTH)
        assert np.array_equal(broken, secret)
        assert not (ours == secret).any()


def test_one_mask_for_two_questions_shows_a_mixer_their_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, model = np.array([[0, 1], [1, 2]], np.int32), np.array([[1, 0], [0, 1]], np.int32), random_model(7)
    secret = (sums_of(model, first) - sums_of(model, second)) & mask(WIDTH)

    def seen() -> Words:
        return (ask(model, first, 1)[0].decrypted - ask(model, second, 2)[0].decrypted) & mask(WIDTH)

    assert not (seen() == secret).any()
    monkeypatch.setattr(question, "_masks", lambda layout, _, rows: OURS(layout, seed(1), rows))
    assert np.array_equal(seen(), secret)


class OneSeed(Randomness):
    """Both mixers' sums get the masks of one seed."""

    def bytes(self, count: int) -> bytes:
        return seed(5)


def test_one_seed_for_both_mixers_shows_each_the_sums_of_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a mixer is given the masks of the other one's sums, which are of another seed."""
    model = random_model(8)
    secret = sums_of(model, CODES)
    of_a, of_b = ask(model, CODES)
    assert np.array_equal((of_a.decrypted + of_b.masks) & mask(WIDTH), secret)
    assert not ((of_a.decrypted + of_a.masks) & mask(WIDTH) == secret).any()
    monkeypatch.setattr(TableReader, "__init__", with_one_seed(TableReader.__init__))
    of_a, _ = ask(model, CODES)
    assert np.array_equal((of_a.decrypted + of_a.masks) & mask(WIDTH), secret)


def with_one_seed(init: Callable[..., None]) -> Callable[..., None]:
    return lambda reader, holders, _: init(reader, holders, OneSeed(seed(6)))


SMALL = Parameters(4096, 4)


def rows_read(c1: Limbs, encrypted: Encrypted) -> Integers:
    """The attack of a mixer, which knows every a: the rows p for which c1 is p·a_1 and nothing else, of some rows."""
    a = spectrum(uniform(SMALL, encrypted.seed, 2))[:1]
    candidates = np.zeros((8, SMALL.dimension), np.int64)
    candidates[np.arange(8), np.arange(8)] = 1
    found = carried(integers(a * spectrum(candidates)[:, None]))
    return np.flatnonzero((found == c1).all(axis=(1, 2)))


class NothingSmall(Randomness):
    """u and e' are zero: 1 modulo 3 is the coefficient 0, and as many heads as others make no difference."""

    def words(self, *shape: int) -> Words:
        return np.ones(shape, np.uint64) if len(shape) == 1 else np.zeros(shape, np.uint64)


def test_a_sum_without_an_encryption_of_zero_shows_the_mixer_which_words_are_named() -> None:
    key = Key(SMALL, random_for(1))
    encrypted = key.encrypt(np.zeros((1, SMALL.dimension), np.uint64), WIDTH, random_for(2))
    table, hidden = Table.of(SMALL, encrypted), masks(SMALL, seed(3), 1)
    row = np.zeros((1, SMALL.dimension), np.int64)
    row[0, 5] = 1
    c1_broken, c1 = (
        table.masked_sum(spectrum(row), np.arange(1), hidden, random)[0]
        for random in (NothingSmall(seed(4)), random_for(4))
    )
    assert rows_read(c1_broken, encrypted).tolist() == [5]
    assert rows_read(c1, encrypted).tolist() == []


class SameSeed(Randomness):
    """Every encryption expands the same seed."""

    def bytes(self, count: int) -> bytes:
        return seed(7)


def test_one_seed_for_two_encryptions_under_a_key_shows_where_the_tables_differ() -> None:
    key = Key(SMALL, random_for(1))
    tables = np.zeros((2, 1, SMALL.dimension), np.uint64)
    tables[1, 0, 9] = 3

    def difference_of(randoms: list[Randomness]) -> list[int]:
        """Where the hospital sees words that differ, from b − b' alone."""
        of_a, of_b = (
            key.encrypt(table, WIDTH, random).bodies[0].astype(np.int64)
            for table, random in zip(tables, randoms, strict=True)
        )
        apart = top_bits(carried(of_b - of_a + rounding()), WIDTH)
        places: list[int] = np.flatnonzero(apart).tolist()
        return places

    assert difference_of([SameSeed(seed(1)), SameSeed(seed(2))]) == [9]
    assert len(difference_of([random_for(1), random_for(2)])) > 4000


def rounding() -> Integers:
    """Half of a step of a word, so that small differences of either sign are cut off."""
    half = np.zeros((SMALL.limbs, 1), np.int64)
    place = LIMB * SMALL.limbs - WIDTH - 1
    half[place // LIMB] = 1 << place % LIMB
    return half


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
