"""The check of a contribution on shares: is a shared vector the counts of some table? It opens yes or no, nothing else.

A vector is that of some table in the dictionary's layout if

- every count is in [0, 2^b), b the bits of the most rows that a hospital may have; so are that maximum minus Σ n_c, and
  Σ n_c minus the least rows that it must have;
- in every attribute and class the values and the missing ones add up to n_c, modulo 2^64 and so as integers: 2^20 cells
  below 2^41 do not wrap;
- the differences that a kind of attribute requires to be non-negative are so: a cell with several values has no more
  present values than may count (`several.py`);
- the further conditions of a kind hold: the moments of a Gaussian attribute are possible (`gaussian_validity.py`).

A contribution has a vector for every fold. Each must be that of some table; the limits on rows apply to their sum.

Each of these statements becomes a word that mixers A and B hold alike exactly if it is true: for a range the words of
`bounded.py`, for an identity A's share and minus B's, for an inequality the XOR shares of its failure. The vector is
valid exactly if all of A's words equal B's. Each mixer hashes its own to 128 bits under a nonce. The XOR of both
digests is multiplied by a random matrix of bits, of which each mixer knows a share, and the product is opened: 128
zeros if the digests are equal, and else 128 random bits.

Why no lie passes. The two shares that the hospital sent decide which words agree; nothing that is drawn later changes
that. The mixers draw the nonce after both shares have arrived, and the hospital has no move after that. If the keyed
hash is like a random function, different words have equal digests with probability 2^-128, and a random matrix takes
the XOR of different digests to zero with the same probability. In place of the hash, a random linear combination modulo
2^64 would let an error of 2^63 pass half of the time.

What it shows. The zeros of an honest hospital are known beforehand, and the product of a refused contribution is
uniform: only that it was refused can be told from it. Each word of a mixer is masked, by its share of a carry or by the
hospital's own randomness. A digest of the words could still be compared with guesses, so no digest is ever sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain, islice

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.attributes.kind import SUM_BITS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.bounded import cut, excess, held_alike
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import Share
from mixbayes.protocol.transfer.pool import connect_pair

STEP = "validity"
DIGEST_BYTES = 16
_NONCE_BYTES = 16
_HALVES = DIGEST_BYTES // 8
"""Words in a digest, and in a row of the matrix."""
_CELLS = 1 << 15
"""Cells compared at a time, and contributions taken together up to as many."""


Nonce = Callable[[], bytes]


def honest(me: ComputingParty, layout: Layout, shares: Iterable[Words], nonce: Nonce | None = None) -> list[bool]:
    """Which contributions are counts of some table, from this mixer's share of each, both mixers' in the same order.

    A share holds the vectors of all folds, one after the other. `nonce` is what `start_nonce` gave, where it was called
    before.
    """
    key = (nonce or start_nonce(me))()
    digests = [digest for some in _together(layout, shares) for digest in _digests(me, layout, some, key)]
    return _equal(me, digests) if digests else []


def judged(
    me: ComputingParty, layout: Layout, shares: Sequence[Callable[[], Words]], nonce: Nonce | None = None
) -> list[bool]:
    """Which contributions hold, from functions that give this mixer's shares. What fails is checked a second time.

    A hospital cannot change its shares between the two checks. So if they differ, or if counts fail that both mixers
    know to hold, a mixer did not compute what it should.
    """
    verdicts = honest(me, layout, (share() for share in shares), nonce)
    failed = [share for share, right in zip(shares, verdicts, strict=True) if not right]
    if failed:
        known = me.constant(plain(layout))
        *again, passed = honest(me, layout, chain((share() for share in failed), [known]))
        if any(again) or not passed:
            why = "a contribution failed the check and then passed it, or one that is known to hold failed"
            raise OutOfRange(me.channel.peer, STEP, why)
    return verdicts


def run_validation(
    layout: Layout, contributions: Sequence[Share], seeds: tuple[bytes, bytes]
) -> tuple[list[bool], Words, Words]:
    """Both mixers in memory, by their seeds: which contributions are honest, and both shares of the sum of these."""
    # Every hospital has sent its seed to mixer A and its masked words to mixer B, and can change neither any more.
    of_a = [contribution.for_a() for contribution in contributions]
    of_b = [contribution.for_b() for contribution in contributions]
    to_b, to_a = memory.channels("mixer a", "mixer b")
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("mixer a", "mixer b")

    def mixer(role: int, other: Channel, ahead: Channel, shares: list[Words]) -> tuple[list[bool], Words]:
        random = Randomness(seeds[role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        # The mixers learn one bit a contribution. They look twice at what fails.
        verdicts = judged(me, layout, [partial(np.copy, share) for share in shares])
        # What was refused is not in the sum.
        accepted = [joint(layout, share) for share, verdict in zip(shares, verdicts, strict=True) if verdict]
        return verdicts, sum(accepted, np.zeros(layout.size, np.uint64))

    (verdicts, sum_a), (_, sum_b) = memory.together(
        lambda: mixer(A, to_b, ahead_b, of_a), lambda: mixer(B, to_a, ahead_a, of_b)
    )
    return verdicts, sum_a, sum_b


def joint(layout: Layout, share: Words) -> Words:
    """A share of the counts of all folds together."""
    return share.reshape(layout.terms.folds, layout.size).sum(axis=0, dtype=np.uint64)


def plain(layout: Layout) -> Words:
    """The contribution of a table with the fewest agreed rows, all of them equal: it is valid."""
    vector = np.zeros((layout.terms.folds, layout.size), np.uint64)
    one = Codes(np.zeros((layout.columns, 1), np.int32), np.zeros(1, np.int32))
    vector[0] = np.uint64(max(1, layout.terms.min_rows)) * count(layout, one)
    return vector.reshape(-1)


def start_nonce(me: ComputingParty) -> Nonce:
    """Draw the own half of a nonce, when the contributions are in, and send it.

    What is returned waits for the other half and gives the nonce.
    """
    mine = me.random.bytes(_NONCE_BYTES)
    finish = me.channel.start_swap("nonce of the validity check", mine)

    def nonce() -> bytes:
        theirs = finish().tobytes()
        return mine + theirs if me.role == A else theirs + mine

    return nonce


def _together(layout: Layout, shares: Iterable[Words]) -> Iterator[Words]:
    """(some, folds, size): as many contributions as fit."""
    rest = iter(shares)
    while some := list(islice(rest, max(1, _CELLS // layout.contributed))):
        yield np.stack(some).reshape(len(some), layout.terms.folds, layout.size)


def _digests(me: ComputingParty, layout: Layout, vectors: Words, nonce: bytes) -> list[bytes]:
    words = np.concatenate([part.reshape(len(vectors), -1) for part in _statements(me, layout, vectors)], axis=1)
    return [_digest(row, nonce) for row in words]


def _digest(words: Words, nonce: bytes) -> bytes:
    return blake2b(words.astype("<u8").tobytes(), key=nonce, digest_size=DIGEST_BYTES).digest()


def _statements(me: ComputingParty, layout: Layout, contributions: Words) -> list[Words]:
    """Words that A and B hold alike exactly if the statements are true, for each contribution and each of its folds."""
    rows, many, vectors = layout.rows_each, len(contributions), contributions.reshape(-1, layout.size)
    of_class, blocks = layout.class_counts(vectors), list(layout.blocks(vectors))
    total = of_class.reshape(many, -1).sum(axis=1, keepdims=True, dtype=np.uint64)
    room = me.constant(np.full((many, 1), rows, np.uint64)) - total
    beyond_least = total - me.constant(np.full((many, 1), layout.terms.min_rows, np.uint64))
    counters = [of_class, *(attribute.counters(block) for attribute, block in blocks), room, beyond_least]
    each = [part.reshape(many, -1) for part in counters]
    statements = [_ranges(me, np.concatenate(each, axis=1), rows.bit_length())]
    statements += [held_alike(me, attribute.surplus(block, of_class)) for attribute, block in blocks]
    statements.append(_negatives(me, [attribute.room(block) for attribute, block in blocks], rows.bit_length()))
    # Counts are in range and add up. What a kind demands beyond that comes last.
    for kind, positions in layout.by_kind():
        statements += kind.further_statements(me, [blocks[i][1] for i in positions], rows)
    return statements


def _ranges(me: ComputingParty, words: Words, bits: int) -> Words:
    flat = words.reshape(-1)
    pieces = [flat[start : start + _CELLS] for start in range(0, flat.size, _CELLS)]
    return np.concatenate([excess(me, piece, cut(me, piece, bits)) for piece in pieces]).reshape(words.shape)


def _negatives(me: ComputingParty, room: Sequence[Words], bits: int) -> Words:
    """XOR shares of whether each difference is negative: equal if none is. Differences of counters in range fit."""
    words, width = np.concatenate(room, axis=1), bits + SUM_BITS + 1
    if not words.size:
        return words
    return negative(me, words.reshape(-1) & mask(width), width).astype(np.uint64).reshape(words.shape)


def _equal(me: ComputingParty, digests: Sequence[bytes]) -> list[bool]:
    """Where A's digest and B's are the same: where the opened product with a random matrix is zero."""
    return [not product.any() for product in _opened(me, _products(me, digests))]


def _products(me: ComputingParty, digests: Sequence[bytes]) -> Words:
    """XOR shares (contributions, 2) of 128 bits: a random matrix times the XOR of both digests, one for each."""
    words = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, _HALVES).T
    differing = ring.bits(words, 8 * DIGEST_BYTES)
    # The digests are XOR shares of where they differ. Bit i of it selects row i of a matrix of which nobody knows more
    # than a share; the rows have 128 bits, in two words.
    rows = me.random.words(_HALVES * differing.size).reshape(_HALVES, *differing.shape)
    selected = gate(me, np.broadcast_to(differing, rows.shape), rows, ring.WORD)
    return np.bitwise_xor.reduce(selected, axis=1).T


def _opened(me: ComputingParty, products: Words) -> Words:
    raw = np.ascontiguousarray(products).astype("<u8").tobytes()
    theirs = np.frombuffer(me.channel.swap(STEP, raw).tobytes(), "<u8").reshape(products.shape)
    return products ^ theirs.astype(np.uint64)
