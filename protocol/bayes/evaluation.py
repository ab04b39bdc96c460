"""Evaluation: how often a classifier is right on a hospital's own patients, and not on which of them.

A hospital asks about its rows as in a private question, and shares with the mixers in which group each row is: its true
class, and whether the hospital's own classifier is right about it. The mixers decide on shares, count the answers of
every group, and open the totals to the hospital. No label is opened.

A row is judged by a classifier in which it does not count. So a contribution has folds, and there is a model for each
fold: that of N − fold, and of what is left of the hospital's own counts.

| | |
|---|---|
| hospital → mixers | the groups of its rows, as XOR shares; then, fold by fold, masked sums as in a question |
| mixer ↔ mixer | comparison; products of the answers with the groups |
| mixer → hospital | its blinded share of the totals |

With two classes the scores are compared with public thresholds too, and the totals are those of a histogram of scores.

Nobody checks the groups. A hospital that lies about them, or about its rows, counts other rows than it says. It learns
as many totals as an honest hospital.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Bytes, Values, Words, mask, slices
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.noise import as_in_noisy
from mixbayes.protocol.bayes.precision import MOST_THRESHOLD, precision_for
from mixbayes.protocol.bayes.question import Form, TableHolder, TableReader
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_scores
from mixbayes.protocol.bayes.training import train_each
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import scale, weighted
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.lattice.encryption import OpenedBits
from mixbayes.protocol.packing import bits_bytes, pack_bits, pack_words, unpack_bits, unpack_words, words_bytes
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair

_UP = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, float(MOST_THRESHOLD))
THRESHOLDS = (*(-bits for bits in reversed(_UP)), 0.0, *_UP)
"""Of the score of the second class over the first one, in bits."""
PADDING = -1
"""The group of a row that is there to hide how many there are."""
_GROUPS, _TOTALS = "groups of the rows", "totals of the evaluation"
MOST_ROWS = 1 << 13
"""Of a hospital that are asked about in one evaluation: shares then have 95 % intervals of about a point."""
_COMPARED, _MULTIPLIED = 1 << 15, 1 << 18
"""Comparisons with thresholds, and products of answers with groups, at a time."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is public about an evaluation, and fixes the size of every message of it."""

    layout: Layout
    recipe: Recipe
    rows: int
    """In each fold."""
    split: int = 2
    """Groups of a class."""
    scored: bool = True
    """Whether there is a histogram of scores, where there are two classes."""
    kept_aside: bool = False
    """The rows are none of those that count: there is one model, and no fold."""
    largest: int = 0
    """What a total must have room for, if that is more than these rows: several sheets are added up, or noise."""

    @property
    def folds(self) -> int:
        return 1 if self.kept_aside else self.layout.terms.folds

    @property
    def most_rows(self) -> int:
        """In each fold, of an honest hospital."""
        return -(-min(self.layout.rows_each, MOST_ROWS) // self.folds)

    @property
    def groups(self) -> int:
        return self.split * self.layout.classes

    @property
    def answers(self) -> int:
        return self.recipe.answers(self.layout.classes)

    @property
    def thresholds(self) -> tuple[float, ...]:
        return THRESHOLDS if self.scored and self.layout.classes == 2 else ()

    @property
    def form(self) -> Form:
        """A row adds a bit to the totals for each answer and each threshold, and only the totals are opened."""
        opened = OpenedBits(self.answers + len(self.thresholds), self.size * ring.WORD)
        return Form(self.layout, precision_for(self.layout, self.recipe).width, opened)

    @property
    def opened(self) -> int:
        """How many numbers are opened that the hospital does not know before."""
        return self.groups * (self.answers - 1) + self.layout.classes * len(self.thresholds)

    @property
    def counter_bits(self) -> int:
        """Of one total."""
        return max(self.folds * self.rows, self.largest).bit_length()

    @property
    def in_a_word(self) -> int:
        """Totals that a word carries."""
        return ring.WORD // self.counter_bits

    def words(self, groups: int) -> int:
        """Words for the totals of so many groups, for each answer or threshold."""
        return -(-groups // self.in_a_word)

    @property
    def size(self) -> int:
        """Words of a share of all totals."""
        return self.answers * self.words(self.groups) + len(self.thresholds) * self.words(self.layout.classes)

    def pieces(self) -> list[slice]:
        """The rows of all folds, none of which shares a piece with another."""
        starts = range(0, self.folds * self.rows, self.rows)
        return [slice(at + part.start, at + part.stop) for at in starts for part in self.form.pieces(self.rows)]

    def fold_of(self, piece: slice) -> int:
        return int(piece.start) // self.rows


@dataclass(frozen=True, eq=False)
class Totals:
    """What an evaluation opens."""

    answers: Integers
    """(groups, answers): the rows of every group by their answer."""
    above: Integers
    """(classes, thresholds): the rows of every class whose score is not below a threshold."""


def without_each(layout: Layout, joint: Words, folds: Words) -> tuple[Words, Words]:
    """Joint and own counts without each fold in turn, (folds, size) of both; of numbers or of shares."""
    return joint - as_in_noisy(layout, folds), folds.sum(axis=0, dtype=np.uint64) - folds


def train_folds(me: ComputingParty, layout: Layout, recipe: Recipe, joint: Words, folds: Words) -> list[Model]:
    """For each fold the model in which it does not count."""
    return train_each(me, layout, recipe, *without_each(layout, joint, folds))


def judge(me: ComputingParty, asker: Channel, sheet: Sheet, models: Sequence[Model]) -> Words:
    """A mixer's part: its share of the totals, one after the other. There is a model for each fold."""
    groups = _receive_groups(asker, sheet)
    asked = [(models[sheet.fold_of(piece)], piece.stop - piece.start) for piece in sheet.pieces()]
    scores = list(TableHolder(asker, me.random).answered(sheet.form, asked))
    # The rows of all folds go through each circuit together: what is left takes as many rounds as one fold.
    return tally(me, sheet, models[0], np.concatenate(scores, axis=1), groups)


def ask_totals(
    mixers: tuple[Channel, Channel],
    sheet: Sheet,
    codes: Values,
    groups: Integers,
    random: Randomness,
) -> Totals:
    """The hospital's part, for rows (columns, n) in the order of their folds, and the group of each."""
    announce(mixers, sheet, codes, groups, random)
    return receive_totals(mixers, sheet, groups)


def announce(
    mixers: tuple[Channel, Channel],
    sheet: Sheet,
    codes: Values,
    groups: Integers,
    random: Randomness,
) -> None:
    """Share the groups, and send each mixer masked sums, and the masks of the other one's, for every piece."""
    bits = group_bits(sheet, groups)
    pad = random.bits(*bits.shape)
    for mixer, share in zip(mixers, (pad, bits ^ pad), strict=True):
        mixer.send(_GROUPS, pack_bits(share))
    asker = TableReader(mixers, random)
    for piece in sheet.pieces():
        asker.ask_both(sheet.form, codes[:, piece])


def receive_totals(mixers: tuple[Channel, Channel], sheet: Sheet, groups: Integers) -> Totals:
    """Both shares of the totals, put together; they must be totals of so many rows of every group."""
    return checked(sheet, receive_words(mixers, sheet), groups, f"{mixers[0].peer} or {mixers[1].peer}")


def receive_words(mixers: tuple[Channel, Channel], sheet: Sheet) -> Words:
    """The words that both mixers' blinded shares add up to."""
    size = words_bytes(sheet.size, ring.WORD)
    of_a, of_b = (
        unpack_words(channel.receive(_TOTALS, size), sheet.size, ring.WORD, channel.peer, _TOTALS) for channel in mixers
    )
    return of_a + of_b


def send_totals(asker: Channel, share: Buffer) -> None:
    """A mixer's blinded share, to the hospital that asked."""
    asker.send(_TOTALS, share)


def send_partner_totals(asker: Channel, share: Words) -> None:
    """Two hospitals alone: the other one's share, to the one that asked."""
    asker.send(_TOTALS, pack_words(share, ring.WORD))


def receive_partner_totals(partner: Channel, sheet: Sheet, share: Words, groups: Integers) -> Totals:
    """Two hospitals alone: both shares put together, at the one that asked."""
    raw = partner.receive(_TOTALS, words_bytes(sheet.size, ring.WORD))
    theirs = unpack_words(raw, sheet.size, ring.WORD, partner.peer, _TOTALS)
    return checked(sheet, share + theirs, groups, partner.peer)


def blinded(me: ComputingParty, share: Words, blinding: Randomness) -> Bytes:
    """A mixer's share under a pad that both mixers know and the hospital does not: it learns the totals alone."""
    pad = blinding.words(share.size)
    return pack_words(share + pad if me.role == A else share - pad, ring.WORD)


def tally(me: ComputingParty, sheet: Sheet, model: Model, scores: Words, groups: Bits) -> Words:
    """Shares of the totals of some rows, from shares of their scores (K, n) and groups (groups, n).

    `model` is any of those that gave the scores: they all have the same width and margin.
    """
    compared, multiplied = max(1, len(sheet.thresholds)), sheet.answers * sheet.words(sheet.groups)
    some = max(1, min(_COMPARED // compared, _MULTIPLIED // multiplied))
    total = np.zeros(sheet.size, np.uint64)
    for part in slices(scores.shape[1], some):
        total += _tally(me, sheet, model, scores[:, part], groups[:, part])
    return total


def _tally(me: ComputingParty, sheet: Sheet, model: Model, scores: Words, groups: Bits) -> Words:
    hot = label.decided(me, scores, model)
    places = np.arange(sheet.answers, dtype=np.uint64)[:, None]
    answered = (hot >> places & np.uint64(1)).astype(np.uint8)
    totals = [_counted(me, sheet, answered, groups)]
    if sheet.thresholds:
        of_class = np.bitwise_xor.reduce(groups.reshape(sheet.layout.classes, sheet.split, -1), axis=1)
        totals.append(_counted(me, sheet, _above(me, sheet, model, scores), of_class))
    return np.concatenate(totals)


def _above(me: ComputingParty, sheet: Sheet, model: Model, scores: Words) -> Bits:
    """XOR shares (thresholds, n): whether the second class leads the first one by so much."""
    limits = me.constant(np.array(_limits(sheet), np.int64).astype(np.uint64))
    differences = (scores[1] - scores[0] - limits[:, None]) & mask(model.width)
    return me.negate(negative(me, differences.reshape(-1), model.width)).reshape(differences.shape)


def _limits(sheet: Sheet) -> list[int]:
    """The thresholds in the fixed point of scores. Costs are in the scores, and are taken away here."""
    fraction = precision_for(sheet.layout, sheet.recipe).fraction
    first, second = sheet.recipe.offsets(sheet.layout.dictionary.classes, fraction)[:2]
    return [(int(bits * 4) << fraction - 2) + second - first for bits in sheet.thresholds]


def _counted(me: ComputingParty, sheet: Sheet, bits: Bits, groups: Bits) -> Words:
    """Shares of how often each bit (bits, n) is set in every group (groups, n): several totals in a word."""
    words, weights = sheet.words(len(groups)), [1 << place for place in _places(sheet, len(groups))]
    marks = weighted(me, groups, weights, ring.WORD)
    # A row is in one group at most: its marks add up to the weight of that group, in one word of several.
    of_row = np.stack([marks[part].sum(axis=0, dtype=np.uint64) for part in _parts(sheet, len(groups))])
    repeated = np.broadcast_to(bits[:, None], (len(bits), words, bits.shape[1]))
    found = scale(me, repeated, np.broadcast_to(of_row, repeated.shape), ring.WORD)
    return found.sum(axis=2, dtype=np.uint64).reshape(-1)


def _parts(sheet: Sheet, groups: int) -> list[slice]:
    """The groups that share a word."""
    return list(slices(groups, sheet.in_a_word))


def _places(sheet: Sheet, groups: int) -> list[int]:
    """Where the total of each group begins in its word."""
    return [sheet.counter_bits * (group % sheet.in_a_word) for group in range(groups)]


def group_bits(sheet: Sheet, groups: Integers) -> Bits:
    """(groups, n): each row's group; none for padding."""
    return (np.arange(sheet.groups)[:, None] == groups).astype(np.uint8)


def _receive_groups(asker: Channel, sheet: Sheet) -> Bits:
    shape = sheet.groups, sheet.folds * sheet.rows
    count = shape[0] * shape[1]
    return unpack_bits(asker.receive(_GROUPS, bits_bytes(count)), count, asker.peer, _GROUPS).reshape(shape)


def totals_of(sheet: Sheet, words: Words) -> Totals:
    """The totals that these words carry."""
    at = sheet.answers * sheet.words(sheet.groups)
    answers = _unpacked(sheet, words[:at], sheet.groups)
    above = _unpacked(sheet, words[at:], sheet.layout.classes)
    return Totals(answers, above)


def packed(sheet: Sheet, totals: Words) -> Words:
    """Words that carry these totals (groups, answers) of a sheet without scores; of numbers or of shares of them."""
    places = np.array(_places(sheet, len(totals)), np.uint64)[:, None]
    parts = _parts(sheet, len(totals))
    words = np.stack([(totals << places)[part].sum(axis=0, dtype=np.uint64) for part in parts])
    return np.ascontiguousarray(words.T).reshape(-1)


def _unpacked(sheet: Sheet, words: Words, groups: int) -> Integers:
    """(groups, answers or thresholds)."""
    places = np.array(_places(sheet, groups), np.uint64)[:, None]
    rows = words.reshape(words.size // sheet.words(groups), sheet.words(groups))
    of_group = rows.T[np.arange(groups) // sheet.in_a_word]
    return (of_group >> places & mask(sheet.counter_bits)).astype(np.int64)


def checked(sheet: Sheet, words: Words, groups: Integers, senders: str) -> Totals:
    """The totals, if they can be those of these rows."""
    found, rows = totals_of(sheet, words), np.bincount(groups[groups >= 0], minlength=sheet.groups)
    of_class = rows.reshape(sheet.layout.classes, sheet.split).sum(axis=1)
    falling = (np.diff(found.above, axis=1) <= 0).all() and (found.above <= of_class[:, None]).all()
    if not falling or (found.answers.sum(axis=1) != rows).any():
        raise OutOfRange(senders, _TOTALS, "they are not the totals of the rows that were asked about")
    return found


def totals_in_clear(sheet: Sheet, models: Sequence[Model], codes: Values, groups: Integers) -> Totals:
    """The same totals from models and rows that one knows."""
    answers = np.zeros((sheet.groups, sheet.answers), np.int64)
    above = np.zeros((sheet.layout.classes, len(sheet.thresholds)), np.int64)
    for piece in sheet.pieces():
        model, rows, own = models[sheet.fold_of(piece)], codes[:, piece], groups[piece]
        counted = own >= 0
        np.add.at(answers, (own[counted], fixed_labels(sheet.layout, model, rows)[counted]), 1)
        if sheet.thresholds:
            scores = fixed_scores(sheet.layout, model, rows)
            reached = (scores[1] - scores[0])[:, None] >= np.array(_limits(sheet), np.int64)
            np.add.at(above, own[counted] // sheet.split, reached[counted].astype(np.int64))
    return Totals(answers, above)


def run_evaluation(
    sheet: Sheet,
    shares: tuple[tuple[Words, Words], tuple[Words, Words]],
    codes: Values,
    groups: Integers,
    seeds: tuple[bytes, bytes, bytes],
) -> Totals:
    """The hospital and the two mixers, all in memory. Seeds: of the hospital, of A and of B.

    Each mixer has a share of the joint counts, and one of each fold of the hospital's contribution (folds, size).
    """
    a_to_b, b_to_a = memory.channels("mixer a", "mixer b")
    asker_to_a, a_to_asker = memory.channels("party asker", "mixer a")
    asker_to_b, b_to_asker = memory.channels("party asker", "mixer b")
    # Random transfers are made on a channel of their own.
    a_ahead, b_ahead = memory.channels("mixer a", "mixer b")

    def mixer(role: int, other: Channel, ahead: Channel, asker: Channel) -> None:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        blinding = label.blinding_for(b"the only question", label.common_blinding(me))
        # The mixers train a model for each fold, in which it does not count.
        models = train_folds(me, sheet.layout, sheet.recipe, *shares[role])
        # They score the rows as a question's, count the answers on shares, and open the totals.
        found = judge(me, asker, sheet, models)
        send_totals(asker, blinded(me, found, blinding))

    def hospital() -> Totals:
        random = Randomness(seeds[0])
        return ask_totals((asker_to_a, asker_to_b), sheet, codes, groups, random)

    totals, _, _ = memory.together(
        hospital,
        lambda: mixer(A, a_to_b, a_ahead, a_to_asker),
        lambda: mixer(B, b_to_a, b_ahead, b_to_asker),
    )
    return totals
