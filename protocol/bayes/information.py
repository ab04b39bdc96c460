"""Which attribute tells most of the class: a ranking by mutual information, on shares, that opens the ranks alone.

An attribute has a table of counts, n_vc patients with the value v in the class c; patients whose cell is missing are
not in it. Its information, in bits over all of them, is

    S = Σ n_vc·log2 n_vc − Σ n_v·log2 n_v − Σ n_c·log2 n_c + n·log2 n,

with sums over one index where the other is left out. S/n is the mutual information of value and class, and S divided by
all patients is what a cell tells on average if a missing one tells nothing. So attributes are compared by S, and no
division is needed. An attribute with more values has a larger S by chance, by (V − 1)(K − 1)/(2 ln 2) bits or so.

The logarithms are those of `logarithm.py` with their fraction bits, and all else is exact in integers. So the ranks are
those of the same arithmetic in the clear. Two attributes whose S differ by less than `ERROR` bits a patient may be in
another order than in real arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words, mask, slices
from mixbayes.protocol.circuits.bounded import cut, times
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.logarithm import ERROR as OF_LOGARITHM
from mixbayes.protocol.circuits.logarithm import FRACTION, fixed_log2, shared_log2
from mixbayes.protocol.circuits.products import opened_words, to_arithmetic
from mixbayes.protocol.computing_party import ComputingParty

ERROR = 8 * OF_LOGARITHM
"""Of the difference of two S, for each patient: four logarithms each."""
_AT_ONCE = 1 << 13
"""Logarithms or comparisons taken at a time."""

Products = Callable[[Words], Words]
"""x·log2 x of words."""


def information_width(most: int, classes: int) -> int:
    """Bits of the difference of two S over at most so many patients, the sign included."""
    # S is at most n·log2 K. Of each of the two S's four logarithms the error is below 1.25 units.
    return (most * (((classes - 1).bit_length() << FRACTION) + 10)).bit_length() + 1


def shared_ranks(me: ComputingParty, tables: Sequence[Words], count_bits: int, width: int) -> list[int]:
    """The ranks of attributes, 1 for the one that tells most, from shares modulo 2^64 of their tables (V, K).

    No table has 2^count_bits patients. `width` is `information_width`. Ties go to the earlier attribute.
    """
    if len(tables) < 2:
        return [1] * len(tables)
    found = _information(tables, lambda words: _shared_products(me, words, count_bits, width))
    earlier, later = np.triu_indices(len(tables), 1)
    behind = _negative(me, (found[earlier] - found[later]) & mask(width), width)
    # An attribute is behind every later one that has more, and behind every earlier one that has not less.
    bits = len(tables).bit_length()
    shares = to_arithmetic(me, behind, bits)
    ranks = me.constant(1 + np.arange(len(tables), dtype=np.uint64))
    np.add.at(ranks, earlier, shares)
    np.subtract.at(ranks, later, shares)
    return [int(rank) for rank in opened_words(me, "ranks", ranks & mask(bits), bits)]


def ranks(tables: Sequence[Words], width: int) -> list[int]:
    """The same of the tables themselves."""
    if not tables:
        return []
    found = _information(tables, lambda words: words * fixed_log2(words)) & mask(width)
    signed = (found << np.uint64(64 - width)).view(np.int64)
    order = np.argsort(-signed, kind="stable")
    return (np.argsort(order) + 1).tolist()


def real_information(table: Words) -> float:
    """S in float64."""
    counts = table.astype(np.float64)
    parts = [counts, counts.sum(axis=1), counts.sum(axis=0), counts.sum()]
    cells, values, classes, total = (float(np.sum(_real_products(part))) for part in parts)
    return cells - values - classes + total


def _real_products(counts: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    return counts * np.log2(np.maximum(counts, 1))


def _information(tables: Sequence[Words], products: Products) -> Words:
    """S of each table, or this party's share of it."""
    parts = [part for table in tables for part in _arguments(table)]
    done = np.split(products(np.concatenate(parts)), np.cumsum([part.size for part in parts])[:-1])
    sums = np.array([part.sum(dtype=np.uint64) for part in done], np.uint64)
    cells, values, classes, total = sums.reshape(-1, 4).T
    return cells - values - classes + total


def _arguments(table: Words) -> list[Words]:
    by_value, by_class = table.sum(axis=1, dtype=np.uint64), table.sum(axis=0, dtype=np.uint64)
    return [table.reshape(-1), by_value, by_class, by_class.sum(keepdims=True, dtype=np.uint64)]


def _shared_products(me: ComputingParty, words: Words, count_bits: int, width: int) -> Words:
    pieces = (words[piece] for piece in slices(words.size, _AT_ONCE))
    return np.concatenate([_some_products(me, piece, count_bits, width) for piece in pieces])


def _some_products(me: ComputingParty, words: Words, count_bits: int, width: int) -> Words:
    logs, _ = shared_log2(me, words, count_bits, width)
    return times(me, cut(me, words, count_bits), logs, width)


def _negative(me: ComputingParty, words: Words, width: int) -> Bits:
    pieces = (words[piece] for piece in slices(words.size, _AT_ONCE))
    return np.concatenate([negative(me, piece, width) for piece in pieces])
