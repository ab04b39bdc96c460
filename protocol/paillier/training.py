"""Training of the Paillier protocol: from two hospitals' counts to multiplicative shares of the joint cells.

A holds the secret key and sends its part of every cell encrypted. B adds its own part and multiplies by a random factor
r, both under the encryption. A decrypts, and keeps r·cell as its share; B keeps 1/r as its share. The product of both
shares is the cell, and r·cell is uniform among the units and so independent of the cell.

The plain way would share cells modulo N. Here they are shared modulo a public prime that is as small as the comparison
allows, if the key has room for the unreduced products. B's exponents and the entries of private questions are then as
long as the compared numbers and not as the key, and each answer of B carries several cells. `docs/paillier.md` says
what this saves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Numbers, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import BadData, OutOfRange
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.exact import MASK_BITS, ROOM
from mixbayes.protocol.paillier.key import (
    Obfuscators,
    PublicKey,
    SecretKey,
    below,
    fresh,
    inverse,
    obfuscators,
    prime_above,
    receive_ciphertexts,
    send_ciphertexts,
    unit,
)
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair

_CELLS, _ANSWERS = "encrypted cells", "masked cells"
_STRETCH = 32
"""Cells in a message. With several messages, A decrypts one while B computes the next."""
_AHEAD = 4
"""Messages that A sends ahead of the answers."""

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Group:
    """The integers modulo a public number, where cells are shared multiplicatively."""

    modulus: int
    comparison_bits: int
    key_bits: int
    small: bool
    """Whether the modulus is a prime that leaves the key room for unreduced products. If not, it is N."""

    @classmethod
    def of(cls, layout: Layout, key: PublicKey, recipe: Recipe = JOINT) -> Group:
        """The group for this layout, key and recipe, or an error if the key is too short."""
        bits = exact.fitting_bits(layout, key.bits, recipe)
        prime = cls(prime_above(1 << bits + ROOM - 1), bits, key.bits, small=True)
        return prime if prime.width(prime.product_bits) < key.bits else cls(key.modulus, bits, key.bits, small=False)

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def product_bits(self) -> int:
        """x·y + x'·y' + a mask, for elements x, y, x', y', is below modulus · 2^product_bits."""
        return self.bits + 1

    def veil(self, random: Randomness, hidden: int) -> int:
        """A random multiple of the modulus, which B adds to a number below the modulus times 2^hidden.

        It leaves the remainder modulo the modulus as it is, and hides the quotient statistically. Modulo N the
        decrypted number is the remainder, and there is nothing to hide.
        """
        return self.modulus * below(random, 1 << hidden + MASK_BITS) if self.small else 0

    def width(self, hidden: int) -> int:
        """Bits of a number below the modulus times 2^hidden with its veil."""
        return self.bits + hidden + MASK_BITS + 1

    def slots(self, hidden: int) -> int:
        """How many of these numbers one plaintext holds."""
        return (self.key_bits - 1) // self.width(hidden) if self.small else 1

    def opened(self, plaintext: int, count: int, hidden: int) -> list[int]:
        """The elements in the slots of a decrypted answer; an empty list if the answer is longer than its slots."""
        if not self.small:
            return [plaintext]
        width = self.width(hidden)
        if plaintext >> width * count:
            return []
        return [(plaintext >> width * slot) % (1 << width) % self.modulus for slot in range(count)]


@dataclass(frozen=True, slots=True, repr=False)
class ExactModel:
    """One party's multiplicative shares of all numbers that a comparison multiplies.

    `tables` has (V + 1, S) numbers for each attribute; the last row stands for "missing" and is ones. S = 2K: the
    numerators of all classes and their denominators. With two classes S = 2: each numerator is multiplied once for all
    by the other class's denominator, since num_0·den_1 is compared with num_1·den_0. `start` (S,) are the priors, and
    `empty` (K,) are XOR shares of [n_c = 0].
    """

    group: Group
    start: Numbers
    tables: tuple[Numbers, ...]
    empty: Bits

    @property
    def classes(self) -> int:
        return self.empty.size

    @property
    def entries(self) -> tuple[int, ...]:
        return tuple(len(table) for table in self.tables)


def train_holder(
    me: ComputingParty,
    key: SecretKey,
    layout: Layout,
    vector: Words,
    obfuscators: Obfuscators,
    recipe: Recipe = JOINT,
    own: Words | None = None,
) -> ExactModel:
    """A's side, which holds the key. In a recipe `own` are its counts if A asks for it, and nothing if B does."""
    group, hidden = Group.of(layout, key.public, recipe), exact.cell_bits(layout, recipe)
    _check_own(layout, vector)
    empty = _shares_of_empty(me, layout, vector)
    mine = exact.cells(layout, vector, 1, recipe, own)

    def send(numbers: list[int]) -> None:
        sent = (key.public.encrypt(number, fresh(obfuscators)) for number in numbers)
        send_ciphertexts(me.channel, _CELLS, key.public, sent)

    def collect(count: int) -> list[int]:
        factors = opened_answers(group, key, hidden, me.channel, _ANSWERS, count)
        if 0 in factors:
            raise OutOfRange(me.channel.peer, _ANSWERS, "a masked cell is zero")
        return factors

    priors = [([*mine.prior, *empty.tolist()], layout.classes)]
    numerators = [(part, len(part)) for part in _stretches(group, hidden, _flat(mine.numerators))]
    factors = in_flight(priors + numerators, send, collect)
    # B computes the encrypted denominators from the numerators, so A sends nothing for them.
    for part in _stretches(group, hidden, _flat(mine.denominators)):
        factors += collect(len(part))
    return _assembled(layout, group, factors, empty)


def train_other(
    me: ComputingParty,
    key: PublicKey,
    layout: Layout,
    vector: Words,
    obfuscators: Obfuscators,
    recipe: Recipe = JOINT,
    own: Words | None = None,
) -> ExactModel:
    """B's side. Its counts leave it only under the encryption, multiplied by random factors."""
    group, hidden = Group.of(layout, key, recipe), exact.cell_bits(layout, recipe)
    _check_own(layout, vector)
    empty = _shares_of_empty(me, layout, vector)
    mine = exact.cells(layout, vector, 0, recipe, own)

    def receive(count: int) -> list[int]:
        return receive_ciphertexts(me.channel, _CELLS, key, count)

    def answered(ciphertexts: list[int], numbers: Sequence[int]) -> list[int]:
        factors = [unit(me.random, group.modulus) for _ in numbers]
        # (A's part + B's part) · factor: the first product under the encryption, the second one in the clear.
        products = [key.weighted([c], [factor]) for c, factor in zip(ciphertexts, factors, strict=True)]
        added = [number * factor for number, factor in zip(numbers, factors, strict=True)]
        sent = answers(group, key, hidden, products, added, me.random, obfuscators)
        send_ciphertexts(me.channel, _ANSWERS, key, sent)
        return [inverse(factor, group.modulus) for factor in factors]

    shares = answered(*_without_zeros(key, mine.prior, empty, receive(2 * layout.classes)))
    sums, at = _Sums(key, layout), 0
    for part in _stretches(group, hidden, _flat(mine.numerators)):
        theirs = receive(len(part))
        sums.add(theirs)
        shares += answered(theirs, part)
    for part in _stretches(group, hidden, _flat(mine.denominators)):
        shares += answered(sums.ciphertexts[at : at + len(part)], part)
        at += len(part)
    return _assembled(layout, group, shares, empty)


def in_flight(
    parts: Iterable[tuple[Part, int]], send: Callable[[Part], None], collect: Callable[[int], list[int]]
) -> list[int]:
    """Send every part and collect the answers in order, with a few parts sent ahead of the answers.

    So B has work while A decrypts, and little data waits to be read however large the dictionary is.
    """
    due: deque[int] = deque()
    collected = []
    for part, count in parts:
        send(part)
        due.append(count)
        if len(due) > _AHEAD:
            collected += collect(due.popleft())
    for count in due:
        collected += collect(count)
    return collected


class _Sums:
    """Encrypted sums: A's part of every denominator is the sum of the numerators of its attribute and class."""

    def __init__(self, key: PublicKey, layout: Layout) -> None:
        self._key = key
        every = np.arange(len(layout.rows) * layout.classes).reshape(-1, layout.classes)
        values = [rows - 1 for rows in layout.rows]
        self._where = iter(every.repeat(values, axis=0).reshape(-1).tolist())
        self.ciphertexts = [1] * every.size

    def add(self, numerators: list[int]) -> None:
        """Add the next numerators to the denominators to which they belong."""
        for numerator, at in zip(numerators, self._where, strict=False):  # `_where` last: zip drops none of it
            self.ciphertexts[at] = self._key.total([self.ciphertexts[at], numerator])


def _flat(blocks: Sequence[Numbers]) -> list[int]:
    return [cell for block in blocks for cell in block.reshape(-1)]


def _stretches(group: Group, hidden: int, cells: list[int]) -> list[list[int]]:
    """All cells in stretches that fill whole ciphertexts."""
    slots = group.slots(hidden)
    step = max(1, _STRETCH // slots) * slots
    return [cells[start : start + step] for start in range(0, len(cells), step)]


def _check_own(layout: Layout, vector: Words) -> None:
    """Refuse an own table with more rows than agreed: a comparison could wrap around."""
    most = layout.rows_each
    if sum(layout.class_counts(vector).tolist()) > most:
        raise BadData(f"The table has more rows than the {most} that a hospital may have.")


def _shares_of_empty(me: ComputingParty, layout: Layout, vector: Words) -> Bits:
    """XOR shares of z_c = [n_c = 0]. The sum of two counts is zero where both are zero, so one AND is enough."""
    mine = (layout.class_counts(vector) == 0).astype(np.uint8)
    nothing = np.zeros_like(mine)
    return gate(me, mine, nothing, 1) if me.role == A else gate(me, nothing, mine, 1)


def _without_zeros(key: PublicKey, own: Numbers, empty: Bits, theirs: list[int]) -> tuple[list[int], list[int]]:
    """Ciphertexts of A's part of n_c + z_c, and B's part of it.

    A zero would show, because zero times a factor is zero. So z_c = z_A ⊕ z_B is added. B adds z_A if its own z_B is 0,
    and 1 − z_A if it is 1. The number n_c + z_c is never zero, and `winners` sees to it that such a class loses.
    """
    counts, flags = theirs[: own.size], theirs[own.size :]
    both = [(flag, key.negated(flag)) for flag in flags]
    joint = [key.total([count, flag[mine]]) for count, flag, mine in zip(counts, both, empty.tolist(), strict=True)]
    return joint, list(own + empty.astype(object))


def answers(
    group: Group,
    key: PublicKey,
    hidden: int,
    ciphertexts: list[int],
    added: list[int],
    random: Randomness,
    obfuscators: Obfuscators,
) -> Iterator[int]:
    """B's answers: each encrypted number plus the number added to it, under its own veil, several in one ciphertext.

    A knows the randomness of the ciphertexts that it sent, and could test guesses of B's factors by the randomness of a
    power of them. So every answer is re-randomised by a fresh obfuscator.
    """
    slots, width = group.slots(hidden), group.width(hidden)
    for start in range(0, len(added), slots):
        part = slice(start, start + slots)
        veiled = (number + group.veil(random, hidden) for number in added[part])
        numbers = sum(number << width * slot for slot, number in enumerate(veiled))
        yield key.total([key.packed(ciphertexts[part], width), key.encrypt(numbers, fresh(obfuscators))])


def opened_answers(group: Group, key: SecretKey, hidden: int, other: Channel, step: str, count: int) -> list[int]:
    """A's side of `answers`: receive and decrypt `count` elements."""
    slots, elements = group.slots(hidden), []
    ciphertexts = receive_ciphertexts(other, step, key.public, -(-count // slots))
    for start, ciphertext in zip(range(0, count, slots), ciphertexts, strict=True):
        opened = group.opened(key.decrypt(ciphertext), min(slots, count - start), hidden)
        if not opened:
            raise OutOfRange(other.peer, step, "an answer holds more than it should")
        elements += opened
    return elements


def _assembled(layout: Layout, group: Group, factors: list[int], empty: Bits) -> ExactModel:
    """The model from one party's shares of the priors, of all numerators and of all denominators, in this order."""
    classes = layout.classes
    cells = np.array(factors, object).reshape(-1, classes)
    ones = np.ones((1, classes), object)
    missing = _sides(group, ones, ones[0])
    tables, at = [], 1
    for rows, denominators in zip(layout.rows, cells[-len(layout.rows) :], strict=True):
        tables.append(np.concatenate([_sides(group, cells[at : at + rows - 1], denominators), missing]))
        at += rows - 1
    return ExactModel(group, _sides(group, cells[:1], ones[0])[0], tuple(tables), empty)


def _sides(group: Group, numerators: Numbers, denominators: Numbers) -> Numbers:
    """The factors (V, S) of the two sides of a comparison, from numerators (V, K) and denominators (K,)."""
    if len(denominators) == 2:
        return numerators * denominators[::-1] % group.modulus
    return np.concatenate([numerators, np.broadcast_to(denominators, numerators.shape)], axis=1)


def run_paillier_training(
    layout: Layout, vectors: tuple[Words, Words], key: SecretKey, seeds: tuple[bytes, bytes]
) -> tuple[ExactModel, ExactModel]:
    """The whole training in memory: hospital A, which holds the key, and hospital B, with these count vectors."""
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers, for the few steps on bits, are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def holder() -> ExactModel:
        random = Randomness(seeds[A])
        me = ComputingParty(A, to_b, connect_pair(A, ahead_b, random), random)
        # By one AND, A and B compute XOR shares of which classes have no row at all. Then A sends its part of every
        # cell, each encrypted with its own obfuscator, and decrypts the answers: joint cells times factors that A does
        # not know.
        return train_holder(me, key, layout, vectors[A], obfuscators(key, random))

    def other() -> ExactModel:
        random = Randomness(seeds[B])
        me = ComputingParty(B, to_a, connect_pair(B, ahead_a, random), random)
        # B adds its own part of every cell under the encryption, multiplies by a fresh factor, and keeps the factor's
        # inverse. The product of both parties' numbers is the joint cell.
        return train_other(me, key.public, layout, vectors[B], obfuscators(key.public, random))

    model_a, model_b = memory.together(holder, other)
    return model_a, model_b
