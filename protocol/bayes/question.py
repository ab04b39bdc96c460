"""A private question: scores on shares without the patient's values leaving the hospital.

A row names words of the table θ (`attributes/asking.py`), and its scores are sums of these words. Each mixer sends the
hospital its share of the table, encrypted under a key of its own (`lattice/encryption.py`). The hospital adds up the
words of its rows under the encryption, masks the sums, and sends them back to the mixer that holds the key. The other
mixer gets the seed of the masks. So both have shares of each sum: a mixer adds what it decrypts, its share of the masks
of the other one's sums, and its prior. These are shares of the scores.

The hospital sees ciphertexts alone. A mixer sees sums under masks that it does not know, and masks of sums that it does
not see. This hides the rows from a mixer also if it departs from the protocol, and a mixer's table from the hospital
also if the other mixer helps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from mixbayes.protocol.arrays import Values, Words, mask, slices
from mixbayes.protocol.attributes.asking import Asking
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.lattice.encryption import Encrypted, Key, Table, masks, shares_of_masks
from mixbayes.protocol.lattice.layout import PolynomialLayout, cheapest, most_rows
from mixbayes.protocol.lattice.polynomials import Limbs, from_bytes, spectrum, to_bytes
from mixbayes.protocol.randomness import SEED_BYTES, Randomness

_TABLE, _MASKS, _SUMS = "encrypted table", "masks of the other sums", "masked sums"
_MOST_ROWS = 1 << 12


@dataclass(frozen=True)
class Form:
    """What is public about a question, and fixes the size of every message of it."""

    layout: Layout
    width: int

    @classmethod
    def of(cls, layout: Layout, width: int) -> Form:
        return cls(layout, width)

    @cached_property
    def ways(self) -> tuple[Asking, ...]:
        """How each attribute is asked about."""
        return tuple(attribute.asking for attribute in self.layout.dictionary.attributes)

    @property
    def classes(self) -> int:
        return self.layout.classes

    @property
    def words(self) -> int:
        """Words of the table that rows can name."""
        return sum(way.named_words for way in self.ways)

    def pieces(self, rows: int) -> Iterator[slice]:
        """The rows in parts of nearly the same size, each of which has a key of its own."""
        most = min(_MOST_ROWS, most_rows(self.width, self._answers))
        return slices(rows, max(1, -(-rows // -(-rows // most)) if rows else 1))

    def polynomials(self, rows: int) -> PolynomialLayout:
        """Where the table and the rows of one piece stand."""
        return _cheapest(self.words, self.classes - 1, self.width, rows, self._answers)

    def volume(self, rows: int) -> int:
        """The bytes that the hospital exchanges with one mixer about so many rows, apart from headers."""
        parts = (piece.stop - piece.start for piece in self.pieces(rows))
        return sum(self.polynomials(part).bytes + 2 * SEED_BYTES for part in parts)

    def named(self, codes: Values) -> Values:
        """(few, n): the words that rows (columns, n) name; `words` where there is no more."""
        parts, first = [], 0
        for way, (_, own) in zip(self.ways, self.layout.cells(codes), strict=True):
            named = way.named(own)
            parts.append(np.where(named < way.named_words, named + first, self.words))
            first += way.named_words
        return np.concatenate(parts)

    def table(self, model: Model) -> Words:
        """A mixer's share (words, K − 1) of all words that rows can name."""
        return np.concatenate([own[: way.named_words] for way, own in zip(self.ways, model.tables, strict=True)])

    @property
    def _answers(self) -> int:
        """With `unsure`, which not every recipe knows."""
        return self.classes + 1


@lru_cache(maxsize=256)
def _cheapest(words: int, classes: int, width: int, rows: int, answers: int) -> PolynomialLayout:
    return cheapest(words, classes, width, rows, answers)


@dataclass(frozen=True, slots=True, repr=False)
class Offered:
    """A mixer's table that a hospital has, encrypted, for the rows of one piece."""

    form: Form
    layout: PolynomialLayout
    key: Key
    prior: Words

    @property
    def rows(self) -> int:
        return self.layout.rows


def offer(form: Form, asker: Channel, model: Model, random: Randomness, rows: int) -> Offered:
    """A mixer encrypts its table for so many rows, and sends it."""
    layout = form.polynomials(rows)
    key = Key(layout.parameters, random)
    encrypted = key.encrypt(layout.table(form.table(model)), form.width, random)
    asker.send(_TABLE, encrypted.seed + to_bytes(encrypted.bodies).tobytes())
    return Offered(form, layout, key, model.prior)


def offered(form: Form, asker: Channel, asked: Iterable[tuple[Model, int]], random: Randomness) -> Iterator[Offered]:
    """Offers for one piece after the other, of these models and numbers of rows.

    The table for the next piece leaves before the caller waits for the sums of this one, so that the hospital always
    has work.
    """
    offers = (offer(form, asker, model, random, rows) for model, rows in asked)
    ready = next(offers, None)
    while ready:
        following = next(offers, None)
        yield ready
        ready = following


def answered(form: Form, asker: Channel, asked: Iterable[tuple[Model, int]], random: Randomness) -> Iterator[Words]:
    """A mixer's shares (K, n) of the scores, piece by piece: its own sums, and the masks of the other one's."""
    for one in offered(form, asker, asked, random):
        masks = receive_masks(asker, form, one.rows)
        yield scores_from(form, receive_sums(asker, one) + masks)


def receive_sums(asker: Channel, offered: Offered) -> Words:
    """A mixer's share (K − 1, n) of prior and sums of its own table. The masks are the other share."""
    layout, width = offered.layout, offered.form.width
    total = np.empty((layout.classes, layout.rows), np.uint64)
    for part in layout.products():
        rows = part.stop - part.start
        c1, c0 = _sums_from(layout, rows, asker.receive(_SUMS, layout.sum_bytes(rows)))
        total[:, part] = offered.key.shares(c1, c0, layout.places(rows), width).reshape(layout.classes, rows)
    return (total + offered.prior[:, None]) & mask(width)


def receive_masks(asker: Channel, form: Form, rows: int) -> Words:
    """A mixer's share (K − 1, n) of the sums of the other one's table."""
    return masks_of(form, asker.receive(_MASKS, SEED_BYTES).tobytes(), rows)


def masks_of(form: Form, seed: bytes, rows: int) -> Words:
    """The shares (K − 1, n) that complete those of the holder of a key."""
    layout = form.polynomials(rows)
    shares = shares_of_masks(layout.parameters, seed, layout.classes * rows, form.width)
    return shares.reshape(layout.classes, rows)


def scores_from(form: Form, share: Words) -> Words:
    """Shares (K, n) of the scores, of which that of the first class is zero."""
    return np.concatenate([np.zeros_like(share[:1]), share & mask(form.width)])


def send_sums(
    form: Form, holders: Sequence[Channel], codes: Values, seeds: Sequence[bytes], random: Randomness
) -> None:
    """The hospital takes the encrypted table of each holder, and sends it the masked sums for these rows.

    The seeds are those of the masks, one for each holder.
    """
    rows = codes.shape[1]
    layout, named = form.polynomials(rows), form.named(codes)
    tables = [Table.of(layout.parameters, _receive_table(layout, holder)) for holder in holders]
    hidden = [_masks(layout, seed) for seed in seeds]
    for part in layout.products():
        factors, places = spectrum(layout.row_polynomials(named[:, part])), layout.places(part.stop - part.start)
        for holder, table, mine in zip(holders, tables, hidden, strict=True):
            own = mine[:, :, part].reshape(len(mine), -1)
            c1, c0 = table.masked_sum(factors, places, own, random)
            holder.send(_SUMS, np.concatenate([to_bytes(c1), to_bytes(c0)]))


def send_masks(mixer: Channel, seed: bytes) -> None:
    """The hospital gives one mixer the masks of the other one's sums."""
    mixer.send(_MASKS, seed)


def carry_over(mixers: tuple[Channel, Channel], form: Form, codes: Values, random: Randomness) -> None:
    """The hospital's part towards both mixers, for the rows of one piece."""
    of_a, of_b = random.bytes(SEED_BYTES), random.bytes(SEED_BYTES)
    send_masks(mixers[0], of_b)
    send_masks(mixers[1], of_a)
    send_sums(form, mixers, codes, (of_a, of_b), random)


def _masks(layout: PolynomialLayout, seed: bytes) -> Limbs:
    """(L, classes, rows)."""
    drawn = masks(layout.parameters, seed, layout.classes * layout.rows)
    return drawn.reshape(-1, layout.classes, layout.rows)


def _receive_table(layout: PolynomialLayout, holder: Channel) -> Encrypted:
    raw, of = holder.receive(_TABLE, SEED_BYTES + layout.table_bytes), layout.parameters
    bodies = from_bytes(raw[SEED_BYTES:], layout.polynomials + 1, of.limbs, of.dimension)
    return Encrypted(raw[:SEED_BYTES].tobytes(), bodies)


def _sums_from(layout: PolynomialLayout, rows: int, raw: np.ndarray) -> tuple[Limbs, Limbs]:
    of = layout.parameters
    c1, c0 = np.split(raw, [of.polynomial_bytes])
    return from_bytes(c1, of.limbs, of.dimension), from_bytes(c0, of.limbs, layout.classes * rows)
