"""Parties that cheat while coins of the noise are tossed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.bayes import tossing
from mixbayes.protocol.circuits.products import cross, to_arithmetic
from mixbayes.protocol.computing_party import ComputingParty
from tests.protocol.pairs import forget_pair

WORD = 64
Lie = Callable[[ComputingParty, Bits], Words]


def cancelling(bad: Callable[[int], NDArray[np.intp]]) -> Lie:
    """The liar sends −1 in place of −2·bit for some of the coins it sends, so that they show its own bit."""

    def lie(me: ComputingParty, bits: Bits) -> Words:
        sends, asks = me.halves(bits)
        words = sends * np.uint64(2**WORD - 2)
        words[bad(words.size)] = np.uint64(2**WORD - 1)
        as_sender, as_receiver = cross(me, asks, words[None], WORD)
        return bits + me.whole(as_sender, as_receiver, bits.size).reshape(-1)

    return lie


def another_choice(me: ComputingParty, bits: Bits) -> Words:
    """As the receiver, the liar chooses by other bits than those that it will show."""
    sends, asks = me.halves(bits)
    as_sender, as_receiver = cross(me, asks ^ np.uint8(1), (sends * np.uint64(2**WORD - 2))[None], WORD)
    return bits + me.whole(as_sender, as_receiver, bits.size).reshape(-1)


def all_of_them(count: int) -> NDArray[np.intp]:
    return np.arange(count)


@contextmanager
def lying(cheat: int, lie: Lie, patch: pytest.MonkeyPatch) -> Iterator[None]:
    def made(me: ComputingParty, bits: Bits, width: int) -> Words:
        return lie(me, bits) if me.role == cheat else to_arithmetic(me, bits, width)

    with patch.context() as patched:
        patched.setattr(tossing, "to_arithmetic", made)
        yield
    forget_pair()
