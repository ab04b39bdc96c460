"""The pooled classifier in exact rational numbers. The Paillier protocol must give the same labels, ties included.

With the smoothing α = p/q, the cell of attribute a, value v and class c is q·n_avc + p. The denominator of an attribute
and class is the sum of its cells, q·n_ac + p·V_a; the factor q that both have cancels. The prior of a class is n_c, and
1/N is left out because it is the same for all classes. A class without rows has the prior 0 and so never wins. With
noise the counts are those of N~, clamped.

A personal recipe changes the counts n to N + w · own. Its prior is the number of patients of N, of the own ones, or
of N + w · own; a class that the hospital never saw counts as half a patient of its own. Costs are factors of the prior.
All of it is rational: every class's prior is brought to a whole number by the same factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

import numpy as np

from mixbayes.protocol.arrays import Numbers, Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.circuits.ring import WORD
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported

USUAL_BITS = 3072
"""Of a key."""
MASK_BITS = 41
"""What a mask is added to is so many bits shorter than the room for both, so that their sum seldom carries."""
ROOM = MASK_BITS + 2
"""Bits that a modulus needs beyond those of the compared numbers, for MASK_BITS, the sign, and as it begins with 1."""


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The priors (K,) and, for each attribute, the numerators (V, K); or one hospital's additive part of them."""

    prior: Numbers
    numerators: tuple[Numbers, ...]

    @property
    def denominators(self) -> tuple[Numbers, ...]:
        return tuple(cells.sum(axis=0) for cells in self.numerators)


def cells(layout: Layout, vector: Words, one: int, recipe: Recipe = JOINT, own: Words | None = None) -> Cells:
    """The cells of these counts. `one` is this party's part of the number one: A adds the smoothing, and B does not.

    In a recipe `own` are the counts of the hospital that asks, at that hospital alone: the other one adds nothing.
    """
    smoothing = layout.smoothing
    joint, mine = vector.astype(object), np.zeros_like(vector, object) if own is None else own.astype(object)
    counts = joint + recipe.weight * mine
    blocks = (layout.block(counts, a)[:-1] for a in range(len(layout.rows)))
    numerators = tuple(block * smoothing.denominator + smoothing.numerator * one for block in blocks)
    prior = _class_counts(layout, recipe, joint, mine)
    if recipe.prior == "own":
        # Twice: a class that the asking hospital never saw counts as half a patient.
        prior = 2 * prior + (prior == 0).astype(object) * (own is not None)
    return Cells(prior * np.array(weights(layout, recipe), object), numerators)


def weights(layout: Layout, recipe: Recipe) -> list[int]:
    """What it costs to miss each class, as whole numbers in the same proportions."""
    costs = _costs(layout, recipe)
    common = lcm(*(cost.denominator for cost in costs))
    return [int(cost * common) for cost in costs]


def _costs(layout: Layout, recipe: Recipe) -> list[Fraction]:
    of_class = dict(recipe.costs)
    return [of_class.get(name, Fraction(1)) for name in layout.dictionary.classes]


def _class_counts(layout: Layout, recipe: Recipe, joint: Numbers, own: Numbers) -> Numbers:
    """Those of which the recipe makes its prior."""
    return layout.class_counts({"joint": joint, "own": own, "mixed": joint + recipe.weight * own}[recipe.prior])


def scores(
    layout: Layout, vector: Words, codes: Values, recipe: Recipe = JOINT, own: Words | None = None
) -> list[list[Fraction]]:
    """For every row of codes (columns, n) the score of each class, which is proportional to its probability.

    In a recipe `own` are the counts of the hospital that asks.
    """
    joint, mine = vector.astype(object), np.zeros_like(vector, object) if own is None else own.astype(object)
    pooled, priors = cells(layout, joint + recipe.weight * mine, 1), _priors(layout, recipe, joint, mine)
    return [[_score(pooled, priors[c], row, c) for c in range(layout.classes)] for row in codes.T.tolist()]


def _priors(layout: Layout, recipe: Recipe, joint: Numbers, own: Numbers) -> list[Fraction]:
    """By class, as the recipe says, without making whole numbers of them."""
    patients, everybody = _class_counts(layout, recipe, joint, own), layout.class_counts(joint)
    costs = _costs(layout, recipe)
    return [
        Fraction(n or Fraction(1, 2)) * cost if some else Fraction(0)
        for n, some, cost in zip(patients, everybody, costs, strict=True)
    ]


def labels(layout: Layout, vector: Words, codes: Values, recipe: Recipe = JOINT, own: Words | None = None) -> Labels:
    """The positions of the winning classes. Ties go to the earlier class."""
    winners = [row.index(max(row)) for row in scores(layout, vector, codes, recipe, own)]
    return np.array(winners, np.int64)


def _score(pooled: Cells, prior: Fraction, row: list[int], c: int) -> Fraction:
    score = prior
    for numerators, denominators, value in zip(pooled.numerators, pooled.denominators, row, strict=True):
        if value < len(numerators):
            score *= Fraction(numerators[value, c], denominators[c])
    return score


def comparison_bits(layout: Layout, recipe: Recipe = JOINT) -> int:
    """ℓ: both sides of every comparison are below 2^ℓ."""
    layout = layout.weighing(recipe.weight)
    attributes, smoothing = layout.dictionary.attributes, layout.smoothing
    _refuse_inexact([a for a in attributes if not a.exact])
    numerator = smoothing.denominator * layout.most + smoothing.numerator
    factors = (
        numerator * attribute.reach(smoothing, layout.rows_together, layout.noise).argument for attribute in attributes
    )
    return prod(factors, start=_largest_prior(layout, recipe)).bit_length()


def _largest_prior(layout: Layout, recipe: Recipe) -> int:
    """Of all classes. A class without rows enters as one row."""
    of_prior = 2 * layout.rows_each if recipe.prior == "own" else layout.most
    return of_prior * max(weights(layout, recipe)) + (recipe != JOINT)


def _refuse_inexact(others: Sequence[Attribute]) -> None:
    if not others:
        return
    names = ", ".join(a.name for a in others[:5]) + ", …" * (len(others) > 5)
    places = ", or ".join(dict.fromkeys(a.in_its_place for a in others))
    raise Unsupported(
        f"The Paillier protocol takes nominal and binned attributes. Of other kinds are {len(others)}: {names}. "
        f"In the place of each put {places}; or use the shares protocol."
    )


def cell_bits(layout: Layout, recipe: Recipe = JOINT) -> int:
    """The number of bits of the largest possible prior, cell or denominator."""
    layout = layout.weighing(recipe.weight)
    attributes, rows = layout.dictionary.attributes, layout.rows_together
    reaches = [attribute.reach(layout.smoothing, rows, layout.noise).argument for attribute in attributes]
    return max(_largest_prior(layout, recipe), *reaches).bit_length()


def fitting_bits(layout: Layout, key_bits: int, recipe: Recipe = JOINT) -> int:
    """ℓ, or an error that says how many bits the key needs and has."""
    bits, attributes = comparison_bits(layout, recipe), layout.dictionary.attributes
    if recipe.unsure is not None:
        raise Unsupported(
            f"The Paillier protocol has no unsure answers, as in {recipe}: it compares products, not their logarithms."
        )
    if layout.terms.coins and cell_bits(layout, recipe) > WORD:
        raise Unsupported(f"With noise a count times its cost has at most {WORD} bits in {recipe}. Use smaller costs.")
    if bits + ROOM > key_bits:
        rows = layout.weighing(recipe.weight).rows_together
        raise DictionaryTooLarge(
            f"Exact comparison of {len(attributes)} attributes over up to {rows} rows needs "
            f"a key of {bits + ROOM} bits, and this one has {key_bits}. Lower max_rows, leave out "
            "attributes, or use the shares protocol."
        )
    return bits
