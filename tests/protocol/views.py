"""What a party hears over many runs, and the statistics by which it tells nothing.

Its own seed and inputs stay fixed, its peers' seeds vary: over the runs every bit that it hears must be a fair coin, no
two of them bound together, and the frequencies the same whatever the others' secrets are. The seeds are fixed, and the
thresholds so far out that no choice of seeds would come near them.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Bytes, Words, mask
from mixbayes.protocol.computing_party import A
from tests.protocol.adversary import TappedPair, bias, bits_heard, bound_together, difference, varying

dealt = pytest.mark.usefixtures("dealt_base_transfers")
RUNS = 64
LONG = 1 << 11
"""Bytes of a message."""
LIMIT = 8.0
"""Standard deviations of a chi-square."""
N = 16
WIDTH = 40


def uniform(views: Bits) -> None:
    """Every position but the padding is a fair coin, and no two are bound together."""
    coins = views[:, varying(views)]
    assert coins.size
    assert abs(bias(coins)) < LIMIT
    assert bound_together(coins) == 0


def tells_nothing(views: list[Bits], padding: int | None = None) -> None:
    """Uniform for each secret, the same for all, and constant only where bits are padding: zero whatever the secret."""
    constant = ~varying(*views)
    for view in views:
        assert np.array_equal(~varying(view), constant)
        assert not view[:, constant].any()
        uniform(view)
    for one, other in pairwise(views):
        assert abs(difference(one[:, ~constant], other[:, ~constant])) < LIMIT
    assert padding is None or constant.sum() == padding


def words(value: int, *shape: int) -> Words:
    return np.full(shape or (N,), value, np.uint64)


def bits(value: int, *shape: int) -> Bits:
    return np.full(shape or (N,), value, np.uint8)


TOP = int(mask(WIDTH))


@lru_cache
def pairs_seen_by(role: int) -> list[TappedPair]:
    """The role's seed is always the same, the other's always another. Later steps use up what is left."""
    return [TappedPair(7, 700 + run) if role == A else TappedPair(700 + run, 7) for run in range(RUNS)]


def some_bits(messages: list[tuple[str, Bytes]]) -> Bits:
    """All bits of short messages. Of a long one those of every 61st byte: of every limb, at every place in it."""
    return bits_heard([(step, raw[::61] if raw.size > LONG else raw) for step, raw in messages])


def as_bits(output: Any) -> Bits:
    return np.unpackbits(np.ascontiguousarray(output).reshape(-1).view(np.uint8))
