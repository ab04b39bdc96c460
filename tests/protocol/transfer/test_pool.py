from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.errors import PeerError, PeerGone, Reuse
from mixbayes.protocol.transfer.extension import CORRECTIONS, STRETCH, UNIT, Received, Sent
from mixbayes.protocol.transfer.pool import Marks
from tests.protocol.pairs import Pair, connect_asker, converse

FEW = Marks(low=UNIT, high=3 * UNIT)
takings = st.lists(st.integers(0, 5 * UNIT), min_size=1, max_size=8)


def assert_related(sent: list[Sent], received: list[Received], sizes: list[int]) -> None:
    """Every taking has its size, the receiver has the pads of its choices, and no pad comes twice."""
    assert [part.pads.shape[1] for part in sent] == [part.choices.size for part in received] == sizes
    pads = np.concatenate([part.pads for part in sent], axis=1)
    choices = np.concatenate([part.choices for part in received])
    chosen = np.concatenate([part.pads for part in received])
    assert np.array_equal(pads[choices, np.arange(choices.size)], chosen)
    assert np.unique(pads[..., 0]).size == pads[..., 0].size


@given(takings)
@settings(max_examples=20)
def test_parties_take_in_step_and_nothing_twice(sizes: list[int]) -> None:
    pair = Pair(1, FEW)

    def take(me: Any) -> list[tuple[Sent, Received, int]]:
        return [(*me.pool.take(size), me.pool.left) for size in sizes]

    of_a, of_b = pair.run(take)
    (sent_a, received_a, left_a), (sent_b, received_b, left_b) = zip(*of_a, strict=True), zip(*of_b, strict=True)
    assert_related(list(sent_a), list(received_b), sizes)
    assert_related(list(sent_b), list(received_a), sizes)
    assert left_a == left_b


@given(takings)
@settings(max_examples=20)
def test_asker_and_answerer_take_in_step_and_nothing_twice(sizes: list[int]) -> None:
    asker, answerer, ends = connect_asker(1, FEW)

    asked, answered = converse(
        [ends],
        lambda: [(asker.take(s), asker.left) for s in sizes],
        lambda: [(answerer.take(s), answerer.left) for s in sizes],
    )
    assert_related([sent for sent, _ in answered], [received for received, _ in asked], sizes)
    assert [left for _, left in answered] == [left for _, left in asked]


@pytest.mark.parametrize(
    ("wanted", "held"),
    [(1, UNIT), (FEW.high // 4, FEW.high), (FEW.high, FEW.high), (FEW.high + 1, 4 * UNIT), (1000, 8 * UNIT)],
)
def test_empty_pool_is_filled_with_four_times_as_many_up_to_its_high_mark_or_with_what_is_wanted(
    wanted: int, held: int
) -> None:
    pair = Pair(1, FEW)
    assert [pool.left for pool in pair.pools] == [0, 0]
    pair.run(lambda me: me.pool.reserve(wanted))
    assert [pool.left for pool in pair.pools] == [held, held]


def test_what_is_there_is_not_made_again() -> None:
    pair = Pair(1, FEW)
    pair.run(lambda me: me.pool.take(1))
    before = pair.ahead.first.traffic.sent
    pair.run(lambda me: me.pool.take(UNIT - 1))
    assert pair.ahead.first.traffic.sent == before
    assert pair.a.pool.left == 0


def test_topping_up_fills_below_the_low_mark_only() -> None:
    pair = Pair(1, FEW)
    pair.run(lambda me: me.pool.top_up())
    assert pair.a.pool.left == FEW.high
    pair.run(lambda me: me.pool.take(FEW.high - FEW.low))
    pair.run(lambda me: me.pool.top_up())
    assert pair.a.pool.left == FEW.low
    pair.run(lambda me: me.pool.take(1))
    pair.run(lambda me: me.pool.top_up())
    assert FEW.high <= pair.a.pool.left < FEW.high + UNIT


def test_taking_across_two_stretches() -> None:
    pair = Pair(1, FEW)
    (sent, _), (_, received) = pair.run(lambda me: me.pool.take(STRETCH + 5 * UNIT + 1))
    assert_related([sent], [received], [STRETCH + 5 * UNIT + 1])


def test_nothing_of_a_broken_pair_is_handed_out() -> None:
    """Not even what it still held when it broke."""
    pair = Pair(1, FEW)
    pair.run(lambda me: me.pool.take(1))
    pair.ahead.cut()
    with pytest.raises(PeerGone):
        pair.a.pool.take(FEW.high)
    with pytest.raises(Reuse, match=r"party B.*Connect again"):
        pair.a.pool.take(1)
    with pytest.raises(Reuse):
        pair.a.pool.reserve(0)


def test_nothing_of_a_broken_line_is_handed_out() -> None:
    asker, answerer, ends = connect_asker(1, FEW)
    converse([ends], lambda: asker.take(1), lambda: answerer.take(1))
    ends.cut()
    ends.first.close()
    with pytest.raises(Reuse, match="The conversation with mixer a"):
        asker.take(FEW.high)
    with pytest.raises(Reuse, match="transfers shared with mixer a"):
        asker.take(1)
    with pytest.raises(PeerGone):
        answerer.take(FEW.high)
    with pytest.raises(Reuse, match="party asker"):
        answerer.take(1)


def test_pool_breaks_too_if_what_came_was_wrong() -> None:
    pair = Pair(1, FEW)
    pair.ahead.second.send(CORRECTIONS, b"too short")
    with pytest.raises(PeerError):
        pair.a.pool.take(1)
    with pytest.raises(Reuse):
        pair.a.pool.take(1)
