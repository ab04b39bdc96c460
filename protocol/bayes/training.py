"""Training: from shares of the joint counts to shares of the table of log-probabilities."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Words, slices
from mixbayes.protocol.attributes.kind import Kind, Learned
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model, assemble, learned, log_arguments
from mixbayes.protocol.bayes.noise import blurred, clamped
from mixbayes.protocol.bayes.precision import Precision, precision_for
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits.logarithm import shared_log2
from mixbayes.protocol.circuits.products import to_arithmetic
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.pool import connect_pair

_CELLS = 8192
"""Logarithms taken at a time: enough to hide the rounds, few enough for memory."""


def train(me: ComputingParty, layout: Layout, vector: Words) -> Model:
    """One computing party's part: its share of the joint counts (modulo 2^64), or of N~, becomes its share of θ.

    Every width relies on that no hospital has more rows than agreed.
    """
    precision = precision_for(layout)
    if layout.terms.coins:
        vector = clamped(me, layout, vector)
    parts = log_arguments(layout, vector, int(me.role == A))
    logs, some = _logarithms(me, np.concatenate(parts), precision)
    # Now each party holds additive shares of the logarithms, and XOR shares of which arguments are not zero.
    empty = to_arithmetic(me, me.negate(some[: layout.classes]), precision.width)
    found = learned(layout, vector, precision, logs, [part.size for part in parts])

    def learn(kind: type[Kind], some: list[Learned]) -> list[Words]:
        return kind.shared_tables(me, some, layout.most, precision.width, noisy=layout.noise > 0)

    return assemble(layout, precision, logs[: layout.classes], empty, found, learn)


def _logarithms(me: ComputingParty, arguments: Words, precision: Precision) -> tuple[Words, Bits]:
    """Shares of log2 x and of [x ≠ 0], some thousands of arguments at a time."""
    pieces = (arguments[piece] for piece in slices(arguments.size, _CELLS))
    parts = [shared_log2(me, piece, precision.count_bits, precision.width) for piece in pieces]
    return np.concatenate([logs for logs, _ in parts]), np.concatenate([some for _, some in parts])


def run_training(
    layout: Layout, tables: list[Words], seeds: tuple[bytes, bytes, bytes], coins: tuple[bytes, bytes] | None = None
) -> tuple[Model, Model]:
    """Hospitals with these count vectors, and the two computing parties A and B, all in memory.

    Seeds: of the hospitals, of A and of B; and where noise is agreed, of A's and of B's coins.
    """
    hospitals = Randomness(seeds[0])
    # Each hospital splits its counts into two shares and sends one to each computing party.
    shares = [split(vector, hospitals.bytes(32)) for vector in tables]
    # Each adds up what it received: sums of shares are shares of the sums.
    of_a = sum((share.for_a() for share in shares), np.zeros(layout.size, np.uint64))
    of_b = sum((share.for_b() for share in shares), np.zeros(layout.size, np.uint64))
    # Between themselves they turn the joint counts into θ, of which each keeps a share.
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def party(role: int, other: Channel, ahead: Channel, share: Words) -> Model:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        if coins:
            # The joint counts get the noise of coins that each knows one half of.
            share = blurred(me, layout, share, Randomness(coins[role]))
        return train(me, layout, share)

    model_a, model_b = memory.together(lambda: party(A, to_b, ahead_b, of_a), lambda: party(B, to_a, ahead_a, of_b))
    return model_a, model_b
