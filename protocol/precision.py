"""How many bits a dictionary needs: the width of counts and of scores, and what rounding may change.

A score is log2 n_c + Σ_a (log2(q·n_avc + p) − log2(q·n_ac + p·V_a)) with smoothing p/q; log2 N, the same for all
classes, is left out, and so is log2 q, which cancels. Where the design adds a sentinel of −2B to an empty class's prior
with B a power of two, `empty` is just below what the worst class with rows can reach: two bits less in every
comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log2

from mixbayes.protocol import ring
from mixbayes.protocol.dictionary import Dictionary, Numeric
from mixbayes.protocol.errors import DictionaryTooLarge
from mixbayes.protocol.logarithm import ERROR, FRACTION

MOST_COUNT_BITS = 52
MOST_ROWS_WITH_MOMENTS = 2**38
GAUSSIAN_RANGE = 0.7214 * 2**20 + 16
"""Between the largest and the smallest log-density of a value, the variance being at least its floor."""
GAUSSIAN_ERROR = 0.7214 * 2**20 * 2.0**-27 + 2.0**-20
"""Of a log-density, against the real one at the same 24-bit value: u² rounded under the steepest curve, and a rest."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What follows from the dictionary before any patient is counted."""

    count_bits: int
    """Every q·n + p·V is below 2^count_bits."""
    fraction: int
    """Fraction bits of a score: a logarithm's, and one more where there are Gaussian attributes."""
    width: int
    """Differences of two scores are signed words of this many bits."""
    empty: int
    """What stands, negated, for the logarithm of the prior of a class without rows."""
    margin: float
    """Labels equal those of real arithmetic wherever the two best scores are further apart than this (bits)."""


def precision_for(dictionary: Dictionary) -> Precision:
    """The precision, or a refusal that says how many bits are too many."""
    sizes = [a.size for a in dictionary.attributes if not isinstance(a, Numeric)]
    gaussians = len(dictionary.attributes) - len(sizes)
    p, q, rows = dictionary.smoothing.numerator, dictionary.smoothing.denominator, dictionary.max_rows
    count_bits = (q * rows + p * max(sizes, default=0)).bit_length()
    if count_bits > MOST_COUNT_BITS:
        raise DictionaryTooLarge(
            f"Counts of up to {rows} rows smoothed by {dictionary.smoothing} need {count_bits} bits, {MOST_COUNT_BITS} "
            "are possible. Lower max_rows, or choose a smoothing with a smaller numerator and denominator."
        )
    if gaussians and rows > MOST_ROWS_WITH_MOMENTS:
        raise DictionaryTooLarge(
            f"max_rows is {rows}; with Gaussian attributes at most {MOST_ROWS_WITH_MOMENTS} are possible. Lower it."
        )
    slack = (2 * len(sizes) + 1) * ERROR + gaussians
    worst = sum(log2((q * rows + p * size) / p) for size in sizes) + gaussians * GAUSSIAN_RANGE + slack
    empty = floor(worst) + 1
    span = log2(rows) + empty + sum(map(log2, sizes)) + gaussians * GAUSSIAN_RANGE + 2 * slack
    fraction = FRACTION + bool(gaussians)
    width = floor(log2(span)) + 1 + fraction + 1
    if width > ring.WORD:
        raise DictionaryTooLarge(
            f"Scores over {gaussians} Gaussian attributes need {width} bits, {ring.WORD} are possible. Bin some."
        )
    margin = 2 * ((2 * len(sizes) + 1) * ERROR + gaussians * GAUSSIAN_ERROR)
    return Precision(count_bits, fraction, width, empty << fraction, margin)
