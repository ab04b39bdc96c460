"""A private question: scores on shares without the patient's values leaving the hospital.

The hospital is the receiver of a choice among V + 1 entries for every attribute. Entry v is the mixer's share of
θ[v, c] − θ[v, 0] plus ρ, for every later class c; ρ is fresh for every row, attribute and class, and the last entry,
"missing", is ρ alone. For a Gaussian attribute it is the receiver of one correlated transfer a binary feature: the
feature times its word, plus ρ. The hospital adds up over attributes, and hands A's sum to B and B's to A. A mixer that
takes away its own Σρ holds a share; the other's ρ hides the other's part from it, and from a hospital that would help
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, Words, mask, slices
from mixbayes.protocol.attributes.dictionary import Numeric
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.log_density import FEATURES, features
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.packing import bits_bytes, pack_bits, pack_words, unpack_bits, unpack_words, words_bytes
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.extension import Received
from mixbayes.protocol.transfer.pads import all_masks, chosen_masks, pad_words
from mixbayes.protocol.transfer.pool import ReceivedPool, SentPool

_ANNOUNCE, _TABLES, _SUMS = "announce question", "tables for the question", "sums of the question"
_PIECE_BYTES = 1 << 23
_MOST_ROWS = 1 << 14

Pool = TypeVar("Pool", ReceivedPool, SentPool)


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute of a question: V + 1 entries to choose one of, or features that are each there or not."""

    gaussian: bool
    words: int
    """Entries, or features."""

    @property
    def transfers(self) -> int:
        """Random transfers a row: the bits of the choice, or one a feature."""
        return self.words if self.gaussian else (self.words - 1).bit_length()

    def wanted(self, values: Values) -> Bits:
        """(transfers, n): what the hospital chooses by."""
        return features(values) if self.gaussian else ring.bits(values.astype(np.uint64), self.transfers)


@dataclass(frozen=True, slots=True)
class Form:
    """What is public about a question, and fixes the size of every message of it."""

    fields: tuple[Field, ...]
    classes: int
    width: int

    @classmethod
    def of(cls, layout: Layout, width: int) -> Form:
        attributes = zip(layout.dictionary.attributes, layout.rows, strict=True)
        fields = [Field(True, FEATURES) if isinstance(a, Numeric) else Field(False, rows) for a, rows in attributes]
        return cls(tuple(fields), layout.classes, width)

    @property
    def transfers(self) -> int:
        """Random transfers a row."""
        return sum(field.transfers for field in self.fields)

    def pieces(self, rows: int) -> Iterator[slice]:
        """The rows, as many at a time as the messages should hold."""
        row_bytes = sum(field.words for field in self.fields) * (self.classes - 1) * 8
        return slices(rows, min(_MOST_ROWS, max(1, _PIECE_BYTES // row_bytes)))

    def parts(self, rows: int) -> Iterator[tuple[Field, slice]]:
        """Every field with its transfers among those of so many rows."""
        at = 0
        for field in self.fields:
            yield field, slice(at, at + field.transfers * rows)
            at += field.transfers * rows


@dataclass(frozen=True, slots=True)
class Line(Generic[Pool]):
    """Between the asking hospital and one mixer: where they talk, and the random transfers they share.

    Transfers are made on a channel of the pool's own, so that making them ahead never meets an answer.
    """

    channel: Channel
    pool: Pool


class Selection:
    """The asking hospital's side towards one mixer, for one piece of its rows (attributes, n)."""

    def __init__(self, form: Form, line: Line[ReceivedPool], codes: Values) -> None:
        self._form = form
        self._line = line
        self._codes = codes

    @property
    def rows(self) -> int:
        return int(self._codes.shape[1])

    def prepare(self) -> None:
        """Begin making the random transfers this question needs."""
        self._line.pool.prepare(self._form.transfers * self.rows)

    def announce(self) -> AnnouncedSelection:
        """Tell the mixer, under the pool's random choices, which entries are wanted."""
        received = self._line.pool.take(self._form.transfers * self.rows)
        fields = zip(self._form.fields, self._codes, strict=True)
        wanted = np.concatenate([field.wanted(values).reshape(-1) for field, values in fields])
        flips = wanted ^ received.choices
        self._line.channel.send(_ANNOUNCE, pack_bits(flips))
        return AnnouncedSelection(self._form, self._line, self._codes, received, flips)


class AnnouncedSelection:
    """A question whose answer is due."""

    def __init__(self, form: Form, line: Line[ReceivedPool], codes: Values, received: Received, flips: Bits) -> None:
        self._form = form
        self._line = line
        self._codes = codes
        self._received = received
        self._flips = flips

    @property
    def rows(self) -> int:
        return int(self._codes.shape[1])

    def receive_and_add_up(self) -> Words:
        """Take the chosen entries of the mixer's tables and add them up: (K − 1, n), masked by the mixer's Σρ."""
        total = np.zeros((self._form.classes - 1, self.rows), np.uint64)
        for (field, part), values in zip(self._form.parts(self.rows), self._codes, strict=True):
            total += self._features(part) if field.gaussian else self._entry(field, part, values)
        return total & mask(self._form.width)

    def _entry(self, field: Field, part: slice, values: Values) -> Words:
        pads = self._received.pads[part].reshape(field.transfers, self.rows, 2)
        index = values.astype(np.intp)
        masks = chosen_masks(self._line.pool.hash, pads, index.astype(np.uint64), self._form.classes - 1)
        tables = self._receive(field.words)
        return tables[index, :, np.arange(self.rows)].T - masks.T

    def _features(self, part: slice) -> Words:
        shape = FEATURES, self.rows
        chosen, flips = (bits[part].reshape(shape) for bits in (self._received.choices, self._flips))
        pads = pad_words(self._line.pool.hash, self._received.pads[part], self._form.classes - 1)
        offered = self._receive(FEATURES)
        total = np.empty((self._form.classes - 1, self.rows), np.uint64)
        for later, pad in enumerate(pads):
            words = pad.reshape(shape) + chosen * offered[:, later]
            total[later] = ring.signed(flips, words, ring.WORD).sum(axis=0, dtype=np.uint64)
        return total

    def _receive(self, words: int) -> Words:
        """A mixer's words for one attribute, (entries or features, K − 1, n)."""
        channel, shape = self._line.channel, (words, self._form.classes - 1, self.rows)
        count = int(np.prod(shape))
        raw = channel.receive(_TABLES, words_bytes(count, self._form.width))
        return unpack_words(raw, count, self._form.width, channel.peer, _TABLES).reshape(shape)


def answer(form: Form, line: Line[SentPool], model: Model, random: Randomness, rows: int) -> Words:
    """A mixer's side: offer the tables; returns Σρ (K − 1, n)."""
    channel, count = line.channel, form.transfers * rows
    sent = line.pool.take(count)
    flips = unpack_bits(channel.receive(_ANNOUNCE, bits_bytes(count)), count, channel.peer, _ANNOUNCE)
    hidden = np.zeros((form.classes - 1, rows), np.uint64)
    for (field, part), table in zip(form.parts(rows), model.tables, strict=True):
        pads, announced = sent.pads[:, part], flips[part].reshape(field.transfers, rows)
        if field.gaussian:
            offered, rho = _offer_features(line.pool, table, pads, announced)
        else:
            rho = random.words(form.classes - 1, rows)
            offered = _offer_entries(line.pool, table, pads, announced, rho)
        channel.send(_TABLES, pack_words(offered & mask(form.width), form.width))
        hidden += rho
    return hidden & mask(form.width)


def _offer_entries(pool: SentPool, table: Words, pads: Words, flips: Bits, rho: Words) -> Words:
    """Every entry plus ρ under its mask: (V + 1, K − 1, n)."""
    masks = all_masks(pool.hash, pads.reshape(2, *flips.shape, 2), flips, *table.shape)
    return table[:, :, None] + rho[None] + masks.transpose(0, 2, 1)


def _offer_features(pool: SentPool, table: Words, pads: Words, flips: Bits) -> tuple[Words, Words]:
    """Every feature's word less the difference of its pads (FEATURES, K − 1, n), and ρ, which the pads are.

    As in `products.cross`, of which this is one direction: p_0 is fresh for every row, feature and class.
    """
    classes = table.shape[1]
    zeros, ones = (pad_words(pool.hash, pad, classes).reshape(classes, *flips.shape) for pad in pads)
    offered = np.empty((flips.shape[0], classes, flips.shape[1]), np.uint64)
    rho = np.empty((classes, flips.shape[1]), np.uint64)
    for later in range(classes):
        word = table[:, later, None]
        offered[:, later] = word - ones[later] + zeros[later]
        kept = ring.signed(flips, zeros[later], ring.WORD) - flips * word
        rho[later] = kept.sum(axis=0, dtype=np.uint64)
    return offered, rho


def hand_over(mixer: Channel, sums: Words, width: int) -> None:
    """The hospital gives one mixer the sums it had from the other."""
    mixer.send(_SUMS, pack_words(sums, width))


def take_over(asker: Channel, form: Form, model: Model, hidden: Words) -> Words:
    """A mixer's share (K, n) of the scores relative to the first class: the other's sums, less its own Σρ."""
    count = hidden.size
    raw = asker.receive(_SUMS, words_bytes(count, form.width))
    sums = unpack_words(raw, count, form.width, asker.peer, _SUMS).reshape(hidden.shape)
    scores = np.zeros((form.classes, hidden.shape[1]), np.uint64)
    scores[1:] = (sums - hidden + model.prior[:, None]) & mask(form.width)
    return scores
