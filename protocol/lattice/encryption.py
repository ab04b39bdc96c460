"""Ring-LWE encryption of tables of words, and masked sums of their words (Lyubashevsky, Peikert and Regev, 2010).

The ring is Z[X]/(X^N + 1) with q = 2^(24·L). A key is a polynomial s with coefficients -1, 0 and 1. An encryption of
a polynomial m of words modulo 2^width is (a, b) with b = e + (q / 2^width)·m − a·s, where a is uniform, the expansion
of a public seed, and e is small. b looks uniform to whoever lacks s.

Somebody with polynomials p_k of coefficients -1, 0 and 1 computes from encryptions of m_k

    c1 = Σ p_k·a_k + u·a' + e',     c0 = Σ p_k·b_k + u·b' + R,

where (a', b') is an encryption of zero, u and e' are fresh and small, and R is fresh and uniform modulo q. The holder
of the key gets c1 and some coefficients of c0. There it finds c0 + c1·s = (q / 2^width)·Σ p_k·m_k + small + R. Its
share is the highest bits of that, and the other share is the highest bits of −R, which a third role may be given as a
seed. The shares add up to Σ p_k·m_k modulo 2^width, unless the small part carries into the highest bits. Then they are
off by one. R is uniform, so the probability is the size of the small part times 2^width / q. The standard deviation of
the small part is √(10.5·(4N/3 + w)) if the p_k have w coefficients that are not 0: below 2^11 for up to 47 polynomials,
and for more where rows name few of the words. `Parameters` keeps the probability below 2^-`GAP`.

**What is hidden.** From whoever has no key: m_k, as far as ring-LWE is hard. From the holder of the key: p_k, also if
it departs from the protocol. c0 is uniform because of R. c1 looks uniform because (a', u·a' + e') is a ring-LWE sample
under the secret u, and a' is the output of a pseudo-random generator, whatever seed the holder gives.

**How long a key lasts.** The holder decrypts whatever it receives. Somebody who sends other polynomials than such sums
may learn something about the key from what the holder opens: at most as many bits as that has (`OpenedBits`), even with
the help of the party with which the holder computes, if that one departs from the protocol too. A known coefficient of
s is like a smaller dimension ("LWE with side information", Dachman-Soled, Ducas, Gong and Rossi, CRYPTO 2020), and one
coefficient has log2 3 bits. `Parameters.rows` bounds the rows of one key so that the remaining dimension still gives
128 bits of security.

Parameters follow table 1 of the Homomorphic Encryption Standard (Albrecht et al., 2018): 128 bits of security against
classical attacks with ternary keys and errors of standard deviation 3.2 are given by dimension 4096 up to q = 2^109,
and in proportion. Errors are centred binomial with standard deviation √10.5 = 3.24.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np

from mixbayes.protocol.arrays import Bytes, Words, mask
from mixbayes.protocol.lattice.polynomials import (
    LIMB,
    LIMB_BYTES,
    Integers,
    Limbs,
    Spectrum,
    carried,
    drawn,
    from_words,
    integers,
    spectrum,
    sum_of_products,
    top_bits,
)
from mixbayes.protocol.randomness import SEED_BYTES, Randomness

ANY_ROWS = 1 << 40
"""More than anybody asks about."""
GAP = 38
"""A sum is off by one with a probability below 2^-GAP."""
_SMALL = 11
"""Bits of the standard deviation of what is small."""
_BITS_A_DIMENSION = 27 / 1024
"""Of q, at 128 bits of security."""
_COINS = 21
"""Of a centred binomial number: the difference of the heads of so many coins and of as many others."""


@dataclass(frozen=True, slots=True)
class OpenedBits:
    """The bits that a key's holder opens of what it decrypts: its share of a row's answer, or of sums over rows."""

    of_a_row: int
    in_all: int | None = None
    """Of all rows together, where that is bounded."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The dimension N and the limbs of q, which are public."""

    dimension: int
    limbs: int

    def holds(self, width: int) -> bool:
        """Whether words of so many bits leave the gap above what is small."""
        return width + GAP + _SMALL <= LIMB * self.limbs

    def rows(self, opened: OpenedBits) -> int:
        """Rows that may be asked about under one key."""
        spare = max(0, int((self.dimension - LIMB * self.limbs / _BITS_A_DIMENSION) * log2(3)))
        return spare // opened.of_a_row if opened.in_all is None or opened.in_all > spare else ANY_ROWS

    @property
    def polynomial_bytes(self) -> int:
        return LIMB_BYTES * self.limbs * self.dimension


SIZES = Parameters(4096, 4), Parameters(8192, 4), Parameters(8192, 5)
"""The smallest first. Longer words need more limbs, and more rows a larger dimension."""


@dataclass(frozen=True, slots=True, repr=False)
class Encrypted:
    """Encryptions of several polynomials, the last one of zero: the seed of every a, and every b (k, L, N)."""

    seed: bytes
    bodies: Limbs


class Key:
    """A key, for one table and the rows that are asked about it."""

    def __init__(self, parameters: Parameters, random: Randomness) -> None:
        self._parameters = parameters
        self._secret = spectrum(ternary(parameters, random))

    def encrypt(self, polynomials: Words, width: int, random: Randomness) -> Encrypted:
        """Encryptions of polynomials (k, N) of words below 2^width, and of zero."""
        of, seed, count = self._parameters, random.bytes(SEED_BYTES), len(polynomials) + 1
        sums = -integers(spectrum(uniform(of, seed, count)) * self._secret)
        sums[:, 0] += small(of, random, count)
        sums[:-1] += from_words(polynomials, LIMB * of.limbs - width, of.limbs)
        return Encrypted(seed, carried(sums))

    def opened(self, c1: Limbs, c0: Limbs, places: Integers) -> Limbs:
        """c0 + c1·s (L, m) of masked sums, from their c1 (L, N), and their c0 (L, m) at these places."""
        return carried(integers(spectrum(c1) * self._secret)[:, places] + c0)

    def shares(self, c1: Limbs, c0: Limbs, places: Integers, width: int) -> Words:
        """The shares of masked sums, at these places."""
        return top_bits(self.opened(c1, c0, places), width)


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Encryptions, ready for sums: the transforms of every a and of every b, (k, L, N/2) both."""

    parameters: Parameters
    masks: Spectrum
    bodies: Spectrum

    @classmethod
    def of(cls, parameters: Parameters, encrypted: Encrypted) -> Table:
        masks = uniform(parameters, encrypted.seed, len(encrypted.bodies))
        return cls(parameters, spectrum(masks), spectrum(encrypted.bodies))

    def masked_sum(self, factors: Spectrum, places: Integers, mask: Limbs, random: Randomness) -> tuple[Limbs, Limbs]:
        """c1 (L, N) and c0 (L, m) at these places, from the transforms (k − 1, N/2) of the p_k and R (L, m)."""
        of = self.parameters
        factors = np.concatenate([factors, spectrum(ternary(of, random))[None]])
        c1, c0 = sum_of_products(self.masks, factors), sum_of_products(self.bodies, factors)
        c1[0] += small(of, random, 1)[0]
        return carried(c1), carried(c0[:, places] + mask)


def masks(parameters: Parameters, seed: bytes, count: int) -> Limbs:
    """R for so many sums, (L, count)."""
    return drawn(_drawn(seed, 4 * parameters.limbs * count), parameters.limbs, count)


def shares_of_masks(parameters: Parameters, seed: bytes, count: int, width: int) -> Words:
    """The shares that complete those of the key's holder."""
    return -top_bits(masks(parameters, seed, count), width) & mask(width)


def uniform(parameters: Parameters, seed: bytes, count: int) -> Limbs:
    """So many uniform polynomials (count, L, N), the expansion of a public seed."""
    shape = count, parameters.limbs, parameters.dimension
    return drawn(_drawn(seed, 4 * count * parameters.limbs * parameters.dimension), *shape)


def ternary(parameters: Parameters, random: Randomness) -> Integers:
    """A polynomial with uniform coefficients -1, 0 and 1."""
    return (random.words(parameters.dimension) % np.uint64(3)).astype(np.int64) - 1


def small(parameters: Parameters, random: Randomness, count: int) -> Integers:
    """Polynomials (count, N) with centred binomial coefficients."""
    coins = random.words(count, parameters.dimension)
    heads, others = coins & mask(_COINS), coins >> np.uint64(_COINS) & mask(_COINS)
    return np.bitwise_count(heads).astype(np.int64) - np.bitwise_count(others)


def _drawn(seed: bytes, count: int) -> Bytes:
    return np.frombuffer(Randomness(seed).bytes(count), np.uint8)
