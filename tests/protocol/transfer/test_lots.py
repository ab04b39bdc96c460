"""Lots by their numbers, and pools that are filled from them: alike at both ends, and no transfer twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol import memory
from mixbayes.protocol.errors import OutOfRange, Reuse, WrongStep
from mixbayes.protocol.shares import A, B
from mixbayes.protocol.transfer import supplied
from mixbayes.protocol.transfer.extension import Received, Sent
from mixbayes.protocol.transfer.lots import LOT, NAMED_BYTES, NO_SESSION, Lot, Lots, Shelf
from mixbayes.protocol.transfer.pads import all_masks, chosen_masks, long_hash
from mixbayes.protocol.transfer.supplied import STEP, NoLots, SuppliedPool, connect_supplied
from tests.protocol.pairs import Ends, converse, random_for

SESSION = b"s" * 16
takings = st.lists(st.integers(0, 3 * LOT), min_size=1, max_size=6)


def ideal(first: int, count: int, number: int = 1) -> tuple[Lot, Lot]:
    """Transfers as an extension would make them, at A and at B. Every pad differs from all others."""
    random = random_for(1_000_000 * number + first)
    hashes = long_hash(b"0" * 16), long_hash(b"1" * 16)
    both = [random.words(2, count, 2) for _ in range(2)]
    choices = [random.bits(count) for _ in range(2)]
    chosen = [np.ascontiguousarray(pads[bits, np.arange(count)]) for pads, bits in zip(both, choices, strict=True)]
    at_a = Lot(Sent(both[0]), Received(choices[1], chosen[1]), *hashes)
    at_b = Lot(Sent(both[1]), Received(choices[0], chosen[0]), *reversed(hashes))
    return at_a, at_b


class Shelves:
    """Both ends of a supply in memory, which makes lots whenever some are asked for that are not made."""

    def __init__(self, ready: int = 0, session: bytes = SESSION, most: int = 1 << 20) -> None:
        self.shelves = Shelf(session), Shelf(session)
        self.most = most
        self.away = False
        if ready:
            self.make(ready)

    def make(self, lots: int) -> None:
        for shelf, made in zip(self.shelves, ideal(self.shelves[0].made * LOT, lots * LOT), strict=True):
            shelf.put(made)

    def end(self, role: int) -> Source:
        return Source(self, role)


class Source:
    def __init__(self, both: Shelves, role: int) -> None:
        self.both, self.shelf = both, both.shelves[role]

    def promise(self, lots: int) -> Lots | None:
        if self.both.away or self.shelf.promised >= self.both.most:
            return None
        found = self.shelf.promise(lots)
        if self.shelf.spare < 0:
            self.both.make(-self.shelf.spare)
        return found

    def take(self, lots: Lots) -> list[Lot]:
        return self.shelf.take(lots)


def pools(sources: Any, ends: Ends) -> tuple[SuppliedPool, SuppliedPool]:
    return (
        connect_supplied(A, ends.first, random_for(1), sources[A]),
        connect_supplied(B, ends.second, random_for(2), sources[B]),
    )


def together(ends: Ends, both: tuple[SuppliedPool, SuppliedPool], step: Callable[[SuppliedPool], Any]) -> list[Any]:
    return converse([ends], *(lambda pool=pool: step(pool) for pool in both))


def related(sent: Sent, received: Received) -> bool:
    chosen = sent.pads[received.choices, np.arange(len(received.choices))]
    return np.array_equal(chosen, received.pads)


def test_names_travel_as_they_are() -> None:
    named = Lots(SESSION, (1 << 64) - 1, 7)
    assert len(named.encoded()) == NAMED_BYTES
    assert Lots.decoded(named.encoded()) == named


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_promised_lots_never_overlap_and_each_can_be_taken_once(counts: list[int], order: Any) -> None:
    shelf = Shelf(SESSION)
    shelf.put(ideal(0, LOT * sum(counts))[A])
    names = [shelf.promise(count) for count in counts]
    assert [n for name in names for n in range(name.first, name.end)] == list(range(sum(counts)))
    assert shelf.spare == 0
    order.shuffle(names)
    seen = [lot.sent.pads[0, 0].tobytes() for name in names for lot in shelf.take(name)]
    assert len(set(seen)) == sum(counts)
    for name in names:
        with pytest.raises(Reuse):
            shelf.take(name)


def test_name_that_holds_a_used_lot_takes_none_of_the_others() -> None:
    shelf = Shelf(SESSION)
    shelf.put(ideal(0, 3 * LOT)[A])
    shelf.take(Lots(SESSION, 1, 1))
    with pytest.raises(Reuse):
        shelf.take(Lots(SESSION, 0, 3))
    assert len(shelf.take(Lots(SESSION, 0, 1)) + shelf.take(Lots(SESSION, 2, 1))) == 2


@settings(max_examples=25)
@given(takings)
def test_both_ends_are_handed_the_same_transfers_and_none_twice(sizes: list[int]) -> None:
    ends, supply = Ends(), Shelves(ready=3)
    both = pools((supply.end(A), supply.end(B)), ends)
    (at_a, at_b) = together(ends, both, lambda pool: [pool.take(size) for size in sizes])
    seen: set[bytes] = set()
    for size, (sent_a, received_a), (sent_b, received_b) in zip(sizes, at_a, at_b, strict=True):
        assert sent_a.pads.shape == (2, size, 2)
        assert related(sent_a, received_b)
        assert related(sent_b, received_a)
        seen |= {pad.tobytes() for pads in (*sent_a.pads, *sent_b.pads) for pad in pads}
    assert len(seen) == 4 * sum(sizes)


@settings(max_examples=10)
@given(takings, st.integers(0, 5))
def test_where_lots_run_out_both_make_their_own(sizes: list[int], most: int) -> None:
    ends, supply = Ends(), Shelves(most=most)
    both = pools((supply.end(A), supply.end(B)), ends)
    (at_a, at_b) = together(ends, both, lambda pool: [pool.take(size) for size in sizes])
    for (sent_a, received_a), (sent_b, received_b) in zip(at_a, at_b, strict=True):
        assert related(sent_a, received_b)
        assert related(sent_b, received_a)


def test_long_masks_fit_whatever_session_the_transfers_are_of() -> None:
    """The entry that B chose with transfers of a session and with transfers of their own."""
    ends, supply = Ends(), Shelves(most=1)
    both = pools((supply.end(A), supply.end(B)), ends)
    count = LOT + 10
    (sent, _), (_, received) = together(ends, both, lambda pool: pool.take(count))
    flips = received.choices[None]  # so that B wants entry 0 of each
    masks = all_masks(both[A].sent_hash, sent.pads[:, None], flips, 2, 5)
    wanted = chosen_masks(both[B].received_hash, received.pads[None], np.zeros(count, np.uint64), 5)
    assert np.array_equal(masks[0], wanted)


def test_a_first_name_is_sent_before_anybody_asks() -> None:
    ends, supply = Ends(), Shelves(ready=1)
    pools((supply.end(A), supply.end(B)), ends)
    assert ends.first.traffic.sent > 0


def test_whoever_takes_transfers_has_as_many_named_for_the_next_time() -> None:
    ends, supply = Ends(), Shelves(ready=8)
    a, _ = pools((supply.end(A), supply.end(B)), ends)
    a.take(2 * LOT)
    sent = ends.first.traffic.sent
    a.reserve(2 * LOT)
    assert ends.first.traffic.sent == sent


def test_without_lots_nothing_is_sent_before_transfers_are_needed() -> None:
    ends = Ends()
    a, b = pools((NoLots(), NoLots()), ends)
    a.top_up()
    b.top_up()
    assert ends.first.traffic.sent == ends.second.traffic.sent == 0
    (sent, _), (_, received) = together(ends, (a, b), lambda pool: pool.take(5))
    assert related(sent, received)


@pytest.mark.parametrize("named", [Lots(SESSION, 0, 0), Lots(SESSION, 0, 1 << 17), Lots(NO_SESSION, 0, 1 << 20)])
def test_names_of_nothing_and_of_too_much_are_refused(named: Lots) -> None:
    ends, supply = Ends(), Shelves(ready=1)
    b = connect_supplied(B, ends.second, random_for(2), supply.end(B))
    ends.first.send(STEP, named.encoded())
    with pytest.raises(OutOfRange, match="party A"):
        b.take(1)
    with pytest.raises(Reuse, match="Connect again"):
        b.take(1)


def test_lots_that_are_named_twice_are_refused() -> None:
    ends, supply = Ends(), Shelves(ready=1)
    b = connect_supplied(B, ends.second, random_for(2), supply.end(B))
    for _ in range(2):
        ends.first.send(STEP, Lots(SESSION, 0, 1).encoded())
    b.take(LOT)
    with pytest.raises(WrongStep, match=r"party A.*used before"):
        b.take(1)


def test_a_source_without_lots_takes_none() -> None:
    ends = Ends()
    b = connect_supplied(B, ends.second, random_for(2), NoLots())
    ends.first.send(STEP, Lots(SESSION, 0, 1).encoded())
    with pytest.raises(WrongStep):
        b.take(1)


def test_large_requests_are_named_a_window_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supplied, "_WINDOW", 2 * LOT)
    ends, supply = Ends(), Shelves(ready=0)
    asked: list[int] = []

    class Noting(Source):
        def promise(self, lots: int) -> Lots | None:
            asked.append(lots)
            return super().promise(lots)

    both = pools((Noting(supply, A), supply.end(B)), ends)
    memory.together(lambda: both[A].reserve(9 * LOT), lambda: both[B].reserve(9 * LOT))
    assert max(asked) <= 2
    assert both[A].left == both[B].left
