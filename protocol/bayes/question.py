"""A private question: scores on shares without the patient's values leaving the hospital.

A row names words of the table θ (`attributes/asking.py`), and its scores are sums of these words. Each mixer sends the
hospital its share of the table, encrypted under a key of its own (`lattice/encryption.py`). The hospital adds up the
words of its rows under the encryption, masks the sums, and sends them back to the mixer that holds the key. The other
mixer gets the seed of the masks. So both have shares of each sum: a mixer adds what it decrypts, its share of the masks
of the other one's sums, and its prior. These are shares of the scores.

A table whose key has rows left is not sent again: in one conversation, questions of a few rows about the same model are
asked of a standing table.

The hospital sees ciphertexts alone. A mixer sees sums under masks that it does not know, and masks of sums that it does
not see. This hides the rows from a mixer also if it departs from the protocol, and a mixer's table from the hospital
also if the other mixer helps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bytes, Values, Words, mask, slices
from mixbayes.protocol.attributes.asking import Asking
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.lattice.encryption import Encrypted, Key, OpenedBits, Table, masks, shares_of_masks
from mixbayes.protocol.lattice.layout import PolynomialLayout, cheapest, most_rows
from mixbayes.protocol.lattice.polynomials import Limbs, from_bytes, spectrum, to_bytes
from mixbayes.protocol.randomness import SEED_BYTES, Randomness

_TABLE, _MASKS, _SUMS = "encrypted table", "masks of the other sums", "masked sums"
_MOST_ROWS = 1 << 12
_MOST_STANDING = 8

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Form:
    """What is public about a question, and fixes the size of every message of it."""

    layout: Layout
    width: int
    opened: OpenedBits
    """What each computing party opens."""

    @classmethod
    def of(cls, layout: Layout, width: int, answers: int | None = None) -> Form:
        """For labels. There are as many answers as classes, if not said, and a share of a label has a bit for each."""
        return cls(layout, width, OpenedBits(answers or layout.classes))

    @classmethod
    def of_recipe(cls, layout: Layout, recipe: Recipe) -> Form:
        """For the labels of a recipe."""
        return cls.of(layout, precision_for(layout, recipe).width, recipe.answers(layout.classes))

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
        most = min(_MOST_ROWS, most_rows(self.width, self.opened))
        return slices(rows, max(1, -(-rows // -(-rows // most)) if rows else 1))

    def polynomials(self, rows: int) -> PolynomialLayout:
        """Where the table and the rows of one piece stand that has a key of its own."""
        return _cheapest(self.words, self.classes - 1, self.width, rows, self.opened)

    @property
    def standing(self) -> PolynomialLayout:
        """The same of a table that stands for questions of a few rows."""
        return self.polynomials(1)

    @property
    def standing_rows(self) -> int:
        """Rows that a standing table serves."""
        return self.standing.parameters.rows(self.opened)

    def stands(self, rows: int, about: bytes) -> bool:
        """Whether a question of so many rows is asked of a standing table: where one product and one key serve all."""
        return bool(about) and rows <= min(self.standing.rows_together, self.standing_rows)

    def laid_out(self, rows: int, about: bytes) -> PolynomialLayout:
        """Where the table and the rows of such a question stand."""
        return self.standing if self.stands(rows, about) else self.polynomials(rows)

    def volume(self, rows: int) -> int:
        """The bytes that the hospital exchanges with one mixer about so many rows, apart from headers."""
        parts = [piece.stop - piece.start for piece in self.pieces(rows)]
        return sum(self.polynomials(part).bytes(part) + 2 * SEED_BYTES for part in parts)

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


@lru_cache(maxsize=256)
def _cheapest(words: int, classes: int, width: int, rows: int, opened: OpenedBits) -> PolynomialLayout:
    return cheapest(words, classes, width, rows, opened)


@dataclass(frozen=True, slots=True, repr=False)
class Offered:
    """A mixer's table that a hospital has, encrypted, and how many rows of it are asked about next."""

    form: Form
    layout: PolynomialLayout
    key: Key
    prior: Words
    rows: int


class TableHolder:
    """A mixer's part in one conversation: it encrypts its tables, and decrypts masked sums of their words."""

    def __init__(self, asker: Channel, random: Randomness) -> None:
        self.asker = asker
        self._random = random
        self._standing = Standing[Offered]()

    def answered(self, form: Form, asked: Sequence[tuple[Model, int]], about: bytes = b"") -> Iterator[Words]:
        """Shares (K, n) of the scores, piece by piece: the own sums, and the masks of the other mixer's."""
        for one in self.offered(form, asked, about):
            of_other = receive_masks(self.asker, one)
            yield scores_from(form, receive_sums(self.asker, one) + of_other)

    def offered(self, form: Form, asked: Sequence[tuple[Model, int]], about: bytes = b"") -> Iterator[Offered]:
        """Offers for one piece after the other, of these models and numbers of rows.

        `about` names the model in this conversation, if the same one may be asked for again. The table for the next
        piece leaves before the caller waits for the sums of this one, so that the hospital always has work.
        """
        offers = (self._offer(form, model, rows, about if len(asked) == 1 else b"") for model, rows in asked)
        ready = next(offers, None)
        while ready:
            following = next(offers, None)
            yield ready
            ready = following

    def _offer(self, form: Form, model: Model, rows: int, about: bytes) -> Offered:
        if not form.stands(rows, about):
            return self._sent(form, form.polynomials(rows), model, rows)
        standing = self._standing.take(about, rows)
        if standing is None:
            standing = self._sent(form, form.standing, model, rows)
            self._standing.put(about, standing, form.standing_rows - rows)
        return replace(standing, rows=rows)

    def _sent(self, form: Form, layout: PolynomialLayout, model: Model, rows: int) -> Offered:
        key = Key(layout.parameters, self._random)
        encrypted = key.encrypt(layout.table(form.table(model)), form.width, self._random)
        self.asker.send(_TABLE, encrypted.seed + to_bytes(encrypted.bodies).tobytes())
        return Offered(form, layout, key, model.prior, rows)


class TableReader:
    """The hospital's part in one conversation, towards every holder of a table: both mixers, or the other hospital."""

    def __init__(self, holders: Sequence[Channel], random: Randomness) -> None:
        self._holders = holders
        self._random = random
        self._standing = Standing[list[Table]]()

    def ask_both(self, form: Form, codes: Values, about: bytes = b"") -> None:
        """Ask two mixers about the rows of one piece: each gets the masks of the other one's sums."""
        of_a, of_b = self._random.bytes(SEED_BYTES), self._random.bytes(SEED_BYTES)
        for mixer, seed in zip(self._holders, (of_b, of_a), strict=True):
            mixer.send(_MASKS, seed)
        self._send_sums(form, codes, [of_a, of_b], about)

    def ask_partner(self, form: Form, codes: Values, about: bytes = b"") -> Words:
        """Ask the only holder about the rows of one piece; returns the shares (K − 1, n) that the masks are."""
        seed, rows = self._random.bytes(SEED_BYTES), codes.shape[1]
        self._send_sums(form, codes, [seed], about)
        return _shares_of_masks(form.laid_out(rows, about), form, seed, rows)

    def _send_sums(self, form: Form, codes: Values, seeds: Sequence[bytes], about: bytes) -> None:
        """Take the table of each holder if it is not there, and send it the masked sums for these rows."""
        rows, named = codes.shape[1], form.named(codes)
        layout = form.laid_out(rows, about)
        tables = self._standing_tables(form, rows, about) if form.stands(rows, about) else self._received(layout)
        hidden = [_masks(layout, seed, rows) for seed in seeds]
        for part in layout.products(rows):
            factors, places = spectrum(layout.row_polynomials(named[:, part])), layout.places(part.stop - part.start)
            for holder, table, own in zip(self._holders, tables, hidden, strict=True):
                c1, c0 = table.masked_sum(factors, places, own[:, :, part].reshape(len(own), -1), self._random)
                holder.send(_SUMS, np.concatenate([to_bytes(c1), to_bytes(c0)]))

    def _standing_tables(self, form: Form, rows: int, about: bytes) -> list[Table]:
        tables = self._standing.take(about, rows)
        if tables is None:
            tables = self._received(form.standing)
            self._standing.put(about, tables, form.standing_rows - rows)
        return tables

    def _received(self, layout: PolynomialLayout) -> list[Table]:
        """The next table of each holder."""
        return [Table.of(layout.parameters, _receive_table(layout, holder)) for holder in self._holders]


class Standing(Generic[Kept]):
    """Tables whose keys have rows left, by the model that they are about. Both ends count alike."""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[Kept, int]] = {}

    def take(self, about: bytes, rows: int) -> Kept | None:
        """The table, for so many rows more; none if there is none, or if its key has fewer left."""
        kept, left = self._kept.pop(about, (None, 0))
        if kept is None or left < rows:
            return None
        self.put(about, kept, left - rows)
        return kept

    def put(self, about: bytes, kept: Kept, left: int) -> None:
        """Keep this table. The one that was not asked for longest is forgotten if there are many."""
        self._kept[about] = kept, left
        if len(self._kept) > _MOST_STANDING:
            del self._kept[next(iter(self._kept))]


def receive_sums(asker: Channel, offered: Offered) -> Words:
    """A share (K − 1, n) of prior and sums of the own table. The masks are the other share."""
    layout, width = offered.layout, offered.form.width
    total = np.empty((layout.classes, offered.rows), np.uint64)
    for part in layout.products(offered.rows):
        rows = part.stop - part.start
        c1, c0 = _sums_from(layout, rows, asker.receive(_SUMS, layout.sum_bytes(rows)))
        total[:, part] = offered.key.shares(c1, c0, layout.places(rows), width).reshape(layout.classes, rows)
    return (total + offered.prior[:, None]) & mask(width)


def receive_masks(asker: Channel, offered: Offered) -> Words:
    """A mixer's share (K − 1, n) of the sums of the other one's table."""
    seed = asker.receive(_MASKS, SEED_BYTES).tobytes()
    return _shares_of_masks(offered.layout, offered.form, seed, offered.rows)


def scores_from(form: Form, share: Words) -> Words:
    """Shares (K, n) of the scores, of which that of the first class is zero."""
    return np.concatenate([np.zeros_like(share[:1]), share & mask(form.width)])


def _shares_of_masks(layout: PolynomialLayout, form: Form, seed: bytes, rows: int) -> Words:
    shares = shares_of_masks(layout.parameters, seed, layout.classes * rows, form.width)
    return shares.reshape(layout.classes, rows)


def _masks(layout: PolynomialLayout, seed: bytes, rows: int) -> Limbs:
    """(L, classes, rows)."""
    return masks(layout.parameters, seed, layout.classes * rows).reshape(-1, layout.classes, rows)


def _receive_table(layout: PolynomialLayout, holder: Channel) -> Encrypted:
    raw, of = holder.receive(_TABLE, SEED_BYTES + layout.table_bytes), layout.parameters
    bodies = from_bytes(raw[SEED_BYTES:], layout.polynomials + 1, of.limbs, of.dimension)
    return Encrypted(raw[:SEED_BYTES].tobytes(), bodies)


def _sums_from(layout: PolynomialLayout, rows: int, raw: Bytes) -> tuple[Limbs, Limbs]:
    of = layout.parameters
    c1, c0 = np.split(raw, [of.polynomial_bytes])
    return from_bytes(c1, of.limbs, of.dimension), from_bytes(c0, of.limbs, layout.classes * rows)
