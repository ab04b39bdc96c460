"""Training of the Paillier protocol: from two hospitals' counts to multiplicative shares of the joint cells.

For every cell A draws a random factor r. B gets r·cell as its share by oblivious transfer of the bits of its own part
(Gilboa, CRYPTO 1999), and A keeps 1/r. The product of both shares is the cell, and r·cell is uniform among the units
and so independent of the cell.

That holds whatever either hospital does. A gets nothing but B's choices under random ones. What B enters are bits, so
its part is never beyond its bounds, and no cell is zero, which r would not hide; with noise it can be, see
`_part_of_shares`. A part that came encrypted, as in the questions, could be any number: r times it would overflow its
mask, or vanish where it is the negative of A's part.

The plain way would share cells modulo N. Here they are shared modulo a public prime that is as small as the comparison
allows, if the key has room for the unreduced products. B's exponents and the entries of private questions are then as
long as the compared numbers and not as the key, and each answer of B carries several numbers. `docs/paillier.md` says
what this saves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Numbers, Words, slices
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.noise import clamped
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import BadData
from mixbayes.protocol.packing import bits_bytes, pack_bits, unpack_bits
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.exact import MASK_BITS, ROOM
from mixbayes.protocol.paillier.key import (
    PublicKey,
    from_bytes,
    inverse,
    prime_above,
    size_of,
    to_bytes,
    unit,
    unit_or_one,
)
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pads import FixedKeyHash, pad_words
from mixbayes.protocol.transfer.pool import connect_pair

_BITS, _CELLS = "bits of counts", "masked cells"
_PIECE_BYTES = 1 << 22
_SPARE_WORDS = 2
"""Words of a mask beyond those of the modulus, before the remainder is taken: it is within 2^-128 of uniform."""


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
        return prime if prime.width < key.bits else cls(key.modulus, bits, key.bits, small=False)

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def width(self) -> int:
        """Bits of a slot: x·y + x'·y', for elements x, y, x', y', is below 2^-MASK_BITS of what a slot holds."""
        return 2 * self.bits + 1 + MASK_BITS + 1

    @property
    def slots(self) -> int:
        """How many slots one plaintext has."""
        return (self.key_bits - 1) // self.width if self.small else 1

    def elements(self, plaintext: int, count: int) -> list[int]:
        """The elements in the first `count` slots. The last of these slots takes all that is above it, too."""
        digits = [(plaintext >> self.width * slot) % (1 << self.width) for slot in range(count - 1)]
        return [digit % self.modulus for digit in (*digits, plaintext >> self.width * (count - 1))]


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


def train_exactly(
    me: ComputingParty,
    group: Group,
    layout: Layout,
    vector: Words,
    recipe: Recipe = JOINT,
    own: Words | None = None,
) -> ExactModel:
    """Train as either hospital, from its counts, or from its share of N~ where there is noise.

    In a recipe `own` are its counts if it is the one that asks, and nothing if not.
    """
    noisy, bits = layout.terms.coins is not None, exact.cell_bits(layout, recipe)
    if noisy:
        vector, empty = clamped(me, layout, vector), np.zeros(layout.classes, np.uint8)  # which leaves no class empty
    else:
        _check_own(layout, vector)
        empty = _shares_of_empty(me, layout, vector)
    mine = exact.cells(layout, vector, int(me.role == A), recipe, own)
    numbers = np.concatenate([mine.prior, *(block.reshape(-1) for block in (*mine.numerators, *mine.denominators))])
    shares = list[int]()
    for piece in slices(numbers.size, max(1, _PIECE_BYTES // ((bits + 2) * size_of(group.modulus)))):
        part = _part_of_shares(me, numbers[piece], bits) if noisy else _part_of_counts(numbers[piece], bits)
        shares += _offered(me, group, part) if me.role == A else _taken(me, group, part.bits)
    return _assembled(layout, group, shares, empty)


@dataclass(frozen=True, slots=True, repr=False)
class _Part:
    """A hospital's part of some numbers: A's number and what B's last bit adds to it, or all of B's bits."""

    number: Numbers
    last: Numbers
    bits: Bits


def _part_of_counts(numbers: Numbers, bits: int) -> _Part:
    """A hospital's part of max(1, a + b), from A's number a or from B's number b, both 0 or more.

    This maximum is the cell, which the smoothing at A makes 1 or more, or 1 for a class without rows, because the
    product of r and zero would show. `winners` sees to it that such a class loses. B enters the bits of m = max(0, b −
    1) and the bit z = [b = 0], so b = m + 1 − z. The sum is a + m + 1 − z if a > 0, and 1 + m if a = 0: it is 1 or more
    whatever bits B enters.
    """
    entered = np.concatenate([_bits([max(0, b - 1) for b in numbers], bits), (numbers == 0).astype(np.uint8)[None]])
    return _Part(numbers + 1, -(numbers > 0).astype(object), entered)


def _part_of_shares(me: ComputingParty, numbers: Numbers, bits: int) -> _Part:
    """A hospital's part of a cell of N~: a + b − 2^bits · c, from additive shares a and b and the carry c of both.

    B enters the bits of b and its share of c. With other bits the number may be zero, which tells B whether the cell of
    N~ is what it guessed, and N~ may be known.
    """
    width = 1 << bits
    own = numbers % width
    carried = carry(me, ring.constant(own.tolist(), bits), bits)
    mine = carried.astype(object)
    # c = c_A + c_B · (1 − 2·c_A)
    return _Part(own - width * mine, width * (2 * mine - 1), np.concatenate([_bits(own.tolist(), bits), carried[None]]))


def _bits(numbers: list[int], bits: int) -> Bits:
    return np.array([[number >> place & 1 for number in numbers] for place in range(bits)], np.uint8).reshape(bits, -1)


def _offered(me: ComputingParty, group: Group, part: _Part) -> list[int]:
    """A's side: it offers every bit times what the bit counts. Returns the inverses of the factors r."""
    places, numbers = part.bits.shape
    factors = np.array([unit(me.random, group.modulus) for _ in range(numbers)], object)
    worth = factors * np.concatenate([_powers(places - 1).repeat(numbers, axis=1), part.last[None]])
    sent, _ = me.pool.take(part.bits.size)
    raw = me.channel.receive(_BITS, bits_bytes(part.bits.size))
    flips = unpack_bits(raw, part.bits.size, me.channel.peer, _BITS)
    # A mask for the bit 0 and one for the bit 1: B's random choice was the bit that it enters, or else it flips them.
    first, second = (_masks(group, me.pool.sent_hash, pads) for pads in sent.pads)
    zeros, ones = (np.where(flips, *pair).reshape(worth.shape) for pair in ((second, first), (first, second)))
    last = factors * part.number - zeros.sum(axis=0)
    offered = np.concatenate([worth + zeros - ones, last[None]]) % group.modulus
    me.channel.send(_CELLS, to_bytes(offered.reshape(-1), size_of(group.modulus)))
    return [inverse(factor, group.modulus) for factor in factors]


def _taken(me: ComputingParty, group: Group, choices: Bits) -> list[int]:
    """B's side: what A offers for these bits (bits + 1, n) of n numbers, which are cells times A's factors."""
    _, received = me.pool.take(choices.size)
    me.channel.send(_BITS, pack_bits(choices.reshape(-1) ^ received.choices))
    masks = _masks(group, me.pool.received_hash, received.pads).reshape(choices.shape)
    size, (places, count) = size_of(group.modulus), choices.shape
    offered = np.array(from_bytes(me.channel.receive(_CELLS, (places + 1) * count * size), size), object)
    worth, last = np.split(offered, [places * count])
    cells = (masks + choices.astype(object) * worth.reshape(choices.shape)).sum(axis=0) + last
    # No honest A makes these zero. An error would tell another one about the numbers that were entered.
    return [unit_or_one(cell, group.modulus) for cell in cells]


def _powers(bits: int) -> Numbers:
    """What each bit of a number counts, as a column."""
    return np.array([1 << place for place in range(bits)], object)[:, None]


def _masks(group: Group, hashing: FixedKeyHash, pads: Words) -> Numbers:
    """An element behind each of these pads (n, 2)."""
    words = ring.limbs(group.bits) + _SPARE_WORDS
    drawn = np.ascontiguousarray(pad_words(hashing, pads, words).T).view(np.uint8)
    return np.array(from_bytes(drawn.reshape(-1), 8 * words), object) % group.modulus


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
    layout: Layout, vectors: tuple[Words, Words], key: PublicKey, seeds: tuple[bytes, bytes]
) -> tuple[ExactModel, ExactModel]:
    """The whole training in memory: hospital A, which holds the key, and hospital B, with these count vectors."""
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")
    group = Group.of(layout, key)

    def holder() -> ExactModel:
        random = Randomness(seeds[A])
        me = ComputingParty(A, to_b, connect_pair(A, ahead_b, random), random)
        # By one AND, A and B compute XOR shares of which classes have no row at all. Then A draws a factor for every
        # cell and offers it, times what each bit of B's part counts. It keeps the factor's inverse.
        return train_exactly(me, group, layout, vectors[A])

    def other() -> ExactModel:
        random = Randomness(seeds[B])
        me = ComputingParty(B, to_a, connect_pair(B, ahead_a, random), random)
        # B takes by oblivious transfer what the bits of its part choose. The sum is the joint cell times the factor.
        return train_exactly(me, group, layout, vectors[B])

    model_a, model_b = memory.together(holder, other)
    return model_a, model_b
