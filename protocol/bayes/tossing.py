"""Coins that two parties toss: fair, known to neither, and checked before anything is done with them.

A coin is the XOR of a private bit of A and one of B, so it is fair, and unknown to whoever knows one of the two. One
correlated transfer turns it into additive shares (`to_arithmetic`). The sender of the transfer can cheat: with a word
of its choice in place of −2·bit it takes the other's bit out of the sum, and knows the coin. Therefore at least twice
as many coins are tossed as are needed, and those that are needed are chosen afterwards (cut and choose):

1. Both toss all coins. A coin has no weight yet. Each party writes its shares down.
2. Each commits to its half of public randomness, writes the other's commitment down, and shows its half. The two
   halves give an order of the coins.
3. The first coins of that order are dealt to the numbers: every number has a slot for each of its coins, and the slot
   has the weight. So nobody can aim at a number, or at a weight.
4. All other coins are opened. Each party commits to its bits and shares of them, writes the other's commitment down,
   and shows its bits. If one coin is not the XOR of its bits, the draw ends, and the other party is named. Nothing of
   the counts has been touched.

**What a liar can do.** Seen by the sender, the receiver's share of a coin is z + v·b: b is the receiver's bit, and the
sender has fixed z and v when it has sent its word. If v is 1 or −1, the coin is fair and unknown to the sender. Any
other v makes the coin *bad*. The sender of an opened bad coin commits to a bit a and a share x without knowing b, and
x + z + v·b = a ⊕ b is true for at most one b: so it passes with a probability of at most one half, and each bad coin by
itself. A bad coin that is dealt is known to the sender. `privacy/checking.py` bounds how many of them a liar gets past,
and `privacy/loss.py` counts what noise promises if some coins of every number are known. A receiver can only choose
its own bit. What either adds to its own share moves the noise by what it knows.

**Again.** If the conversation breaks off, the draw goes on from what is written down, with the same bits, the same
order and the same opened coins. Otherwise a liar would hang up whenever it does not like the order, or has been caught
by a bit that it saw, and try again. Until a party has the other's commitment in writing, it has not shown its half,
and the other cannot know the order: then, and only then, coins may be tossed anew. It follows that a party that
has sent its commitment and cannot go on is not one that crashed.

**At once.** A party is in one draw at a time: a liar that heard the order in one conversation could toss by it in
another. B takes its turn once it has heard that A has its own, so that honest parties come in the same sequence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixbayes.privacy.checking import tosses
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits, Words, slices
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.products import to_arithmetic
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import CheatingToss, OutOfRange
from mixbayes.protocol.packing import pack_bits, unpack_bits
from mixbayes.protocol.randomness import SEED_BYTES, Randomness

Order = NDArray[np.int64]
"""The coins that are dealt, one after the other, and then those that are opened."""

COINS, HALF, OPENED = "coins", "commitment to the order", "commitment to opened coins"
"""The draw's number with the own shares of all coins, and the other party's two commitments."""


class Notes(Protocol):
    """What a party has written down of a draw, by name: an assignment returns when the value is on disk."""

    def get(self, name: str, /) -> bytes | None: ...

    def __setitem__(self, name: str, value: bytes, /) -> None: ...


Turn = AbstractContextManager[object]
"""While a party is in it, the party is in no other draw."""


@dataclass(frozen=True, repr=False)
class Draw:
    """One party's part in a draw: the seed of its half of the bits, and what it has written down so far."""

    seed: bytes
    notes: Notes = field(default_factory=dict[str, bytes])
    turn: Turn = field(default_factory=nullcontext)


_BEGIN, _ORDER, _OPEN = "draw of noise", "order of the coins", "opened coins"
_NUMBER_BYTES = 16
"""Of each party's half of the number of a draw."""
_AT_ONCE = 1 << 17
"""Coins whose bits become shares at a time."""
_REMEDY = "Have the hospitals contribute anew: a new set of contributions gets noise of its own"


@dataclass(frozen=True, repr=False)
class _Tossed:
    """What one party has of all coins."""

    draw: bytes
    bits: Bits
    shares: Words
    half: bytes

    def written(self) -> bytes:
        return self.draw + self.shares.astype("<u8").tobytes()


def toss(me: ComputingParty, coins: Coins, numbers: int, own: Randomness, draw: Draw) -> Words:
    """This party's shares of so many numbers, each the sum of its coins, from its own half of the bits.

    `own` has the seed of the draw, and gives the same bits whenever it is repeated.
    """
    heard = me.channel.receive(_BEGIN, 3 * _NUMBER_BYTES).tobytes() if me.role == B else None
    with draw.turn:
        mine = _begun(me, tosses(coins, numbers), own, draw.notes, heard)
        order = _order(me, mine, draw.notes)
        dealt = coins.each * numbers
        _open(me, mine, order[dealt:], draw.notes)
    return _dealt(coins, mine.shares[order[:dealt]])


def toss_in_clear(coins: Coins, numbers: int, of_a: Randomness, of_b: Randomness) -> Words:
    """The same sums themselves, from both halves of the bits."""
    all_of_them = tosses(coins, numbers)
    bits = of_a.bits(all_of_them) ^ of_b.bits(all_of_them)
    order = _ordered(of_a.bytes(SEED_BYTES), of_b.bytes(SEED_BYTES), all_of_them)
    return _dealt(coins, bits[order[: coins.each * numbers]].astype(np.uint64))


def _begun(me: ComputingParty, count: int, own: Randomness, notes: Notes, heard: bytes | None) -> _Tossed:
    """All coins, as they are written down; tossed anew if one of the two parties has none, or others.

    `heard` is how A has begun, at B.
    """
    bits, half = own.bits(count), own.bytes(SEED_BYTES)
    kept, fresh = notes.get(COINS) or b"", me.random.bytes(_NUMBER_BYTES)
    draw = kept[: 2 * _NUMBER_BYTES] or bytes(2 * _NUMBER_BYTES)
    begun = _begin(me, draw + fresh, heard)
    # Whoever has none tosses without waiting for what the other one says: as a rule neither has any.
    shares = None if kept else _shared(me, bits)
    theirs = begun()
    if kept and theirs[: len(draw)] == draw:
        return _Tossed(draw, bits, np.frombuffer(kept[len(draw) :], "<u8").astype(np.uint64), half)
    if notes.get(HALF):
        why = "it cannot go on with a draw in which it has committed itself. Perhaps its folder is an old backup"
        raise OutOfRange(me.channel.peer, _BEGIN, why, _REMEDY)
    shares = _shared(me, bits) if shares is None else shares
    halves = [fresh, theirs[len(draw) :]]
    tossed = _Tossed(b"".join(halves if me.role == A else reversed(halves)), bits, shares, half)
    notes[COINS] = tossed.written()
    return tossed


def _begin(me: ComputingParty, words: bytes, heard: bytes | None) -> Callable[[], bytes]:
    """Say with which draw this party begins. What is returned waits for what the other one says."""
    if heard is not None:
        me.channel.send(_BEGIN, words)
        return lambda: heard
    finish = me.channel.start_swap(_BEGIN, words)
    return lambda: finish().tobytes()


def _shared(me: ComputingParty, bits: Bits) -> Words:
    return np.concatenate([to_arithmetic(me, bits[part], ring.WORD) for part in slices(bits.size, _AT_ONCE)])


def _order(me: ComputingParty, mine: _Tossed, notes: Notes) -> Order:
    """The order that both halves of the public randomness give."""
    theirs = me.channel.swap(HALF, _committed(me.role, mine.half)).tobytes()
    _write_down(me, HALF, theirs, notes)
    half = me.channel.swap(_ORDER, mine.half).tobytes()
    if _committed(1 - me.role, half) != theirs:
        raise CheatingToss(me.channel.peer, _ORDER, "its half of the order is not the one that it committed to")
    halves = (mine.half, half) if me.role == A else (half, mine.half)
    return _ordered(*halves, mine.bits.size)


def _ordered(half_of_a: bytes, half_of_b: bytes, count: int) -> Order:
    """A random order: places sorted by words that hardly ever are equal. Every machine comes to the same order."""
    words = Randomness(hashlib.sha256(b"mixbayes order of coins" + half_of_a + half_of_b).digest()).words(count)
    return np.argsort(words, kind="stable")


def _open(me: ComputingParty, mine: _Tossed, opened: Order, notes: Notes) -> None:
    """Raise if one of these coins is not the XOR of its bits."""
    bits, shares = mine.bits[opened], mine.shares[opened]
    theirs = me.channel.swap(OPENED, _claim(me.role, bits, shares)).tobytes()
    _write_down(me, OPENED, theirs, notes)
    shown = unpack_bits(me.channel.swap(_OPEN, pack_bits(bits)), bits.size, me.channel.peer, _OPEN)
    # The other party's shares follow from the coins and from mine. They need not be sent.
    if _claim(1 - me.role, shown, (bits ^ shown) - shares) != theirs:
        raise CheatingToss(me.channel.peer, _OPEN, "a coin of the noise is not what the bits of both make it")


def _claim(role: int, bits: Bits, shares: Words) -> bytes:
    return _committed(role, pack_bits(bits).tobytes() + shares.astype("<u8").tobytes())


def _committed(role: int, about: bytes) -> bytes:
    """A commitment of this role: nobody can repeat the other's. What it is about is too random to be guessed."""
    return hashlib.sha256(b"mixbayes draw" + bytes([role]) + about).digest()


def _write_down(me: ComputingParty, name: str, theirs: bytes, notes: Notes) -> None:
    if (before := notes.get(name)) is None:
        notes[name] = theirs
    elif before != theirs:
        raise CheatingToss(me.channel.peer, name, "it repeats a draw and does not say what it said before")


def _dealt(coins: Coins, kept: Words) -> Words:
    """Slot after slot, a coin for every number."""
    weights = np.array(coins.weights, np.uint64)
    return (kept.reshape(weights.size, -1) * weights[:, None]).sum(axis=0, dtype=np.uint64)
