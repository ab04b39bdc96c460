"""argmax: the class with the highest score, as a one-hot word of XOR-shared bits. Ties go to the earlier class.

For many instances a tournament is cheaper: K − 1 comparisons for an instance, in ⌈log2 K⌉ steps one after the other.
For few instances all pairs are faster: K(K − 1)/2 comparisons in one step, and a tree of ANDs. `benchmarks/argmax.py`
measures where one overtakes the other.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import gate, scale, weighted
from mixbayes.protocol.computing_party import ComputingParty

MOST_COMPARISONS_AT_ONCE = 1024


def winners(me: ComputingParty, scores: Words, width: int) -> Words:
    """XOR shares (n,) of one-hot words with the winner's bit set, from additive shares of the scores (K, n)."""
    classes, n = scores.shape
    if classes == 2 or n * classes * (classes - 1) // 2 > MOST_COMPARISONS_AT_ONCE:
        return tournament(me, scores, width)
    return all_pairs(me, scores, width)


def winners_by(me: ComputingParty, scores: Words, width: int, margin: int) -> Words:
    """One-hot words of K + 1 answers: the winner, or the last one where the winner leads by less than the margin.

    The scores, and what the margin makes of them, fit the width.
    """
    classes, wider = len(scores), width + 1
    hot = winners(me, scores, width)
    places = np.arange(classes, dtype=np.uint64)[:, None]
    won = (hot >> places & np.uint64(1)).astype(np.uint8)
    # Twice the winner's score, lowered by an odd number, ties with nobody's: whoever wins now won by the margin.
    lowered = (scores << np.uint64(1)) - weighted(me, won, [2 * margin - 1], wider)
    again = winners(me, lowered & mask(wider), wider) >> places & np.uint64(1)
    sure = np.bitwise_xor.reduce(gate(me, won, again.astype(np.uint8), 1), axis=0)
    kept = gate(me, sure, hot, classes)
    return kept ^ (me.negate(sure).astype(np.uint64) << np.uint64(classes))


def tournament(me: ComputingParty, scores: Words, width: int) -> Words:
    """Neighbours play a match. The later one wins only with a strictly greater score; the winner goes on."""
    classes, n = scores.shape
    one_hot = me.constant(np.uint64(1) << np.arange(classes, dtype=np.uint64)[:, None] + np.zeros((1, n), np.uint64))
    while len(scores) > 1:
        pairs = len(scores) // 2
        earlier, later, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        later_wins = _sign(me, scores[earlier] - scores[later], width)
        # x ⊕ bit·(x ⊕ y) selects x or y without showing which. Scores are selected in the same way, with + and −.
        won = one_hot[earlier] ^ gate(me, later_wins, one_hot[earlier] ^ one_hot[later], classes)
        one_hot = np.concatenate([won, one_hot[rest]])
        if len(one_hot) > 1:
            gained = scale(me, later_wins, (scores[later] - scores[earlier]) & mask(width), width)
            scores = np.concatenate([(scores[earlier] + gained) & mask(width), scores[rest]])
        else:
            scores = scores[:1]
    return one_hot[0]


def all_pairs(me: ComputingParty, scores: Words, width: int) -> Words:
    """Every class plays every other one in the same step. The winner is the class that won all its matches."""
    classes, n = scores.shape
    earlier, later = np.triu_indices(classes, 1)
    later_wins = _sign(me, scores[earlier] - scores[later], width)
    # won[c, d] says whether c beats d, and is 1 for d = c. The AND of row c is then whether c wins.
    won = me.constant(np.ones((classes, classes, n), np.uint64)).astype(np.uint8)
    won[later, earlier] = later_wins
    won[earlier, later] = me.negate(later_wins)
    while won.shape[1] > 1:
        pairs = won.shape[1] // 2
        both = gate(me, won[:, : 2 * pairs : 2], won[:, 1 : 2 * pairs : 2], 1)
        won = np.concatenate([both, won[:, 2 * pairs :]], axis=1)
    # Now won[c, 0] says whether class c wins, for exactly one c.
    places = np.arange(classes, dtype=np.uint64)[:, None]
    return np.bitwise_or.reduce(won[:, 0].astype(np.uint64) << places, axis=0)


def _sign(me: ComputingParty, differences: Words, width: int) -> Bits:
    flat = (differences & mask(width)).reshape(-1)
    return negative(me, flat, width).reshape(differences.shape)
