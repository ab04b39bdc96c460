"""A private question: scores on shares without the patient's values leaving the hospital (protocol, 4).

The hospital is the receiver of a choice among V + 1 entries for every attribute. Entry v is the mixer's share of
θ[v, c] − θ[v, 0] plus ρ, for every later class c; ρ is fresh for every row, attribute and class, and the last entry,
"missing", is ρ alone. The hospital adds up over attributes, and hands A's sum to B and B's to A. A mixer that takes
away its own Σρ holds a share; the other's ρ hides the other's part from it, and from a hospital that would help it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from mixbayes.protocol import ring
from mixbayes.protocol.arrays import Bits, Values, Words, mask
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.long_choice import all_masks, chosen_masks
from mixbayes.protocol.model import Model
from mixbayes.protocol.packing import bits_bytes, pack_bits, pack_words, unpack_bits, unpack_words, words_bytes
from mixbayes.protocol.pool import ReceivedPool, SentPool
from mixbayes.protocol.randomness import Randomness

_ANNOUNCE, _TABLES, _SUMS = "announce question", "tables for the question", "sums of the question"
_PIECE_BYTES = 1 << 23
_MOST_ROWS = 4096

Pool = TypeVar("Pool", ReceivedPool, SentPool)


@dataclass(frozen=True, slots=True)
class Form:
    """What is public about a question, and fixes the size of every message of it."""

    entries: tuple[int, ...]
    classes: int
    width: int

    @classmethod
    def of(cls, layout: Layout, width: int) -> Form:
        return cls(layout.rows, layout.classes, width)

    @property
    def bits(self) -> tuple[int, ...]:
        """Bits of the choice for each attribute."""
        return tuple((entries - 1).bit_length() for entries in self.entries)

    def pieces(self, rows: int) -> Iterator[slice]:
        """The rows, as many at a time as the messages should hold."""
        row_bytes = sum(self.entries) * (self.classes - 1) * 8
        step = min(_MOST_ROWS, max(1, _PIECE_BYTES // row_bytes))
        return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


@dataclass(frozen=True, slots=True)
class Line(Generic[Pool]):
    """Between the asking hospital and one mixer: where they talk, and the random transfers they share.

    Transfers are made on a channel of the pool's own, so that making them ahead never meets an answer.
    """

    channel: Channel
    pool: Pool


class Question:
    """The asking hospital's side towards one mixer, for one piece of its rows (attributes, n)."""

    def __init__(self, form: Form, line: Line[ReceivedPool], codes: Values) -> None:
        self._form = form
        self._line = line
        self._codes = codes.astype(np.uint64)

    def prepare(self) -> None:
        """Begin making the random transfers this question needs."""
        self._line.pool.prepare(self._transfers)

    def announce(self) -> None:
        """Tell the mixer, under the pool's random choices, which entries are wanted."""
        self._received = self._line.pool.take(self._transfers)
        wanted = [ring.bits(c, bits).reshape(-1) for c, bits in zip(self._codes, self._form.bits, strict=True)]
        self._line.channel.send(_ANNOUNCE, pack_bits(np.concatenate(wanted) ^ self._received.choices))

    @property
    def rows(self) -> int:
        return self._codes.shape[1]

    @property
    def _transfers(self) -> int:
        return sum(self._form.bits) * self.rows

    def add_up(self) -> Words:
        """Take the chosen entries of the mixer's tables and add them up: (K − 1, n), masked by the mixer's Σρ."""
        form, channel, rows = self._form, self._line.channel, self.rows
        total = np.zeros((form.classes - 1, rows), np.uint64)
        at = 0
        for codes, entries, bits in zip(self._codes, form.entries, form.bits, strict=True):
            pads = self._received.pads[at : at + bits * rows].reshape(bits, rows, 2)
            masks = chosen_masks(self._line.pool.hash, pads, codes, form.classes - 1)
            shape = (entries, form.classes - 1, rows)
            raw = channel.receive(_TABLES, words_bytes(int(np.prod(shape)), form.width))
            tables = unpack_words(raw, int(np.prod(shape)), form.width, channel.peer, _TABLES).reshape(shape)
            total += tables[codes.astype(np.intp), :, np.arange(rows)].T - masks.T
            at += bits * rows
        return total & mask(form.width)


def answer(form: Form, line: Line[SentPool], model: Model, random: Randomness, rows: int) -> Words:
    """A mixer's side: offer the tables; returns Σρ (K − 1, n)."""
    channel, count = line.channel, sum(form.bits) * rows
    sent = line.pool.take(count)
    flips = unpack_bits(channel.receive(_ANNOUNCE, bits_bytes(count)), count, channel.peer, _ANNOUNCE)
    hidden = np.zeros((form.classes - 1, rows), np.uint64)
    at = 0
    for table, bits in zip(model.tables, form.bits, strict=True):
        part = slice(at, at + bits * rows)
        rho = random.words(form.classes - 1, rows)
        pads = sent.pads[:, part].reshape(2, bits, rows, 2)
        offered = _offer(line.pool, table, pads, flips[part].reshape(bits, rows), rho)
        channel.send(_TABLES, pack_words(offered & mask(form.width), form.width))
        hidden += rho
        at += bits * rows
    return hidden & mask(form.width)


def _offer(pool: SentPool, table: Words, pads: Words, flips: Bits, rho: Words) -> Words:
    """Every entry plus ρ under its mask: (V + 1, K − 1, n)."""
    masks = all_masks(pool.hash, pads, flips, *table.shape)
    return table[:, :, None] + rho[None] + masks.transpose(0, 2, 1)


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
