"""N~: the joint counts with noise that neither computing party knows, even if it cheats in the draw.

The noise on a number is the sum of its coins, less half of all weights: `tossing.py` says how they are tossed and
checked, `coins.py` why several weights, and `gaussian_noise.py` how a sum of numbers gets its noise. Below the unit of
such a sum each party adds a uniform part of its own to its share. The other one cannot take that away, and one such
part is enough.

Each party has a seed of its own. The same two seeds always give the same noise. N~ is kept unclamped. A step that needs
counts of a possible table, such as a logarithm, clamps them first.

**Against whom.** The promise is about N~, so it covers what is computed from N~ and from the inputs of those who cheat:
the joint model, and every label from it. It holds against a computing party that departs from the protocol during the
draw, in whatever way: it is caught, or it knows no more coins than the accounting allows it. Whatever it does later
moves only its own share. An honest hospital's own counts enter personal recipes, folds and questions without noise,
and rest on the sharing alone: there a computing party that departs from the protocol can learn single bits of them.
Nor does the promise cover the few bits that a mixer can learn from the check of a contribution (`verdicts.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words, mask, slices
from mixbayes.protocol.attributes.kind import Positive
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.tossing import Draw, toss, toss_in_clear
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import scale
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.randomness import Randomness

IN_A_CLASS = 4
"""Imagined patients of every class, times the noise's standard deviation; `benchmarks/noise.py` measures it."""
_AT_ONCE = 1 << 13
"""Numbers that are clamped at a time."""

Positives = Callable[[int], Positive]
"""max(0, x) of words of so many bits."""
Units = NDArray[np.int64]
"""Of every number that gets noise, the bits that one patient may change."""


def blurred(me: ComputingParty, layout: Layout, vector: Words, draw: Draw) -> Words:
    """This party's share of N~, from its share of the joint counts and from its part in the draw."""
    coins, units, own = _coins(layout), _units(layout), Randomness(draw.seed)
    sums = toss(me, coins, units.size, own, draw)
    return _spread(layout, vector, _noise(coins, units, sums, int(me.role == A)) + _below(units, own, me.role))


def blurred_in_clear(layout: Layout, vector: Words, of_a: Randomness, of_b: Randomness) -> Words:
    """N~ itself, from the joint counts and both halves of the coins."""
    coins, units = _coins(layout), _units(layout)
    sums = toss_in_clear(coins, units.size, of_a, of_b)
    below = _below(units, of_a, A) + _below(units, of_b, B)
    return _spread(layout, vector, _noise(coins, units, sums, 1) + below)


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


def _coins(layout: Layout) -> Coins:
    if layout.terms.coins is None:
        raise LocalError("There is no noise without coins.")
    return layout.terms.coins


def _noise(coins: Coins, units: Units, sums: Words, one: int) -> Words:
    """The noise in whole units on every sum of the layout: of the class counts, then row by row of each block."""
    return sums - np.uint64(one * coins.bound) << units.astype(np.uint64)


def _below(units: Units, own: Randomness, role: int) -> Words:
    """A party's own uniform noise on as many values as a unit has, around zero: A's from 0 up, B's below 0."""
    drawn = own.words(units.size) & (np.uint64(1) << units.astype(np.uint64)) - np.uint64(1)
    return drawn if role == A else drawn - np.where(units > 0, np.uint64(1) << units.astype(np.uint64), np.uint64(0))


def _units(layout: Layout) -> Units:
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
    before, after = ([list(layout.blocks(one)) for one in some.reshape(-1, layout.size)] for some in (vectors, found))
    counts = _Waiting(layout.class_counts(vectors))
    for kind, positions in layout.by_kind():
        own = counts.beside(positive(min(ring.WORD, bits + kind.extra_bits)))
        places = [(vector, at) for vector in range(len(before)) for at in positions]
        done = kind.clamped([before[vector][at][1] for vector, at in places], own, one, layout.spread)
        for (vector, at), block in zip(places, done, strict=True):
            after[vector][at][1][:] = block
    layout.class_counts(found)[:] = _with_imagined(layout, counts.clamped(positive(bits)), one)
    return found


class _Waiting:
    """Words that wait until others are clamped, and are clamped with them, in the same message rounds."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._clamped: Words | None = None

    def beside(self, positive: Positive) -> Positive:
        """Clamps others, and at the first call the words that wait with them."""

        def clamp(others: Words) -> Words:
            if self._clamped is not None:
                return positive(others)
            found = positive(np.concatenate([others.reshape(-1), self._words.reshape(-1)]))
            self._clamped = found[others.size :].reshape(self._words.shape)
            return found[: others.size].reshape(others.shape)

        return clamp

    def clamped(self, positive: Positive) -> Words:
        """The words, once all others are clamped."""
        return positive(np.ascontiguousarray(self._words)) if self._clamped is None else self._clamped


def _clamped_classes(layout: Layout, counts: Words, positive: Positives, one: int) -> Words:
    return _with_imagined(layout, positive(_bits(layout))(np.ascontiguousarray(counts)), one)


def _with_imagined(layout: Layout, counts: Words, one: int) -> Words:
    # No class is left without patients, which would decide against it alone.
    return counts + np.uint64(IN_A_CLASS * layout.spread * one)


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
