"""What a computing party hears while noise is drawn: nothing of the other one's coins, nor of what they fall on."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.noise import blurred
from mixbayes.protocol.bayes.tossing import Draw, toss
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from tests.protocol.adversary import LAYOUT, bits_heard, counts_of
from tests.protocol.pairs import random_for, seed
from tests.protocol.views import dealt, pairs_seen_by, tells_nothing

COINS = Coins((4, 2, 3))
NOISY = Layout(LAYOUT.dictionary, Terms(coins=COINS))
PUBLIC = {"opened coins", "commitment to opened coins", "order of the coins", "commitment to the order"}
"""Steps at which a party hears bits of coins that are opened, and public randomness: nothing else depends on these."""
roles = pytest.mark.parametrize("role", [A, B], ids=["A", "B"])


class AllAlike(Randomness):
    """Coins that all fall the same way."""

    def __init__(self, side: int) -> None:
        super().__init__(seed(0))
        self._side = side

    def bits(self, *shape: int) -> Bits:
        return np.full(shape, self._side, np.uint8)


def heard_by(role: int, of_the_other: int, counts: Words) -> Bits:
    """What the role hears while its own coins and share stay the same."""
    own = random_for(40).words(NOISY.size)
    shares = (own, counts - own) if role == A else (counts - own, own)

    def draw(me: ComputingParty, share: Words) -> None:
        mine = random_for(41) if me.role == role else AllAlike(of_the_other)
        toss(me, COINS, 5, mine, Draw(b""))
        blurred(me, NOISY, share, Draw(seed(42)))

    views = []
    for pair in pairs_seen_by(role):
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        pair.run(draw, (shares[0],), (shares[1],))
        views.append(bits_heard([(step, message) for step, message in tap.heard if step not in PUBLIC]))
    return np.stack(views)


@dealt
@roles
def test_what_a_party_hears_of_the_draw_is_uniform_whatever_the_others_coins_and_the_counts(role: int) -> None:
    counts = np.zeros(NOISY.size, np.uint64), counts_of(NOISY, 200, 8)
    tells_nothing([heard_by(role, side, vector) for side, vector in zip((0, 1), counts, strict=True)])
