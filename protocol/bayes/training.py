"""Training: from shares of the joint counts to shares of the table of log-probabilities."""

from __future__ import annotations

import numpy as np

from mixbayes.privacy.checking import tosses
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Words, slices
from mixbayes.protocol.attributes.kind import Kind, Learned
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model, Priors, assemble, learned, log_arguments, prior_counts, weighed
from mixbayes.protocol.bayes.noise import as_in_noisy, blurred, clamped, clamped_classes
from mixbayes.protocol.bayes.precision import Precision, precision_for
from mixbayes.protocol.bayes.public_prior import PublicPrior, with_prior
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits.logarithm import shared_log2
from mixbayes.protocol.circuits.products import to_arithmetic
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.pool import connect_pair

_CELLS = 8192
"""Logarithms taken at a time: enough to hide the rounds, few enough for memory."""

_MOST_AT_FIRST = 1 << 16
_TO_CHECK, _TO_LEARN = 2, 150
"""Transfers, about: for every bit of a count that is checked, and for every joint count that becomes a logarithm."""


def transfers_at_first(layout: Layout) -> int:
    """How many transfers to make before all else, so that few rounds of a training wait for more.

    It depends on the agreement alone: whether both parties hold the same contributions is not known yet.
    """
    of_count = _TO_CHECK * layout.rows_each.bit_length() * layout.terms.hospitals + _TO_LEARN
    for_noise = tosses(layout.terms.coins, layout.noisy_numbers) // 2 if layout.terms.coins else 0
    return min(_MOST_AT_FIRST, of_count * layout.contributed + for_noise)


def train(me: ComputingParty, layout: Layout, vector: Words) -> Model:
    """One computing party's part: its share of the joint counts (modulo 2^64), or of N~, becomes its share of θ.

    Every width relies on that no hospital has more rows than agreed.
    """
    return train_each(me, layout, JOINT, vector[None], np.zeros((1, layout.size), np.uint64))[0]


def train_each(
    me: ComputingParty, layout: Layout, recipe: Recipe, joint: Words, own: Words, public: PublicPrior | None = None
) -> list[Model]:
    """Shares of the models of one recipe, from shares (models, size) of joint counts, or of N~, and of own counts.

    There are several models where there are folds, which differ in the rows that do not count. All go through each
    circuit together. A public prior replaces the recipe's.
    """
    layout, recipe = layout.weighing(recipe.weight), with_prior(recipe, public)
    precision, one, classes = precision_for(layout, recipe, public), int(me.role == A), layout.classes
    own = as_in_noisy(layout, own)
    vectors, priors = weighed(layout, recipe, joint, own), prior_counts(layout, recipe, joint, own)
    if layout.terms.coins:
        vectors = clamped(me, layout, vectors)
        if recipe.prior_apart and recipe.prior == "joint":
            priors = clamped_classes(me, layout, priors)
    # Now all counts are such as training can take: their logarithms come first, then the tables.
    parts = [log_arguments(layout, *both, one) for both in zip(vectors, priors, strict=True)]
    sizes = [part.size for part in parts[0]]
    flat, flags = _logarithms(me, np.concatenate([part for of_model in parts for part in of_model]), precision)
    logs, some = flat.reshape(len(parts), -1), flags.reshape(len(parts), -1)
    # Each party holds additive shares of the logarithms, and XOR shares of which arguments are not zero.
    found = [learned(layout, *each, precision, sizes) for each in zip(vectors, logs, some, strict=True)]
    apart = priors.shape[1]
    zero = to_arithmetic(me, me.negate(some[:, : classes + apart]), precision.width)

    def learn(kind: type[Kind], some: list[Learned]) -> list[Words]:
        return kind.shared_tables(me, some, layout.most, precision.width, noisy=layout.noise > 0)

    of_priors = Priors(logs[:, apart : apart + classes], zero[:, :classes], zero[:, classes:], one)
    return assemble(layout, precision, recipe, of_priors.replaced(public), found, learn)


def _logarithms(me: ComputingParty, arguments: Words, precision: Precision) -> tuple[Words, Bits]:
    """Shares of log2 x and of [x ≠ 0], some thousands of arguments at a time."""
    pieces = (arguments[piece] for piece in slices(arguments.size, _CELLS))
    parts = [shared_log2(me, piece, precision.count_bits, precision.width) for piece in pieces]
    return np.concatenate([logs for logs, _ in parts]), np.concatenate([some for _, some in parts])


def run_training(
    layout: Layout,
    tables: list[Words],
    seeds: tuple[bytes, bytes, bytes],
    coins: tuple[bytes, bytes] | None = None,
    recipe: Recipe = JOINT,
    asker: int = 0,
    public: PublicPrior | None = None,
) -> tuple[Model, Model]:
    """Hospitals with these count vectors, and the two computing parties A and B, all in memory.

    Seeds: of the hospitals, of A and of B; and where noise is agreed, of A's and of B's coins. A personal recipe is for
    the hospital whose table is at `asker`.
    """
    hospitals = Randomness(seeds[0])
    # Each hospital splits its counts into two shares and sends one to each computing party.
    shares = [split(vector, hospitals.bytes(32)) for vector in tables]
    of_a = np.stack([share.for_a() for share in shares])
    of_b = np.stack([share.for_b() for share in shares])
    # Between themselves they turn the joint counts into θ, of which each keeps a share.
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def party(role: int, other: Channel, ahead: Channel, shares: Words) -> Model:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # Each adds up what it received: sums of shares are shares of the sums.
        joint = shares.sum(axis=0, dtype=np.uint64)
        if coins:
            # The joint counts get the noise of coins that each knows one half of.
            joint = blurred(me, layout, joint, Draw(coins[role]))
        # What a personal recipe adds are shares of the asker's counts, which each party holds already.
        return train_each(me, layout, recipe, joint[None], shares[asker][None], public)[0]

    model_a, model_b = memory.together(lambda: party(A, to_b, ahead_b, of_a), lambda: party(B, to_a, ahead_a, of_b))
    return model_a, model_b
