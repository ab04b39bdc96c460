"""Wherever both parties must make something at random, either half alone changes what comes of it.

`PLACES` lists all of these places: a new one is one line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import SUM
from mixbayes.protocol.attributes.gaussian_noise import UNITS
from mixbayes.protocol.bayes import evaluation, label, tossing, validity
from mixbayes.protocol.bayes.noise import blurred
from mixbayes.protocol.bayes.tossing import Draw, toss
from mixbayes.protocol.bayes.validity import DIGEST_BYTES, start_nonce
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.paillier import classification as paillier
from mixbayes.protocol.randomness import SEED_BYTES
from mixbayes.protocol.transfer.base import receive_base, send_base
from mixbayes.protocol.transfer.extension import FOURS, UNIT
from mixbayes.protocol.transfer.kinds import EXTENDED, TransferKind
from mixbayes.protocol.transfer.pool import connect_pair
from tests.protocol.bayes.test_noise import noisy
from tests.protocol.paillier.test_views_of_paillier import GROUP
from tests.protocol.pairs import both, random_for
from tests.protocol.transfer.silent_pairs import SMALL

Drawn = Callable[[ComputingParty], Any]
"""What a party does with its own randomness, and with what the other one sends."""
SILENT = TransferKind(FOURS, SMALL, extended=0)
NUMBERS = noisy([Gaussian(name="g", low=0.0, high=1.0)])


@dataclass(frozen=True)
class Place:
    """Something that both parties must make at random, and what of it depends on both halves."""

    name: str
    drawn: Drawn
    outcome: Callable[[Any, Any], Any]


def alike(of_a: Any, of_b: Any) -> Any:
    """Both hold the same."""
    assert np.array_equal(of_a, of_b)
    return of_a


def added(of_a: Words, of_b: Words) -> Words:
    """Both hold additive shares of it."""
    return of_a + of_b


def at_a(of_a: Any, _: Any) -> Any:
    """A holds it."""
    return of_a


def at_b(_: Any, of_b: Any) -> Any:
    """B holds it."""
    return of_b


def below_the_unit(of_a: Words, of_b: Words) -> Words:
    """The lowest bits of the noise on sums of numbers, which are uniform."""
    return NUMBERS.block(added(of_a, of_b), 0)[SUM] & mask(UNITS[1])


def pad_of_labels(me: ComputingParty) -> Any:
    pad = label.blinding_for(b"question", label.common_blinding(me))
    return label.blinded(np.zeros(9, np.uint64), 60, pad)


def pad_of_totals(me: ComputingParty) -> Words:
    pad = label.blinding_for(b"question", label.common_blinding(me))
    return evaluation.blinded(me, np.zeros(9, np.uint64), pad).view(np.uint64)


def matrix(me: ComputingParty) -> Words:
    """The product of the check's matrix with what differs in two digests."""
    digest = bytes([me.role, 1]) * (DIGEST_BYTES // 2)
    return validity._products(me, [digest])


def coins(me: ComputingParty) -> Words:
    return toss(me, Coins((2, 1, 3)), 30, me.random, Draw(b""))


def order(me: ComputingParty) -> Any:
    mine = tossing._Tossed(b"", np.zeros(99, np.uint8), np.zeros(99, np.uint64), me.random.bytes(SEED_BYTES))
    return tossing._order(me, mine, {})


def noise_of_numbers(me: ComputingParty) -> Words:
    return blurred(me, NUMBERS, np.zeros(NUMBERS.size, np.uint64), Draw(me.random.bytes(SEED_BYTES)))


def code_of_silent_transfers(me: ComputingParty) -> Words:
    pool = connect_pair(me.role, me.channel, me.random, kind=SILENT)
    assert pool._silent
    outputs, secret = np.zeros((64, 2), np.uint64), random_for(1).words(SMALL.secret, 2)
    pool._silent._code.add(secret, outputs)
    return outputs


def base_keys(me: ComputingParty) -> Words:
    made = send_base(me.channel, me.random) if me.role == A else receive_base(me.channel, me.random)
    return made.keys


def challenge(me: ComputingParty) -> bytes:
    """The last key by which the receiver's columns are checked, of the direction in which A is the sender."""
    pool = connect_pair(me.role, me.channel, me.random)
    pool.reserve(UNIT)
    return (pool._sender if me.role == A else pool._receiver)._challenges.next(np.zeros(1, np.uint8))


def pads_sent(kind: TransferKind) -> Drawn:
    """Both pads of transfers, at their sender; the receiver has one of each."""

    def drawn(me: ComputingParty) -> Words:
        sent, _ = connect_pair(me.role, me.channel, me.random, kind=kind).take(8)
        return sent.pads

    return drawn


def winners_number(me: ComputingParty) -> Any:
    """New multiplicative shares of the winner's number."""
    earlier, later = (np.full((2, 1, 4), number, object) for number in (2 + me.role, 5 + me.role))
    return paillier._reshared(me, GROUP, np.array([[0, 1, 0, 1]], np.uint8), earlier, later)


PLACES = [
    Place("seed of the pads", label.common_blinding, alike),
    Place("pad of labels", pad_of_labels, alike),
    Place("pad of totals, which A adds", pad_of_totals, at_a),
    Place("pad of totals, which B subtracts", pad_of_totals, at_b),
    Place("nonce of the check of contributions", lambda me: start_nonce(me)(), alike),
    Place("matrix of the check of contributions", matrix, np.bitwise_xor),
    Place("coins", coins, added),
    Place("order of the coins", order, alike),
    Place("noise of sums of numbers", noise_of_numbers, added),
    Place("what is uniform in it", noise_of_numbers, below_the_unit),
    Place("keys of base transfers, at their sender", base_keys, at_a),
    Place("keys of base transfers, at their receiver", base_keys, at_b),
    Place("pads of extended transfers", pads_sent(EXTENDED), at_a),
    Place("pads of silent transfers", pads_sent(SILENT), at_b),
    Place("key of the check of transfers", challenge, alike),
    Place("matrix of silent transfers", code_of_silent_transfers, alike),
    Place("shares of a winner in Paillier, at A", winners_number, at_a),
    Place("shares of a winner in Paillier, at B", winners_number, at_b),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_either_half_changes_what_both_make(place: Place) -> None:
    def outcome(of_a: int, of_b: int) -> Any:
        halves = {A: random_for(of_a), B: random_for(of_b)}
        return place.outcome(*both(lambda me: place.drawn(replace(me, random=halves[me.role])), ()))

    drawn = outcome(1, 2)
    # It depends on both halves and on nothing else.
    assert np.array_equal(outcome(1, 2), drawn)
    assert not np.array_equal(outcome(3, 2), drawn)
    assert not np.array_equal(outcome(1, 3), drawn)
