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
from mixbayes.protocol.circuits.products import cross, gate, product_of_bits, to_arithmetic, weighted
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


def cut_small(me: ComputingParty, words: Words, width: int, drop: int = 0) -> Cut:
    """Cut words (n,) that are shared modulo 2^width, are below 2^(width − 1), and lose their lowest `drop` bits.

    If the shares wrap around, one or both have their top bit set: two shares without it add up to less than 2^width,
    and one with it alone would make a sum of 2^(width − 1) or more. So one AND takes the place of a comparison.

    Of a word of which bits are dropped, the shares add up to the quotient by 2^drop or to one less, because the carry
    of the low bits is missing.
    """
    top = _top(words, width)
    first = top if me.role == A else np.zeros_like(top)
    return Cut(width - drop, ring.shifted_right(words, drop, width), top ^ gate(me, first, top ^ first, 1))


def widened(me: ComputingParty, words: Words, width: int, wider: int, drop: int = 0) -> Words:
    """Additive shares modulo 2^wider of what `cut_small` cuts: words (rows, n) or (n,), in one round."""
    top, low = _top(words, width), ring.shifted_right(words, drop, width)
    if wider <= width - drop:
        return ring.low_bits(low, width - drop, wider)
    weight = 1 << width - drop
    both = product_of_bits(me, top.reshape(1, -1), [-weight], wider).reshape(-1, *top.shape)
    own = top * ring.constant([weight], wider).reshape(-1, *(1 for _ in top.shape))
    wide = ring.widened(low, width - drop, wider)
    wraps = ring.add(own, both, wider) if ring.limbs(wider) > 1 else own[0] + both[0]
    return ring.subtract(wide, wraps, wider)


def _top(words: Words, width: int) -> Bits:
    limb = words if ring.limbs(width) == 1 else words[-1]
    return (limb >> np.uint64((width - 1) % ring.WORD)).astype(np.uint8)


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
    return ring.add(ring.widened(parts.low, parts.width, width), wrap, width)


def times(me: ComputingParty, parts: Cut, words: Words, width: int) -> Words:
    """Additive shares modulo 2^width of (a + b − 2^(cut)·c) times words (n,), or (words, n) that it multiplies alike.

    It takes one round, and a transfer each way for every bit of the cut and one more.
    """
    # (a + b) · (w_A + w_B): own products alone, cross terms bit by bit of the low parts (Gilboa, CRYPTO 1999). Bit i of
    # the receiver's part chooses the sender's word and counts 2^i. In the row behind them the XOR-shared c chooses.
    if parts.width >= width:  # 2^(cut)·c is zero in this ring
        parts = Cut(width, parts.low & mask(width), np.zeros_like(parts.carry))
    places = range(parts.width + 1)
    chosen = np.concatenate([ring.bits(parts.low, parts.width), parts.carry[None]])
    rows = [words] * parts.width + [ring.signed(parts.carry, words, width)]
    both = cross(me, chosen, np.stack(rows, axis=-2), width, [max(1, width - i) for i in places])
    terms = ring.shifted_each(ring.add(*both, width), [min(i, width - 1) for i in places], width)
    # Now the last row lacks the product of the own share of c and the own words, as the others lack that of a and w_A.
    wrap = ring.add(terms[..., -1, :], ring.shifted(parts.carry * words, parts.width, width), width)
    low = ring.widened(parts.low, parts.width, width)
    low = low if low.ndim == words.ndim else low[..., None, :]
    own = ring.multiply(np.broadcast_to(low, words.shape), words, width)
    return ring.subtract(ring.add(own, ring.total_of_rows(terms[..., :-1, :], width), width), wrap, width)
