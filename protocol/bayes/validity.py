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
digests is multiplied by a random matrix of bits, of which each mixer knows a share. If the digests are equal, the
product is zero and its shares are equal; else it is 128 random bits. Each mixer opens it by sending a hash of its share
under its own name, and not the share itself: a mixer that waited for that could answer with the same bits, and the
product would open to zero.

Why no lie passes. The two shares that the hospital sent decide which words agree; nothing that is drawn later changes
that. The mixers draw the nonce after both shares have arrived, and the hospital has no move after that. If the keyed
hash is like a random function, different words have equal digests with probability 2^-128, and a random matrix takes
the XOR of different digests to zero with the same probability. In place of the hash, a random linear combination modulo
2^64 would let an error of 2^63 pass half of the time.

What it shows. The hash for an honest hospital is known beforehand, and the product of a refused contribution is
uniform: only that it was refused can be told from it. A mixer that departs from the protocol chooses what this one bit
is about, so verdicts are counted and kept (`verdicts.py`). Each word of a mixer is masked, by its share of a carry or
by the hospital's own randomness. A digest of the words could still be compared with guesses, so no digest is ever sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import chain, islice

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.attributes.kind import SUM_BITS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.verdicts import KeptByBoth, VerdictBook, VerdictsInMemory, start_comparing
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


def honest(
    me: ComputingParty,
    layout: Layout,
    shares: Iterable[Words],
    nonce: Nonce | None = None,
    before_opening: Callable[[], None] | None = None,
) -> list[bool]:
    """Which contributions are counts of some table, from this mixer's share of each, both mixers' in the same order.

    A share holds the vectors of all folds, one after the other. `nonce` is what `start_nonce` gave, where it was called
    before. `before_opening` is called before this mixer says anything from which a verdict could be told.
    """
    key = (nonce or start_nonce(me))()
    digests = [digest for some in _together(layout, shares) for digest in _digests(me, layout, some, key)]
    return _equal(me, digests, before_opening) if digests else []


def judged(
    me: ComputingParty,
    layout: Layout,
    shares: Mapping[str, Callable[[], Words]],
    book: VerdictBook,
    kept: Mapping[str, KeptByBoth] | None = None,
    nonce: Nonce | None = None,
) -> dict[str, bool | None]:
    """By hospital, whether its contribution holds; None where no opening was left to find it out.

    `shares` are functions that give this mixer's shares; `kept` is what `start_comparing` gave, where it was called
    before. What both mixers keep is not opened again. What fails is checked a second time. A hospital cannot change its
    shares between two checks. So if they differ, or if counts fail that both mixers know to hold, a mixer did not
    compute what it should.
    """
    kept = start_comparing(me.channel, book, shares)() if kept is None else kept
    due = [name for name, one in kept.items() if one.settled is None and one.left]
    first = dict(zip(due, _checked(me, layout, shares, due, book, nonce), strict=True))
    passed = [name for name in due if first[name]]
    book.keep({name: True for name in passed if kept[name].mine.holds is None})
    _refuse_contradiction(me, kept, first)
    failed = [name for name in due if not first[name] and kept[name].left > 1]
    if failed:
        *again, holds = _checked(me, layout, shares, failed, book, None, me.constant(plain(layout)))
        if any(again) or not holds:
            why = "a contribution failed the check and then passed it, or one that is known to hold failed"
            raise OutOfRange(me.channel.peer, STEP, why)
        book.keep({name: False for name in failed if kept[name].mine.holds is None})
    settled = {name: one.settled for name, one in kept.items()}
    return settled | dict.fromkeys(passed, True) | dict.fromkeys(failed, False)


def _checked(
    me: ComputingParty,
    layout: Layout,
    shares: Mapping[str, Callable[[], Words]],
    names: Sequence[str],
    book: VerdictBook,
    nonce: Nonce | None,
    *more: Words,
) -> list[bool]:
    words = chain((shares[name]() for name in names), more)
    return honest(me, layout, words, nonce, partial(book.note, names))


def _refuse_contradiction(me: ComputingParty, kept: Mapping[str, KeptByBoth], found: Mapping[str, bool]) -> None:
    for name, holds in found.items():
        if kept[name].expected not in (None, holds):
            why = f"the verdict on the contribution of party {name} is not the one that was kept"
            raise OutOfRange(me.channel.peer, STEP, why)


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
        # The mixers learn one bit a contribution, and write down that they do. They look twice at what fails.
        named = {f"{place:09}": partial(np.copy, share) for place, share in enumerate(shares)}
        verdicts = [verdict is True for verdict in judged(me, layout, named, VerdictsInMemory()).values()]
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


def _equal(
    me: ComputingParty, digests: Sequence[bytes], before_opening: Callable[[], None] | None = None
) -> list[bool]:
    """Where A's digest and B's are the same: where both have the same share of the product with a random matrix."""
    products = _products(me, digests)
    if before_opening:
        before_opening()
    theirs = me.channel.swap(STEP, _hashes(products, me.role)).tobytes()
    expected = _hashes(products, 1 - me.role)
    places = range(0, len(expected), DIGEST_BYTES)
    return [theirs[at : at + DIGEST_BYTES] == expected[at : at + DIGEST_BYTES] for at in places]


def _products(me: ComputingParty, digests: Sequence[bytes]) -> Words:
    """XOR shares (contributions, 2) of 128 bits: a random matrix times the XOR of both digests, one for each."""
    words = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64).reshape(-1, _HALVES).T
    differing = ring.bits(words, 8 * DIGEST_BYTES)
    # The digests are XOR shares of where they differ. Bit i of it selects row i of a matrix of which nobody knows more
    # than a share; the rows have 128 bits, in two words.
    rows = me.random.words(_HALVES * differing.size).reshape(_HALVES, *differing.shape)
    selected = gate(me, np.broadcast_to(differing, rows.shape), rows, ring.WORD)
    return np.bitwise_xor.reduce(selected, axis=1).T


def _hashes(products: Words, role: int) -> bytes:
    """A hash of every share of a product, as the mixer of this role sends it."""
    name = bytes([role])
    shares = (row.astype("<u8").tobytes() for row in products)
    return b"".join(blake2b(share, person=name, digest_size=DIGEST_BYTES).digest() for share in shares)
