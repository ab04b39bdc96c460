"""How many bits a dictionary needs: the width of counts and of scores, and what rounding may change.

A score is log2 n_c + Σ_a (log2(q·n_avc + p) − log2(q·n_ac + p·V_a)) with smoothing p/q; log2 N, the same for all
classes, is left out, and so is log2 q, which cancels. Where the design adds a sentinel of −2B to an empty class's prior
with B a power of two, `empty` is just below what the worst class with rows can reach: two bits less in every
comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log2

from mixbayes.protocol.dictionary import Binned, Dictionary, Nominal, Numeric
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from mixbayes.protocol.logarithm import ERROR, FRACTION

MOST_COUNT_BITS = 52


@dataclass(frozen=True, slots=True)
class Precision:
    """What follows from the dictionary before any patient is counted."""

    count_bits: int
    """Every q·n + p·V is below 2^count_bits."""
    width: int
    """Differences of two scores, with FRACTION fraction bits, are signed words of this many bits."""
    empty: int
    """What stands, negated, for the logarithm of the prior of a class without rows."""
    margin: float
    """Labels equal those of real arithmetic wherever the two best scores are further apart than this (bits)."""


def precision_for(dictionary: Dictionary) -> Precision:
    """The precision, or a refusal that says how many bits are too many."""
    sizes = [attribute.size for attribute in discrete_attributes(dictionary)]
    p, q, rows = dictionary.smoothing.numerator, dictionary.smoothing.denominator, dictionary.max_rows
    count_bits = (q * rows + p * max(sizes)).bit_length()
    if count_bits > MOST_COUNT_BITS:
        raise DictionaryTooLarge(
            f"Counts of up to {rows} rows smoothed by {dictionary.smoothing} need {count_bits} bits, {MOST_COUNT_BITS} "
            "are possible. Lower max_rows, or choose a smoothing with a smaller numerator and denominator."
        )
    slack = (2 * len(sizes) + 1) * ERROR
    worst = sum(log2((q * rows + p * size) / p) for size in sizes) + slack
    empty = floor(worst) + 1
    span = log2(rows) + empty + sum(map(log2, sizes)) + 2 * slack
    return Precision(count_bits, floor(log2(span)) + 1 + FRACTION + 1, empty << FRACTION, 2 * slack)


def discrete_attributes(dictionary: Dictionary) -> list[Nominal | Binned]:
    """The attributes, all nominal or binned."""
    gaussian = [a.name for a in dictionary.attributes if isinstance(a, Numeric)]
    if gaussian:
        raise Unsupported(
            f"Gaussian attributes cannot be trained yet: {', '.join(gaussian)}. Give them cut points (--bins N), or "
            "list their values (--nominal)."
        )
    return [a for a in dictionary.attributes if not isinstance(a, Numeric)]
