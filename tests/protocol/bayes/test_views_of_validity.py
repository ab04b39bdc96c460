"""What the mixers see of a contribution while they check it: one bit, and messages whose sizes everybody knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import validity
from mixbayes.protocol.bayes.validity import DIGEST_BYTES, honest
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.extension import Received, Sent
from mixbayes.protocol.transfer.pool import PairPool
from tests.protocol.adversary import TappedPair, bias, bits_heard, bound_together, difference, varying
from tests.protocol.bayes.contributions import (
    LISTS,
    MIXED,
    NOMINAL,
    TOP,
    mixed,
    possible,
    whole_in,
    with_lists,
    with_moments,
)
from tests.protocol.pairs import layout_of, random_counts, random_for, seed
from tests.protocol.views import LIMIT, pairs_seen_by


class Counted(PairPool):
    """Counts what it hands out."""

    def __init__(self, plain: PairPool) -> None:
        vars(self).update(vars(plain))
        self.taken = 0

    def take(self, count: int) -> tuple[Sent, Received]:
        self.taken += count
        return super().take(count)


@pytest.mark.parametrize("max_rows", [1000, 2**20, 2**40])
def test_a_cell_costs_about_three_halves_of_a_transfer_a_bit(max_rows: int) -> None:
    layout, bits = layout_of(5, [100] * 4, max_rows), max_rows.bit_length()
    pair = TappedPair(21, 22)
    pair.with_pools(Counted)
    share = split(random_counts(layout, np.random.default_rng(1), 1000), seed(1))
    assert pair.run(honest, (layout, [share.for_a()]), (layout, [share.for_b()])) == ([True], [True])
    assert isinstance(pair.a.pool, Counted)
    assert 2 * pair.a.pool.taken <= (1.5 * bits + 2) * layout.size + 2 * 200


def everybody(layout: Layout) -> Words:
    """All patients alike, numeric values at the upper bound."""
    return with_moments(layout, 1000, TOP * 1000, TOP * TOP * 1000, 0) if layout is MIXED else whole_in(layout, 0, 1000)


SECRETS: dict[str, Callable[[Layout], Words]] = {
    "no patients": lambda layout: np.zeros(layout.size, np.uint64),
    "all patients": everybody,
    "a lie": lambda layout: random_for(5).words(layout.size),
}


def script(layout: Layout, vectors: list[Words], number: int) -> tuple[object, object, int]:
    """Every message's step and length as either mixer hears them, and the rounds."""
    pair = TappedPair(number, number + 1)
    shares = [split(vector, seed(number + i)) for i, vector in enumerate(vectors)]
    pair.run(honest, (layout, [s.for_a() for s in shares]), (layout, [s.for_b() for s in shares]))
    heard = [[(step, raw.size) for step, raw in tap.heard] for tap in (pair.talk.first, pair.talk.second)]
    return heard[0], heard[1], pair.talk.first.traffic.rounds


@pytest.mark.parametrize("layout", [NOMINAL, MIXED, LISTS], ids=["nominal", "mixed", "lists"])
def test_lengths_and_rounds_depend_on_nothing_but_the_dictionary(layout: Layout) -> None:
    scripts = [script(layout, [make(layout)] * 3, 30 + 10 * i) for i, make in enumerate(SECRETS.values())]
    assert scripts[0] == scripts[1] == scripts[2]


@pytest.mark.parametrize("layout", [NOMINAL, MIXED, LISTS], ids=["nominal", "mixed", "lists"])
def test_only_products_are_opened_and_no_digest_is_sent(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    digests: list[bytes] = []
    plain = validity._digest

    def noted(words: Words, nonce: bytes) -> bytes:
        digests.append(plain(words, nonce))
        return digests[-1]

    monkeypatch.setattr(validity, "_digest", noted)
    pair = TappedPair(61, 62)
    shares = [split(make(layout), seed(i)) for i, make in enumerate(SECRETS.values())]
    pair.run(honest, (layout, [s.for_a() for s in shares]), (layout, [s.for_b() for s in shares]))
    circuit = {"announce choice of slots", "choice of slots", "bit and word", "bit times word"}
    for tap in (pair.talk.first, pair.talk.second):
        steps = [step for step, _ in tap.heard]
        assert [steps[0], steps[-1]] == ["nonce of the validity check", "validity"]
        assert tap.heard[-1][1].size == DIGEST_BYTES * len(shares)
        assert set(steps[1:-1]) <= circuit
        everything = b"".join(raw.tobytes() for _, raw in tap.heard)
        assert not any(digest[:8] in everything or digest[8:] in everything for digest in digests)
    assert len(digests) == 6


WATCHED = layout_of(2, [2], max_rows=200)
WATCHED_NUMBERS = mixed(200)
WATCHED_LISTS = with_lists(200)


def heard_by(role: int, layout: Layout, vector: Words, shares_of: dict[int, Words]) -> tuple[Bits, Bits]:
    """What the role hears before the end while its own share stays the same; and the product behind what is opened.

    `shares_of` takes up, by role, the shares of the product, of which the other role hears a hash.
    """
    own = random_for(40).words(layout.size)
    shares = (own, vector - own) if role == A else (vector - own, own)
    views, ends = [], []
    for pair in pairs_seen_by(role):
        tap = pair.talk.first if role == A else pair.talk.second
        tap.forget()
        shares_of.clear()
        pair.run(lambda me, share: honest(me, layout, [share]), (shares[0],), (shares[1],))
        views.append(bits_heard(tap.heard[:-1]))
        of_a, of_b = shares_of[A], shares_of[B]
        ends.append(np.unpackbits((of_a ^ of_b).view(np.uint8)))
        # What is heard last is the other's share, hashed under the other's name.
        assert tap.heard[-1][1].tobytes() == validity._hashes(shares_of[1 - role], 1 - role)
    return np.stack(views), np.stack(ends)


@pytest.mark.parametrize("role", [A, B], ids=["A", "B"])
@pytest.mark.parametrize("layout", [WATCHED, WATCHED_NUMBERS, WATCHED_LISTS], ids=["nominal", "mixed", "lists"])
@pytest.mark.usefixtures("dealt_base_transfers")
def test_what_a_mixer_hears_is_uniform_and_opens_to_the_verdict_alone(
    layout: Layout, role: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares_of: dict[int, Words] = {}
    plain = validity._products

    def noted(me: ComputingParty, digests: Sequence[bytes]) -> Words:
        shares_of[me.role] = plain(me, digests)
        return shares_of[me.role]

    monkeypatch.setattr(validity, "_products", noted)
    secrets = [np.zeros(layout.size, np.uint64), whole_in(layout, 2, 200), random_for(9).words(layout.size)]
    seen = [heard_by(role, layout, vector, shares_of) for vector in secrets]
    for (_, ends), vector in zip(seen, secrets, strict=True):
        # 128 zeros of a contribution that holds. Of a lie bits that are as random as they look.
        if possible(layout, vector):
            assert not ends.any()
        else:
            assert abs(bias(ends)) < LIMIT
            assert bound_together(ends, 3000) == 0
    views = [view for view, _ in seen]
    coins = varying(*views)
    for view in views:
        assert not view[:, ~coins].any()
        assert abs(bias(view[:, coins])) < LIMIT
        assert bound_together(view[:, coins], 3000) == 0
    for other in views[1:]:
        assert abs(difference(views[0][:, coins], other[:, coins])) < LIMIT
