"""Training: from shares of the joint counts to shares of the table of log-probabilities."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bits, Words, slices
from mixbayes.protocol.attributes.kind import Kind, Learned
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model, assemble, learned, log_arguments
from mixbayes.protocol.bayes.precision import Precision, precision_for
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.logarithm import shared_log2
from mixbayes.protocol.circuits.products import opened, to_arithmetic
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import TooManyRows
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.pool import connect_pair

_CELLS = 8192
"""Logarithms taken at a time: enough to hide the rounds, few enough for memory."""


def train(me: ComputingParty, layout: Layout, vector: Words) -> Model:
    """One computing party's part: its share of the counts (modulo 2^64) becomes its share of θ."""
    precision, rows = precision_for(layout.dictionary), layout.dictionary.max_rows
    refuse_too_many_rows(me, layout, vector)
    # Every width below relies on the joint rows not being more than max_rows, and they are not.
    parts = log_arguments(layout, vector, int(me.role == A))
    logs, some = _logarithms(me, np.concatenate(parts), precision)
    # Now each party holds additive shares of the logarithms, and XOR shares of which arguments are not zero.
    empty = to_arithmetic(me, me.negate(some[: layout.classes]), precision.width)
    found = learned(layout, vector, precision, logs, [part.size for part in parts])

    def learn(kind: type[Kind], some: list[Learned]) -> list[Words]:
        return kind.shared_tables(me, some, rows, precision.width)

    return assemble(layout, precision, logs[: layout.classes], empty, found, learn)


def _logarithms(me: ComputingParty, arguments: Words, precision: Precision) -> tuple[Words, Bits]:
    """Shares of log2 x and of [x ≠ 0], some thousands of arguments at a time."""
    pieces = (arguments[piece] for piece in slices(arguments.size, _CELLS))
    parts = [shared_log2(me, piece, precision.count_bits, precision.width) for piece in pieces]
    return np.concatenate([logs for logs, _ in parts]), np.concatenate([some for _, some in parts])


def refuse_too_many_rows(me: ComputingParty, layout: Layout, vector: Words) -> None:
    """Open one bit: are the joint rows more than the dictionary allows for? Every width relies on that they are not."""
    most = layout.dictionary.max_rows
    room = me.constant(np.array([most], np.uint64)) - layout.class_counts(vector).sum(keepdims=True, dtype=np.uint64)
    if opened(me, "room for all rows", negative(me, room, ring.WORD)).any():
        raise TooManyRows(
            f"All hospitals together have more than the {most} rows of the dictionary's max_rows. Agree on more."
        )


def run_training(layout: Layout, tables: list[Words], seeds: tuple[bytes, bytes, bytes]) -> tuple[Model, Model]:
    """Hospitals with these count vectors, and the two computing parties A and B, all in memory.

    Seeds: of the hospitals, of A and of B.
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
        return train(ComputingParty(role, other, connect_pair(role, ahead, random), random), layout, share)

    model_a, model_b = memory.together(lambda: party(A, to_b, ahead_b, of_a), lambda: party(B, to_a, ahead_a, of_b))
    return model_a, model_b
