"""How many bits a dictionary needs: the width of counts and of scores, and which labels rounding may change.

A score is log2 n_c + Σ_a (log2(q·n_avc + p) − log2(q·n_ac + p·V_a)) with smoothing p/q. log2 N is left out, because it
is the same for all classes; log2 q cancels. A class without patients gets −`empty` for log2 n_c: just below the worst
score that a class with patients can have, so that it never wins and comparisons stay as short as they can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, fsum, prod

from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.public_prior import PublicPrior
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.logarithm import ERROR, FRACTION
from mixbayes.protocol.errors import DictionaryTooLarge

MOST_COUNT_BITS = 52
MOST_THRESHOLD = 16
"""Bits by which an evaluation asks whether one score leads another."""


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
    """Minus this number stands for log2 n_c where n_c = 0."""
    margin: float
    """Labels equal those of real arithmetic wherever the two best scores are further apart than this (bits)."""


def precision_for(layout: Layout, recipe: Recipe = JOINT, public: PublicPrior | None = None) -> Precision:
    """The precision, or a refusal that says how many bits are too many."""
    layout = layout.weighing(recipe.weight)
    dictionary, smoothing = layout.dictionary, layout.smoothing
    reaches = [attribute.reach(smoothing, layout.rows_together, layout.noise) for attribute in dictionary.attributes]
    count_bits = max(smoothing.denominator * layout.most, *(reach.argument for reach in reaches)).bit_length()
    _refuse_too_many_rows(layout, count_bits)
    # In integers, and rounded up: both parties must come to the same numbers, on any machine.
    slack, spread = 1 + sum(reach.slack for reach in reaches), sum(reach.spread for reach in reaches)
    fall = floor(prod((reach.fall for reach in reaches), start=Fraction(1))) + 1
    # A prior of the own patients reaches down to half a patient; costs and a margin move two scores apart. A public
    # prior has logarithms below zero.
    moved = recipe.moved_bits + (public.fall if public else 0)
    worst = fall.bit_length() + spread + slack + moved
    empty = worst + 1
    span = (
        layout.most.bit_length()
        + empty
        + prod(reach.values for reach in reaches).bit_length()
        + spread
        + 2 * slack
        + moved
    )
    fraction = FRACTION + max(reach.fraction for reach in reaches)
    if layout.terms.folds > 1 and layout.classes == 2:
        span += MOST_THRESHOLD  # in an evaluation differences of scores are compared with thresholds
    width = span.bit_length() + fraction + 1
    if width + (recipe.unsure is not None) > ring.WORD:
        wide = sum(reach.spread > 0 for reach in reaches)
        raise DictionaryTooLarge(
            f"Scores over {wide} Gaussian attributes need {width} bits, {ring.WORD} are possible. Bin some."
        )
    of_prior = ERROR if public is None else 2 * ERROR  # of numerator and denominator
    margin = 2 * fsum([of_prior, *(reach.error for reach in reaches)])
    return Precision(count_bits, fraction, width, empty << fraction, margin)


def _refuse_too_many_rows(layout: Layout, count_bits: int) -> None:
    dictionary, rows = layout.dictionary, layout.most
    if count_bits > MOST_COUNT_BITS:
        raise DictionaryTooLarge(
            f"Counts of up to {rows} rows smoothed by {dictionary.smoothing} need {count_bits} bits, {MOST_COUNT_BITS} "
            "are possible. Lower max_rows, or choose a smoothing with a smaller numerator and denominator."
        )
    for attribute in dictionary.attributes:
        if attribute.most_rows is not None and rows > attribute.most_rows:
            raise DictionaryTooLarge(
                f"max_rows is {rows}; with Gaussian attributes at most {attribute.most_rows} are possible. Lower it."
            )
