"""N~: the joint counts with noise that neither computing party knows.

Each party has a seed of its own, and makes a private bit of it for every coin. A coin is the XOR of A's bit and B's, so
it is fair and unknown to whoever knows one of the two, and it is shared without a message. One correlated transfer
turns it into additive shares, times its weight (`weighted`). The noise on a number is the sum of its coins, less half
of all weights; `coins.py` says why several weights, and `gaussian_noise.py` how a sum of numbers gets its noise.

The same two seeds always give the same noise: if it is drawn again, the shares differ and the noise does not. N~ is
kept unclamped. A step that needs counts of a possible table, such as a logarithm, clamps them first.

Both parties are assumed to be semi-honest. The sender of a correlated transfer can cancel the coin that it sends, and
then knows it. Each party sends about half of the coins of every weight, and one of the two uniform parts below a unit.
So against a party that cheats in the draw about half of the noise remains, down to the lowest bit; the agreed ε and δ
then do not hold.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits, Words, mask, slices
from mixbayes.protocol.attributes.kind import Positive
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import scale, weighted
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.randomness import Randomness

IN_A_CLASS = 4
"""Imagined patients of every class, times the noise's standard deviation; `benchmarks/noise.py` measures it."""
_AT_ONCE = 1 << 13
"""Numbers that get their noise at a time, or that are clamped."""

Positives = Callable[[int], Positive]
"""max(0, x) of words of so many bits."""
Weigh = Callable[[Bits, list[int]], Words]
"""Rows of coins, each with the weight of its row: words of the same shape."""


def blurred(me: ComputingParty, layout: Layout, vector: Words, own: Randomness) -> Words:
    """This party's share of N~, from its share of the joint counts and from its own half of the coins."""

    def weigh(bits: Bits, weights: list[int]) -> Words:
        return weighted(me, bits, weights, ring.WORD)

    return _spread(layout, vector, _noise(layout, own.bits, weigh, int(me.role == A)))


def blurred_in_clear(layout: Layout, vector: Words, of_a: Randomness, of_b: Randomness) -> Words:
    """N~ itself, from the joint counts and both halves of the coins."""

    def bits(*shape: int) -> Bits:
        return of_a.bits(*shape) ^ of_b.bits(*shape)

    def weigh(bits: Bits, weights: list[int]) -> Words:
        return bits * np.array(weights, np.uint64)[:, None]

    return _spread(layout, vector, _noise(layout, bits, weigh, 1))


def tossed(me: ComputingParty, coins: Coins, count: int, own: Randomness) -> Words:
    """This party's shares of noise on so many numbers, and half of all weights above it: the sums of their coins."""

    def weigh(bits: Bits, weights: list[int]) -> Words:
        return weighted(me, bits, weights, ring.WORD)

    return _tossed(coins, count, own.bits, weigh)


def tossed_in_clear(coins: Coins, count: int, of_a: Randomness, of_b: Randomness) -> Words:
    """The same sums themselves, from both halves of the coins."""

    def bits(*shape: int) -> Bits:
        return of_a.bits(*shape) ^ of_b.bits(*shape)

    return _tossed(coins, count, bits, lambda bits, weights: bits * np.array(weights, np.uint64)[:, None])


def clamped(me: ComputingParty, layout: Layout, vectors: Words) -> Words:
    """Shares of counts that training can take, from shares of N~ (..., size)."""
    return _clamped(layout, vectors, shared_positive(me), int(me.role == A))


def clamped_in_clear(layout: Layout, vectors: Words) -> Words:
    """The same counts from N~ itself."""
    return _clamped(layout, vectors, clear_positive, 1)


def clamped_classes(me: ComputingParty, layout: Layout, counts: Words) -> Words:
    """The class counts alone (..., K)."""
    return _clamped_classes(layout, counts, shared_positive(me), int(me.role == A))


def clamped_classes_in_clear(layout: Layout, counts: Words) -> Words:
    """The same in the clear."""
    return _clamped_classes(layout, counts, clear_positive, 1)


def shared_positive(me: ComputingParty) -> Positives:
    """On shares, max(0, x) of signed words x of as many bits as are given."""
    return lambda bits: lambda words: _positive(me, words, bits)


def clear_positive(bits: int) -> Positive:
    """The same in the clear."""
    return lambda words: np.maximum(words.view(np.int64), 0).view(np.uint64)


def _noise(layout: Layout, bits: Callable[..., Bits], weigh: Weigh, one: int) -> Words:
    """The noise on every sum of the layout: of the class counts, then row by row of each attribute's block."""
    units, coins = _units(layout), layout.terms.coins
    if coins is None:
        raise LocalError("There is no noise without coins.")
    noise = _tossed(coins, units.size, bits, weigh)
    noise = noise - np.uint64(one * coins.bound) << units.astype(np.uint64)
    for unit in np.unique(units[units > 0]).tolist():
        # Below the unit the noise is uniform; twice, so that each party sends one whole uniform part.
        of_unit = np.flatnonzero(units == unit)
        weights = [1 << place for place in range(unit)] * 2
        below = [_coins(bits, weigh, weights, part) for part in _parts(of_unit.size)]
        noise[of_unit] += np.concatenate(below) - np.uint64(one << unit)
    return noise


def _tossed(coins: Coins, count: int, bits: Callable[..., Bits], weigh: Weigh) -> Words:
    # A transfers the first half of the rows and B the second: so each transfers about half of the coins of a weight.
    weights = coins.weights[::2] + coins.weights[1::2]
    return np.concatenate([_coins(bits, weigh, weights, part) for part in _parts(count)])


def _coins(bits: Callable[..., Bits], weigh: Weigh, weights: list[int], count: int) -> Words:
    """For each of so many numbers the sum of its coins."""
    return weigh(bits(len(weights), count), weights).sum(axis=0, dtype=np.uint64)


def _parts(count: int) -> list[int]:
    return [part.stop - part.start for part in slices(count, _AT_ONCE)]


def _units(layout: Layout) -> NDArray[np.int64]:
    units = [[0], *(attribute.units for attribute in layout.dictionary.attributes)]
    return np.repeat(np.concatenate([np.array(part, np.int64) for part in units]), layout.classes)


def as_in_noisy(layout: Layout, vectors: Words) -> Words:
    """Counts (..., size) as they stand in N~, without noise: to be added to it, or to be subtracted."""
    if not layout.terms.coins:
        return vectors
    none = np.zeros(_units(layout).size, np.uint64)
    return np.stack([_spread(layout, one, none) for one in vectors.reshape(-1, layout.size)]).reshape(vectors.shape)


def _spread(layout: Layout, vector: Words, noise: Words) -> Words:
    found = np.empty_like(vector)
    rows = noise.reshape(-1, layout.classes)
    layout.class_counts(found)[:] = layout.class_counts(vector) + rows[0]
    at = 1
    for (attribute, block), (_, into) in zip(layout.blocks(vector), layout.blocks(found), strict=True):
        own = len(attribute.units)
        into[:] = attribute.blurred(block, rows[at : at + own])
        at += own
    return found


def _clamped(layout: Layout, vectors: Words, positive: Positives, one: int) -> Words:
    found, bits = np.empty_like(vectors), _bits(layout)
    layout.class_counts(found)[:] = _clamped_classes(layout, layout.class_counts(vectors), positive, one)
    before, after = ([list(layout.blocks(one)) for one in some.reshape(-1, layout.size)] for some in (vectors, found))
    for kind, positions in layout.by_kind():
        own = positive(min(ring.WORD, bits + kind.extra_bits))
        places = [(vector, at) for vector in range(len(before)) for at in positions]
        done = kind.clamped([before[vector][at][1] for vector, at in places], own, one, layout.spread)
        for (vector, at), block in zip(places, done, strict=True):
            after[vector][at][1][:] = block
    return found


def _clamped_classes(layout: Layout, counts: Words, positive: Positives, one: int) -> Words:
    # No class is left without patients, which would decide against it alone.
    imagined = np.uint64(IN_A_CLASS * layout.spread * one)
    return positive(_bits(layout))(np.ascontiguousarray(counts)) + imagined


def _bits(layout: Layout) -> int:
    """Of a signed count with its noise."""
    return layout.most.bit_length() + 1


def _positive(me: ComputingParty, words: Words, bits: int) -> Words:
    """Additive shares of max(0, x) of signed words x of this many bits."""
    flat = words.reshape(-1)
    parts = (flat[part] for part in slices(flat.size, _AT_ONCE))
    return np.concatenate([_one_positive(me, part, bits) for part in parts]).reshape(words.shape)


def _one_positive(me: ComputingParty, words: Words, bits: int) -> Words:
    below = negative(me, words & mask(bits), bits)
    return words - scale(me, below, words, ring.WORD)
