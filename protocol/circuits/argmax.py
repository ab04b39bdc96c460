"""argmax: the class with the highest score, as a one-hot word of XOR-shared bits. Ties go to the earlier class.

For many instances a tournament is cheaper: K − 1 comparisons for an instance, in ⌈log2 K⌉ steps one after the other.
For few instances all pairs are faster: K(K − 1)/2 comparisons in one step, and a tree of ANDs. `benchmarks/argmax.py`
measures where one overtakes the other.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import all_of, fold, gate, scale, select, weighted
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
    earlier, later, rest = _matches(classes)
    # Who plays the first matches is public, so that x ⊕ bit·(x ⊕ y) selects x or y without any message.
    hot = np.repeat(np.uint64(1) << np.arange(classes, dtype=np.uint64), n).reshape(classes, n)
    later_wins = _sign(me, scores[earlier] - scores[later], width)
    won = me.constant(hot[earlier]) ^ later_wins * (hot[earlier] ^ hot[later])
    if classes == 2:
        return won[0]
    hot = np.concatenate([won, me.constant(hot[rest])])
    gained = scale(me, later_wins, (scores[later] - scores[earlier]) & mask(width), width)
    scores = np.concatenate([scores[earlier] + gained, scores[rest]])
    while len(scores) > 2:
        earlier, later, rest = _matches(len(scores))
        differ, ahead = hot[earlier] ^ hot[later], (scores[later] - scores[earlier]) & mask(width)
        # Scores are selected like one-hot words, with + and − in place of ⊕.
        gained, changed = select(me, _sign(me, -ahead, width), ahead, width, differ, classes)
        hot = np.concatenate([hot[earlier] ^ changed, hot[rest]])
        scores = np.concatenate([scores[earlier] + gained, scores[rest]])
    return hot[0] ^ gate(me, _sign(me, scores[:1] - scores[1:], width)[0], hot[0] ^ hot[1], classes)


def _matches(players: int) -> tuple[slice, slice, slice]:
    """The earlier and the later player of every match, and who goes on without one."""
    even = players // 2 * 2
    return slice(0, even, 2), slice(1, even, 2), slice(even, None)


def all_pairs(me: ComputingParty, scores: Words, width: int) -> Words:
    """Every class plays every other one in the same step. The winner is the class that won all its matches."""
    classes = len(scores)
    earlier, later = np.triu_indices(classes, 1)
    later_wins = _sign(me, scores[earlier] - scores[later], width)
    matches, as_earlier = _matches_of_each(classes)
    won = later_wins[matches]
    won[as_earlier] = me.negate(won[as_earlier])
    # Now won[:, c] says of each of its matches whether class c has won it.
    wins = fold(me, won.reshape(classes - 1, -1), 1, partial(all_of, me)).reshape(classes, -1)
    return np.bitwise_or.reduce(wins.astype(np.uint64) << np.arange(classes, dtype=np.uint64)[:, None], axis=0)


@lru_cache
def _matches_of_each(classes: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """(K − 1, K): the numbers of every class's matches among all pairs, and in which of them it is the earlier one."""
    numbers = np.zeros((classes, classes), np.intp)
    numbers[np.triu_indices(classes, 1)] = np.arange(classes * (classes - 1) // 2)
    numbers += numbers.T
    others = np.array([[d for d in range(classes) if d != c] for c in range(classes)]).T
    own = np.arange(classes)
    return numbers[own, others], own < others


def _sign(me: ComputingParty, differences: Words, width: int) -> Bits:
    flat = (differences & mask(width)).reshape(-1)
    return negative(me, flat, width).reshape(differences.shape)
