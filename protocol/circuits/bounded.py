"""The range check: is a shared word modulo 2^64 below 2^width, and which integer is it then?

Cut both parties' shares at bit `width`: A's is a + 2^width·u, B's is b + 2^width·v. One comparison of the private low
parts gives XOR shares of c = [a + b ≥ 2^width]. The word is then

    (a + b − 2^width·c) + 2^width·(u + v + c)   modulo 2^64,

and the first part lies in [0, 2^width) whatever the parties hold. So the word is below 2^width exactly if u + v + c ≡ 0
modulo 2^(64 − width), that is, if A's u + c_A equals B's −(v + c_B), where c_A + c_B = c. The two sides differ by what
the word has above the cut, so neither party may show its side. `bayes/validity.py` compares them on shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.products import cross, scale, to_arithmetic, weighted
from mixbayes.protocol.computing_party import A, ComputingParty


@dataclass(frozen=True, slots=True, repr=False)
class Cut:
    """The low parts of shared words (n,): this party's own low bits, and its XOR share of the carry."""

    width: int
    low: Words
    carry: Bits

    def first(self, count: int) -> Cut:
        return Cut(self.width, self.low[:count], self.carry[:count])


def cut(me: ComputingParty, words: Words, width: int) -> Cut:
    """Cut additively shared words (n,) modulo 2^64 at bit `width`."""
    low = words & mask(width)
    return Cut(width, low, carry(me, low, width))


def excess(me: ComputingParty, words: Words, parts: Cut) -> Words:
    """Words (n,) that are equal at A and B exactly where the shared words are in range."""
    bits = ring.WORD - parts.width
    return held_alike(me, (words >> np.uint64(parts.width)) + to_arithmetic(me, parts.carry, bits), bits)


def held_alike(me: ComputingParty, words: Words, bits: int = ring.WORD) -> Words:
    """From additive shares modulo 2^bits, words that are equal at A and B exactly where these are shares of zero."""
    return (words if me.role == A else -words) & mask(bits)


def lifted(me: ComputingParty, parts: Cut, width: int) -> Words:
    """Additive shares modulo 2^width of a + b − 2^(cut)·c, which is the word itself where that is in range.

    The words change their modulus here: from 2^64 to one that fits the numbers made of them.
    """
    wrap = weighted(me, parts.carry, [-1 << parts.width], width)
    return ring.add(_widened(parts.low, width), wrap, width)


def times(me: ComputingParty, parts: Cut, words: Words, width: int) -> Words:
    """Additive shares modulo 2^width of (a + b − 2^(cut)·c) · words.

    A product takes one transfer each way for every bit of the cut, and one more.
    """
    # (a + b) · (w_A + w_B): own products alone, cross terms bit by bit of the low parts (Gilboa, as in `multiply`).
    shifts = np.stack([ring.shifted(words, i, width) for i in range(parts.width)], axis=words.ndim - 1)
    as_sender, as_receiver = cross(me, ring.bits(parts.low, parts.width), shifts, width)
    own = ring.multiply(_widened(parts.low, width), words, width)
    products = ring.add(own, ring.total(ring.add(as_sender, as_receiver, width), width), width)
    # Now `products` are shares of (a + b) · words, which is too large by 2^(cut)·c · words.
    wrap = scale(me, parts.carry, ring.shifted(words, parts.width, width), width)
    return ring.subtract(products, wrap, width)


def _widened(words: Words, width: int) -> Words:
    """Elements of one word, as elements of a wider ring."""
    if ring.limbs(width) == 1:
        return words
    wide = np.zeros((ring.limbs(width), words.size), np.uint64)
    wide[0] = words
    return wide
