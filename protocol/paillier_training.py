"""Training of the Paillier protocol: from two hospitals' counts to multiplicative shares of the joint cells.

Protocol, section 5, steps 1 to 3. A holds the secret key and sends its part of every cell encrypted; B adds its own
part, multiplies by a random factor, and A decrypts the product. A keeps that, B the factor's inverse.

Where the design shares cells modulo N, they are shared here modulo a public prime as small as the comparison allows, if
the key has room for the unreduced products. B's exponents, and the entries of private questions, are then as long as
the numbers compared and not as the key; B's answers carry several cells each. `docs/paillier.md` says what this saves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol import exact, memory
from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.dictionary import Dictionary
from mixbayes.protocol.errors import BadData, OutOfRange
from mixbayes.protocol.exact import MASK_BITS, ROOM, Cells
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.paillier_key import (
    Numbers,
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
from mixbayes.protocol.party import A, B, Party
from mixbayes.protocol.pool import connect_pair
from mixbayes.protocol.products import gate
from mixbayes.protocol.randomness import Randomness

_CELLS, _ANSWERS = "encrypted cells", "masked cells"
_STRETCH = 32
"""Ciphertexts to a message, so that A decrypts while B still computes."""


@dataclass(frozen=True, slots=True)
class Group:
    """The integers modulo a public number, where cells are shared multiplicatively."""

    modulus: int
    comparison_bits: int
    key_bits: int
    small: bool
    """The modulus is a prime that leaves the key room for products; otherwise it is the key's own."""

    @classmethod
    def of(cls, dictionary: Dictionary, key: PublicKey) -> Group:
        """The group for this dictionary and key, or a refusal."""
        bits = exact.fitting_bits(dictionary, key.bits)
        prime = cls(prime_above(1 << bits + ROOM - 1), bits, key.bits, small=True)
        return prime if prime.width(prime.product_bits) < key.bits else cls(key.modulus, bits, key.bits, small=False)

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def product_bits(self) -> int:
        """Two products of two elements, a mask included, are below the modulus times 2 to this."""
        return self.bits + 1

    def veil(self, random: Randomness, hidden: int) -> int:
        """A multiple of the modulus, to be added to a number below the modulus times 2^hidden.

        It leaves the remainder and hides the rest. Modulo N there is no rest.
        """
        return self.modulus * below(random, 1 << hidden + MASK_BITS) if self.small else 0

    def width(self, hidden: int) -> int:
        """Bits of such a number with its veil."""
        return self.bits + hidden + MASK_BITS + 1

    def slots(self, hidden: int) -> int:
        """How many of them one plaintext holds."""
        return (self.key_bits - 1) // self.width(hidden) if self.small else 1

    def opened(self, plaintext: int, count: int, hidden: int) -> list[int]:
        """The elements in the slots of a decrypted answer, or nothing if there is more in it."""
        if not self.small:
            return [plaintext]
        width = self.width(hidden)
        if plaintext >> width * count:
            return []
        return [(plaintext >> width * slot) % (1 << width) % self.modulus for slot in range(count)]


@dataclass(frozen=True, slots=True, repr=False)
class ExactModel:
    """One party's factor of every number that a comparison multiplies.

    Per attribute (V + 1, S), the last row, "missing", being ones; S = 2K, the classes' numerators and denominators.
    With two classes S = 2: the denominators are moved over once for all, num_0·den_1 against num_1·den_0. `start` (S,)
    are the priors, and `empty` (K,) XOR shares of [n_c = 0].
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


def train_holder(me: Party, key: SecretKey, layout: Layout, vector: Words, obfuscators: Obfuscators) -> ExactModel:
    """A's part: its own counts, and the key by which it decrypts."""
    group = Group.of(layout.dictionary, key.public)
    _check_own(layout, vector)
    empty = _shares_of_empty(me, layout, vector)
    own = exact.cells(layout, vector, 1)
    for numbers in _sent_by_holder(own, empty):
        for start in range(0, len(numbers), _STRETCH):
            part = [key.public.encrypt(number, fresh(obfuscators)) for number in numbers[start : start + _STRETCH]]
            send_ciphertexts(me.channel, _CELLS, key.public, part)
    hidden = exact.cell_bits(layout.dictionary)
    factors = [_decrypted(me.channel, key, group, hidden, count) for count in _answered(layout)]
    return _assembled(layout, group, factors, empty)


def train_other(me: Party, key: PublicKey, layout: Layout, vector: Words, obfuscators: Obfuscators) -> ExactModel:
    """B's part: its own counts, which leave it only under factors of its choosing."""
    group = Group.of(layout.dictionary, key)
    _check_own(layout, vector)
    empty = _shares_of_empty(me, layout, vector)
    own = exact.cells(layout, vector, 0)
    classes, hidden = layout.classes, exact.cell_bits(layout.dictionary)

    def answered(ciphertexts: list[int], numbers: Sequence[int]) -> list[int]:
        factors = [unit(me.random, group.modulus) for _ in numbers]
        _send_masked(me, key, group, hidden, ciphertexts, numbers, factors, obfuscators)
        return [inverse(factor, group.modulus) for factor in factors]

    theirs = _received(me.channel, key, 2 * classes)
    joint, added = _without_zeros(key, own.prior, empty, theirs[:classes], theirs[classes:])
    shares = [answered(joint, added)]
    for numerators, denominators in zip(own.numerators, own.denominators, strict=True):
        theirs = _received(me.channel, key, numerators.size)
        sums = [key.total(theirs[c::classes]) for c in range(classes)]
        shares.append(answered(theirs + sums, [*numerators.reshape(-1), *denominators]))
    return _assembled(layout, group, shares, empty)


def _check_own(layout: Layout, vector: Words) -> None:
    """More rows than agreed would let a comparison wrap around."""
    most = layout.dictionary.max_rows
    if sum(layout.class_counts(vector).tolist()) > most:
        raise BadData(f"The table has more rows than the {most} that all hospitals together may have.")


def _shares_of_empty(me: Party, layout: Layout, vector: Words) -> Bits:
    """XOR shares of [n_c = 0]: a sum of counts is zero where both are."""
    mine = (layout.class_counts(vector) == 0).astype(np.uint8)
    nothing = np.zeros_like(mine)
    return gate(me, mine, nothing, 1) if me.role == A else gate(me, nothing, mine, 1)


def _sent_by_holder(own: Cells, empty: Bits) -> Iterator[list[int]]:
    """What A encrypts, block by block. B adds up the denominators itself."""
    yield [*own.prior, *empty.tolist()]
    for numerators in own.numerators:
        yield list(numerators.reshape(-1))


def _answered(layout: Layout) -> Iterator[int]:
    """How many cells B answers in each block: the priors, then each attribute's numerators and denominators."""
    yield layout.classes
    for rows in layout.rows:
        yield rows * layout.classes


def _received(other: Channel, key: PublicKey, count: int) -> list[int]:
    return [
        ciphertext
        for start in range(0, count, _STRETCH)
        for ciphertext in receive_ciphertexts(other, _CELLS, key, min(_STRETCH, count - start))
    ]


def _without_zeros(
    key: PublicKey, own: Numbers, empty: Bits, counts: list[int], flags: list[int]
) -> tuple[list[int], list[int]]:
    """Ciphertexts of A's part of n_c + z_c, and B's part: z_A ⊕ z_B is z_A, or 1 − z_A."""
    both = [(flag, key.negated(flag)) for flag in flags]
    joint = [key.total([count, flag[mine]]) for count, flag, mine in zip(counts, both, empty.tolist(), strict=True)]
    return joint, list(own + empty.astype(object))


def _send_masked(
    me: Party,
    key: PublicKey,
    group: Group,
    hidden: int,
    ciphertexts: list[int],
    own: Sequence[int],
    factors: list[int],
    obfuscators: Obfuscators,
) -> None:
    """(A's part + own) · factor for every cell, several to a ciphertext, each under a veil of its own."""
    slots, width = group.slots(hidden), group.width(hidden)
    for start in range(0, len(factors), slots):
        part = slice(start, start + slots)
        multiplied = [key.weighted([c], [r]) for c, r in zip(ciphertexts[part], factors[part], strict=True)]
        added = [number * r + group.veil(me.random, hidden) for number, r in zip(own[part], factors[part], strict=True)]
        send_ciphertexts(me.channel, _ANSWERS, key, [masked(key, multiplied, added, width, fresh(obfuscators))])


def masked(key: PublicKey, ciphertexts: list[int], added: Sequence[int], width: int, obfuscator: int) -> int:
    """Each plaintext plus its number, in slots of one ciphertext with new randomness.

    A knows the randomness of what it had sent: raised to a factor and left alone, it would let A test guesses.
    """
    numbers = sum(number << width * slot for slot, number in enumerate(added))
    return key.total([key.packed(ciphertexts, width), key.encrypt(numbers, obfuscator)])


def _decrypted(other: Channel, key: SecretKey, group: Group, hidden: int, count: int) -> list[int]:
    """A's factors of so many cells."""
    slots = group.slots(hidden)
    factors = []
    for start in range(0, count, slots):
        (answer,) = receive_ciphertexts(other, _ANSWERS, key.public, 1)
        opened = group.opened(key.decrypt(answer), min(slots, count - start), hidden)
        if not opened or 0 in opened:
            raise OutOfRange(other.peer, _ANSWERS, "a masked cell is zero or too long")
        factors += opened
    return factors


def _assembled(layout: Layout, group: Group, factors: list[list[int]], empty: Bits) -> ExactModel:
    classes = layout.classes
    blocks = [np.array(block, object).reshape(-1, classes) for block in factors]
    ones = np.ones((1, classes), object)
    start = _sides(group, blocks[0], ones[0])
    missing = _sides(group, ones, ones[0])
    tables = (np.concatenate([_sides(group, block[:-1], block[-1]), missing]) for block in blocks[1:])
    return ExactModel(group, start[0], tuple(tables), empty)


def _sides(group: Group, numerators: Numbers, denominators: Numbers) -> Numbers:
    """(V, K) and (K,) as the factors of a comparison's sides, (V, S)."""
    if len(denominators) == 2:
        return numerators * denominators[::-1] % group.modulus
    return np.concatenate([numerators, np.broadcast_to(denominators, numerators.shape)], axis=1)


def run_paillier_training(
    layout: Layout, vectors: tuple[Words, Words], key: SecretKey, seeds: tuple[bytes, bytes]
) -> tuple[ExactModel, ExactModel]:
    """Hospitals A, who holds the key, and B, with these count vectors, both in memory."""
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers, for the few steps on bits, are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def holder() -> ExactModel:
        random = Randomness(seeds[A])
        me = Party(A, to_b, connect_pair(A, ahead_b, random), random)
        # On bits, A and B find shares of which classes have no row at all. Then A sends its part of every cell, each
        # under an obfuscator of its own, and decrypts what comes back: the joint cell times a factor A does not know.
        return train_holder(me, key, layout, vectors[A], obfuscators(key, random))

    def other() -> ExactModel:
        random = Randomness(seeds[B])
        me = Party(B, to_a, connect_pair(B, ahead_a, random), random)
        # B has A's modulus. It adds its own part of every cell under the encryption, multiplies by a fresh factor,
        # and keeps the factor's inverse. The product of both parties' numbers is the joint cell.
        return train_other(me, key.public, layout, vectors[B], obfuscators(key.public, random))

    model_a, model_b = memory.together(holder, other)
    return model_a, model_b
