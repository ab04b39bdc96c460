"""The winning class as a one-hot word of XOR-shared bits, ties to the class that comes first.

Many instances: a tournament, K − 1 comparisons an instance in ⌈log2 K⌉ rounds of them. Few instances: all pairs at
once, K(K − 1)/2 comparisons in one round of them and an AND tree; `benchmarks/argmax.py` measures the crossover.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import gate, scale
from mixbayes.protocol.computing_party import ComputingParty

MOST_COMPARISONS_AT_ONCE = 1024


def winners(me: ComputingParty, scores: Words, width: int) -> Words:
    """XOR shares (n,) of words with the winner's bit set, from additive shares of the scores (K, n)."""
    classes, n = scores.shape
    if classes == 2 or n * classes * (classes - 1) // 2 > MOST_COMPARISONS_AT_ONCE:
        return tournament(me, scores, width)
    return all_pairs(me, scores, width)


def tournament(me: ComputingParty, scores: Words, width: int) -> Words:
    """Neighbours play; the later one wins only with a strictly greater score, and the winner moves up."""
    classes, n = scores.shape
    hot = me.constant(np.uint64(1) << np.arange(classes, dtype=np.uint64)[:, None] + np.zeros((1, n), np.uint64))
    while len(scores) > 1:
        pairs = len(scores) // 2
        earlier, later, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        upset = _sign(me, scores[earlier] - scores[later], width)
        won = hot[earlier] ^ gate(me, upset, hot[earlier] ^ hot[later], classes)
        hot = np.concatenate([won, hot[rest]])
        if len(hot) > 1:
            gained = scale(me, upset, (scores[later] - scores[earlier]) & mask(width), width)
            scores = np.concatenate([(scores[earlier] + gained) & mask(width), scores[rest]])
        else:
            scores = scores[:1]
    return hot[0]


def all_pairs(me: ComputingParty, scores: Words, width: int) -> Words:
    """Everybody plays everybody at once; the winner is who won all."""
    classes, n = scores.shape
    earlier, later = np.triu_indices(classes, 1)
    upset = _sign(me, scores[earlier] - scores[later], width)
    won = me.constant(np.ones((classes, classes, n), np.uint64)).astype(np.uint8)
    won[later, earlier] = upset
    won[earlier, later] = me.negate(upset)
    while won.shape[1] > 1:
        pairs = won.shape[1] // 2
        both = gate(me, won[:, : 2 * pairs : 2], won[:, 1 : 2 * pairs : 2], 1)
        won = np.concatenate([both, won[:, 2 * pairs :]], axis=1)
    places = np.arange(classes, dtype=np.uint64)[:, None]
    return np.bitwise_or.reduce(won[:, 0].astype(np.uint64) << places, axis=0)


def _sign(me: ComputingParty, differences: Words, width: int) -> Bits:
    flat = (differences & mask(width)).reshape(-1)
    return negative(me, flat, width).reshape(differences.shape)
