"""The steps of the check of contributions: cutting words, lifting them, comparing digests, piece by piece."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes import gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes import validity
from mixbayes.protocol.bayes.validity import honest, plain, start_nonce
from mixbayes.protocol.circuits.bounded import Cut, cut, excess, lifted, times
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.shares import split
from tests.protocol.bayes.contributions import LISTS, MIXED, NOMINAL, SMALL, changed, table, verdicts
from tests.protocol.pairs import SEEDS, added, additive, both, random_for, seed, words_of


@pytest.mark.parametrize("width", range(1, 64))
def test_both_hold_the_same_exactly_in_range(width: int) -> None:
    borders = [0, 1, 2**width - 1, 2**width, 2**width + 1, 2**63, 2**64 - 1, 2**64 - 2**width]
    numbers = [n % 2**64 for n in borders] + [1 << k for k in range(64)]

    def step(me: ComputingParty, share: Words) -> Words:
        return excess(me, share, cut(me, share, width))

    words = words_of(numbers)
    chosen = [np.full_like(words, n % 2**64) for n in borders]  # by a hospital that hopes for a certain carry
    for of_a in [random_for(width).words(words.size), *chosen]:
        mine, other = both(step, (of_a,), (words - of_a,))
        assert (mine == other).tolist() == [n < 2**width for n in numbers]
        assert not (mine >> np.uint64(64 - width)).any()


@given(st.integers(1, 63), st.integers(1, 140), SEEDS)
def test_a_cut_word_is_lifted_and_multiplied_in_wider_rings(width: int, more: int, number: int) -> None:
    rng, wide = np.random.default_rng(number), width + more
    numbers = [int(n) for n in rng.integers(0, 2**width, 5, dtype=np.uint64)] + [0, 2**width - 1]
    factors = [int.from_bytes(rng.bytes(wide // 8 + 1), "little") % 2**wide for _ in numbers]

    def step(me: ComputingParty, share: Words, factor: Words) -> tuple[Words, Words]:
        parts: Cut = cut(me, share, width)
        return lifted(me, parts, wide), times(me, parts, factor, wide)

    (word_a, word_b) = additive(words_of(numbers), 64, number)
    factor_a, factor_b = additive(words_of(factors, wide), wide, number + 1)
    (lift_a, times_a), (lift_b, times_b) = both(step, (word_a, factor_a), (word_b, factor_b))
    assert added((lift_a, lift_b), wide) == numbers
    assert added((times_a, times_b), wide) == [n * f % 2**wide for n, f in zip(numbers, factors, strict=True)]


def linear(words: Words, nonce: bytes) -> bytes:
    """A random linear combination modulo 2^64, in place of a digest."""
    factors = np.random.default_rng(int.from_bytes(nonce, "little")).integers(0, 2**64, words.size, dtype=np.uint64)
    return int((words * factors).sum(dtype=np.uint64)).to_bytes(16, "little")


def test_linear_combination_would_pass_two_to_the_63_half_of_the_time() -> None:
    words = random_for(1).words(20)
    lie = changed(words, {3: 2**63})
    nonces = [random_for(n).bytes(32) for n in range(200)]
    passed = sum(linear(words, nonce) == linear(lie, nonce) for nonce in nonces)
    assert 60 < passed < 140
    assert not any(validity._digest(words, nonce) == validity._digest(lie, nonce) for nonce in nonces)


def test_digest_depends_on_every_bit_of_every_word_and_on_the_nonce() -> None:
    words = np.zeros(3, np.uint64)
    lies = [changed(words, {cell: 1 << k}) for cell in range(3) for k in range(64)]
    digests = {validity._digest(words, seed(n)) for n in range(50)} | {validity._digest(lie, seed(0)) for lie in lies}
    assert len(digests) == 50 + 192
    assert {len(digest) for digest in digests} == {16}


def test_nonce_is_common_and_new_every_time() -> None:
    nonces = [both(lambda me: start_nonce(me)(), ()) for _ in range(3)]
    assert all(of_a == of_b for of_a, of_b in nonces)
    assert len({of_a for of_a, _ in nonces}) == 3


@pytest.mark.parametrize("bit", range(128))
def test_every_bit_of_the_digests_is_compared(bit: int) -> None:
    digest = random_for(3).bytes(16)
    other = (int.from_bytes(digest, "little") ^ 1 << bit).to_bytes(16, "little")

    assert both(validity._equal, ([digest] * 3,), ([digest, other, digest],)) == ([True, False, True],) * 2


def test_digests_are_compared_in_two_rounds() -> None:
    digests = [random_for(n).bytes(16) for n in range(5)]

    def rounds(me: ComputingParty) -> int:
        me.pool.reserve(1 << 11)
        before = me.channel.traffic.rounds
        validity._equal(me, digests)
        return me.channel.traffic.rounds - before

    assert both(rounds, ()) == (2, 2)


def test_what_different_digests_open_to_tells_nothing_of_them() -> None:
    """Of one difference and of another, in one bit or in all, the opened bits are as random, and never the same."""
    digest = random_for(3).bytes(16)
    others = [bytes([digest[0] ^ 1]) + digest[1:], bytes(byte ^ 255 for byte in digest)]
    for other in others:
        count = 200
        products = both(validity._products, ([digest] * count,), ([other] * count,))
        opened = np.ascontiguousarray(products[0] ^ products[1])
        assert len(np.unique(opened, axis=0)) == count
        ones = np.unpackbits(opened.view(np.uint8)).mean()
        assert abs(ones - 1 / 2) < 5 / (2 * np.sqrt(128 * count))


def test_equal_digests_open_to_zero() -> None:
    digests = [random_for(n).bytes(16) for n in range(20)]
    of_a, of_b = both(validity._products, (digests,), (digests,))
    assert of_a.any(axis=1).all()
    assert not (of_a ^ of_b).any()


@pytest.mark.parametrize("cells", [1, 7, 40])
def test_pieces_change_nothing(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = [table(MIXED, 50, i) for i in range(4)]
    vectors += [changed(vector, {i: 1}) for i, vector in enumerate(vectors)]
    monkeypatch.setattr(validity, "_CELLS", cells)
    monkeypatch.setattr(gaussian, "_MOMENTS_AT_ONCE", max(1, cells // 3))
    assert verdicts(MIXED, vectors) == [True] * 4 + [False] * 4


def test_shares_may_come_one_by_one() -> None:
    shares = [split(vector, seed(i)) for i, vector in enumerate([SMALL, changed(SMALL, {0: 1}), SMALL])]
    results = both(
        lambda me, side: honest(me, NOMINAL, (share.for_a() if side == A else share.for_b() for share in shares)),
        (A,),
        (B,),
    )
    assert results == ([True, False, True],) * 2


@pytest.mark.parametrize("layout", [NOMINAL, MIXED, LISTS], ids=["nominal", "Gaussian", "lists"])
@pytest.mark.parametrize("terms", [Terms(hospitals=2), Terms(hospitals=2, folds=3, min_rows=7)], ids=["plain", "folds"])
def test_contribution_that_both_mixers_know_to_hold_does_hold(layout: Layout, terms: Terms) -> None:
    agreed = Layout(layout.dictionary, terms)
    known = plain(agreed)
    assert verdicts(agreed, [known, changed(known, {0: 1})]) == [True, False]
