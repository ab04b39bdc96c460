"""A private question: scores on shares without the patient's values leaving the hospital.

For every attribute the hospital learns obliviously one entry, or one sum of entries, of each mixer's table plus ρ
(`attributes/asking.py`). The mixer draws ρ anew for every row, attribute and class. The hospital adds up over the
attributes, and hands the sum that it has from A to B, and the one from B to A. A mixer subtracts its own Σρ from its
own prior and adds the sum that it was handed: these are shares of the scores. The ρ of the other mixer, inside that
sum, hides the other mixer's table from it, also if the hospital helps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, Words, mask, slices
from mixbayes.protocol.attributes import asking
from mixbayes.protocol.attributes.asking import Asking
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.packing import bits_bytes, pack_bits, pack_words, unpack_bits, unpack_words, words_bytes
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.extension import Received, correction_bytes
from mixbayes.protocol.transfer.pool import ReceivedPool, SentPool

_ANNOUNCE, _TABLES, _SUMS = "announce question", "tables for the question", "sums of the question"
_PIECE_BYTES = 1 << 23
_MOST_ROWS = 1 << 14

Pool = TypeVar("Pool", ReceivedPool, SentPool)


@dataclass(frozen=True, slots=True)
class Form:
    """What is public about a question, and fixes the size of every message of it."""

    layout: Layout
    ways: tuple[Asking, ...]
    """How each attribute is asked about."""
    width: int

    @classmethod
    def of(cls, layout: Layout, width: int) -> Form:
        return cls(layout, tuple(attribute.asking for attribute in layout.dictionary.attributes), width)

    @property
    def classes(self) -> int:
        return self.layout.classes

    @property
    def transfers(self) -> int:
        """Random transfers a row."""
        return sum(way.transfers for way in self.ways)

    def volume(self, rows: int) -> int:
        """About as many bytes as the hospital exchanges with one mixer about so many rows: transfers, words, a sum."""
        transfers = self.transfers * rows
        words = (sum(way.words for way in self.ways) + 1) * (self.classes - 1) * rows
        return correction_bytes(transfers) + bits_bytes(transfers) + words_bytes(words, self.width)

    def pieces(self, rows: int) -> Iterator[slice]:
        """The rows, as many at a time as the messages should hold."""
        row_bytes = sum(way.words for way in self.ways) * (self.classes - 1) * 8
        return slices(rows, min(_MOST_ROWS, max(1, _PIECE_BYTES // row_bytes)))

    def parts(self, rows: int) -> Iterator[tuple[Asking, slice]]:
        """Every attribute's way with its transfers among those of this many rows."""
        at = 0
        for way in self.ways:
            yield way, slice(at, at + way.transfers * rows)
            at += way.transfers * rows


@dataclass(frozen=True, slots=True)
class Line(Generic[Pool]):
    """Between the asking hospital and one mixer: where they talk, and the random transfers they share.

    Transfers are made on a channel of the pool's own, so that making them ahead never meets an answer.
    """

    channel: Channel
    pool: Pool


class Selection:
    """The asking hospital's side towards one mixer, for one piece of its rows, as codes (columns, n)."""

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
        cells = (own for _, own in self._form.layout.cells(self._codes))
        wanted = np.concatenate([way.wanted(own).reshape(-1) for way, own in zip(self._form.ways, cells, strict=True)])
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
        parts = self._form.parts(self.rows)
        for (way, part), (_, codes) in zip(parts, self._form.layout.cells(self._codes), strict=True):
            offered = partial(self._receive, way.words)
            total += way.take(self._part(way, part), codes, self._form.classes - 1, offered)
        return total & mask(self._form.width)

    def _part(self, way: Asking, part: slice) -> asking.Received:
        shape = way.transfers, self.rows
        choices, flips = (bits[part].reshape(shape) for bits in (self._received.choices, self._flips))
        return asking.Received(self._line.pool.hash, choices, flips, self._received.pads[part])

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
    for (way, part), table in zip(form.parts(rows), model.tables, strict=True):
        own = asking.Sent(line.pool.hash, flips[part].reshape(way.transfers, rows), sent.pads[:, part])
        offered, rho = way.offer(own, table, random)
        channel.send(_TABLES, pack_words(offered & mask(form.width), form.width))
        hidden += rho
    return hidden & mask(form.width)


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
