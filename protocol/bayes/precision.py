"""How many bits a dictionary needs: the width of counts and of scores, and what rounding may change.

A score is log2 n_c + Σ_a (log2(q·n_avc + p) − log2(q·n_ac + p·V_a)) with smoothing p/q; log2 N, the same for all
classes, is left out, and so is log2 q, which cancels. `empty` is just below what the worst class
with rows can reach, which keeps comparisons as short as they can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mixbayes.protocol.attributes.dictionary import Dictionary, Numeric
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.logarithm import ERROR, FRACTION
from mixbayes.protocol.errors import DictionaryTooLarge

MOST_COUNT_BITS = 52
MOST_ROWS_WITH_MOMENTS = 2**38
GAUSSIAN_RANGE = 756_500
"""Above 2^20 · log2(e) / 2 + 16: between the largest and the smallest log-density, the variance being at its floor."""
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
    # In integers, and rounded up: both parties must come to the same numbers, on any machine.
    slack = 1 + gaussians
    most = prod(q * rows + p * size for size in sizes) // p ** len(sizes) + 1
    worst = most.bit_length() + gaussians * GAUSSIAN_RANGE + slack
    empty = worst + 1
    span = rows.bit_length() + empty + prod(sizes).bit_length() + gaussians * GAUSSIAN_RANGE + 2 * slack
    fraction = FRACTION + bool(gaussians)
    width = span.bit_length() + fraction + 1
    if width > ring.WORD:
        raise DictionaryTooLarge(
            f"Scores over {gaussians} Gaussian attributes need {width} bits, {ring.WORD} are possible. Bin some."
        )
    margin = 2 * ((2 * len(sizes) + 1) * ERROR + gaussians * GAUSSIAN_ERROR)
    return Precision(count_bits, fraction, width, empty << fraction, margin)
