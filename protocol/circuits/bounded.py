"""A shared word that should be below 2^width: is it, and what is it as an integer?

Cut both parties' words at bit `width`: A's is a + 2^width·u, B's is b + 2^width·v. One comparison of the private low
parts gives c = [a + b ≥ 2^width]. The word is then

    (a + b − 2^width·c) + 2^width·(u + v + c)   modulo 2^64,

and the first part is in [0, 2^width) whatever the parties hold. So the word is below 2^width exactly if u + v + c ≡ 0
modulo 2^(64 − width), which is if A's u + c_A equals B's −(v + c_B), with c = c_A + c_B. What each holds is masked by
the other's; it is compared where nobody sees it (`validity.py`).
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
    """The low parts of shared words (n,): this party's own, and its XOR share of their carry."""

    width: int
    low: Words
    carry: Bits

    def first(self, count: int) -> Cut:
        return Cut(self.width, self.low[:count], self.carry[:count])


def cut(me: ComputingParty, words: Words, width: int) -> Cut:
    """Cut additively shared words (n,) modulo 2^64 at a bit."""
    low = words & mask(width)
    return Cut(width, low, carry(me, low, width))


def excess(me: ComputingParty, words: Words, parts: Cut) -> Words:
    """Words (n,) that A and B hold alike exactly where the shared words are in range."""
    bits = ring.WORD - parts.width
    return held_alike(me, (words >> np.uint64(parts.width)) + to_arithmetic(me, parts.carry, bits), bits)


def held_alike(me: ComputingParty, words: Words, bits: int = ring.WORD) -> Words:
    """From additive shares modulo 2^bits, words that A and B hold alike exactly where these are shares of zero."""
    return (words if me.role == A else -words) & mask(bits)


def lifted(me: ComputingParty, parts: Cut, width: int) -> Words:
    """Additive shares modulo 2^width of a + b − 2^(cut)·c: of the words themselves, where they are in range."""
    wrap = weighted(me, parts.carry, [-1 << parts.width], width)
    return ring.add(_widened(parts.low, width), wrap, width)


def times(me: ComputingParty, parts: Cut, words: Words, width: int) -> Words:
    """Additive shares modulo 2^width of (a + b − 2^(cut)·c) · words; as many transfers as the cut has bits, and one."""
    shifts = np.stack([ring.shifted(words, i, width) for i in range(parts.width)], axis=words.ndim - 1)
    kept, got = cross(me, ring.bits(parts.low, parts.width), shifts, width)
    own = ring.multiply(_widened(parts.low, width), words, width)
    wrap = scale(me, parts.carry, ring.shifted(words, parts.width, width), width)
    return ring.subtract(ring.add(own, ring.total(ring.add(kept, got, width), width), width), wrap, width)


def _widened(words: Words, width: int) -> Words:
    """One word each, as elements of a wider ring."""
    if ring.limbs(width) == 1:
        return words
    wide = np.zeros((ring.limbs(width), words.size), np.uint64)
    wide[0] = words
    return wide
