"""The standing supply: what is made, when, how much, and what becomes of it when the conversation breaks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from mixbayes.mixers import supply as standing
from mixbayes.mixers.supply import Supply, follow, lead
from mixbayes.protocol.errors import PeerGone, PeerSilent, Reuse
from mixbayes.protocol.shares import A, B
from mixbayes.protocol.transfer.lots import LOT, Lots
from mixbayes.protocol.transfer.supplied import SuppliedPool, connect_supplied
from tests.protocol.pairs import Ends, converse, random_for
from tests.protocol.transfer.test_lots import related

PATIENCE = 20.0


class Standing:
    """Both ends of a supply, and its conversation in memory, of which a test can run several."""

    def __init__(self, volume: int = 4 * LOT, deadline: float = PATIENCE) -> None:
        self.a, self.b = Supply(volume, "mixer b", deadline), Supply(volume, "mixer a", deadline)

    @contextmanager
    def session(self, key: str = "first") -> Iterator[list[Ends]]:
        """The conversation, which ends in order unless the test has cut it."""
        ends = [Ends("mixer a", "mixer b") for _ in range(2)]
        failed: list[BaseException] = []

        def run(role: int) -> None:
            try:
                if role == A:
                    lead(self.a, [end.first for end in ends], key)
                else:
                    follow(self.b, [end.second for end in ends], key)
            except PeerGone as error:
                failed.append(error)
            finally:
                for end in ends:
                    end.cut()

        threads = [threading.Thread(target=run, args=(role,)) for role in (A, B)]
        for thread in threads:
            thread.start()
        try:
            yield ends
        finally:
            self.a.end()
            for thread in threads:
                thread.join(PATIENCE)

    def until_ready(self, transfers: int) -> None:
        for supply in (self.a, self.b):
            with supply._changed:
                there = supply._changed.wait_for(lambda supply=supply: made(supply) >= transfers, PATIENCE)
                assert there, "the transfers are not made"

    def pools(self) -> tuple[SuppliedPool, SuppliedPool, Ends]:
        ends = Ends("mixer a", "mixer b")
        a = connect_supplied(A, ends.first, random_for(1), self.a)
        return a, connect_supplied(B, ends.second, random_for(2), self.b), ends


def made(supply: Supply) -> int:
    return LOT * supply._shelf.made if supply._shelf else 0


def take(found: tuple[SuppliedPool, SuppliedPool, Ends], count: int) -> bytes:
    """Has both take so many, and returns one of B's pads."""
    a, b, ends = found
    (sent_a, received_a), (sent_b, received_b) = converse([ends], lambda: a.take(count), lambda: b.take(count))
    assert related(sent_a, received_b)
    assert related(sent_b, received_a)
    return sent_b.pads.tobytes()


def test_agreed_volume_is_made_and_no_more() -> None:
    both = Standing(4 * LOT)
    with both.session():
        both.until_ready(4 * LOT)
        assert both.a.ready == 4 * LOT
        assert both.a._shelf
        assert both.a._due(both.a._shelf) == 0
        assert made(both.a) == made(both.b) == 4 * LOT


def test_what_was_taken_is_made_again() -> None:
    both = Standing(2 * LOT)
    with both.session():
        both.until_ready(2 * LOT)
        first = take(both.pools(), LOT)
        both.until_ready(4 * LOT)
        assert take(both.pools(), LOT) != first


def test_more_than_the_volume_can_be_asked_for_by_several_at_once() -> None:
    both = Standing(2 * LOT)
    with both.session():
        both.until_ready(2 * LOT)
        found = [both.pools() for _ in range(3)]
        pads: list[bytes] = []
        threads = [threading.Thread(target=lambda one=one: pads.append(take(one, 7 * LOT))) for one in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        blocks = [pad[start : start + 16] for pad in pads for start in range(0, len(pad), 16)]
        assert len(set(blocks)) == len(blocks) == 3 * 7 * LOT * 2


def test_while_questions_are_worked_on_only_the_last_quarter_is_made() -> None:
    supply = Supply(8 * standing._TOGETHER * LOT, "mixer b", 3e-3)
    with supply.at_work(), supply.session("key") as shelf:
        assert supply.due(shelf) == standing._TOGETHER
        shelf.made = 2 * standing._TOGETHER
        assert supply.due(shelf) == 0
        supply.promise(1)
        assert supply.due(shelf) == standing._TOGETHER
    with supply.session("key") as shelf:
        shelf.made = 2 * standing._TOGETHER
        assert supply.due(shelf) == standing._TOGETHER
        shelf.made = 8 * standing._TOGETHER
        assert supply.due(shelf) == 0


def test_a_supply_that_broke_off_ends_its_lots_at_both_and_the_next_one_has_others() -> None:
    both = Standing(2 * LOT)
    with both.session("first") as ends:
        both.until_ready(2 * LOT)
        named = both.a.promise(1)
        assert named
        for end in ends:
            end.cut()
    assert both.a.ready == both.b.ready == 0
    for supply in (both.a, both.b):
        with pytest.raises(PeerGone, match="broke off"):
            supply.take(named)
    with both.session("second"):
        both.until_ready(2 * LOT)
        with pytest.raises(PeerGone, match="broke off"):
            both.b.take(named)
        fresh = both.a.promise(1)
        assert fresh
        assert fresh.session != named.session
        both.b.take(fresh)
        with pytest.raises(Reuse):
            both.b.take(fresh)


def test_while_the_supply_is_away_conversations_make_their_own() -> None:
    both = Standing(LOT)
    early = both.pools()
    take(early, 100)
    with both.session():
        both.until_ready(LOT)
        take(early, 2 * LOT)  # from both: what is left of their own, and lots
    take(both.pools(), 100)


def test_a_pool_whose_lots_broke_off_is_of_no_use_any_more() -> None:
    both = Standing(LOT)
    with both.session():
        both.until_ready(LOT)
        a, b, ends = both.pools()
    for pool in (a, b):
        with pytest.raises(PeerGone):
            pool.take(1)
        with pytest.raises(Reuse, match="Connect again"):
            pool.take(1)
    ends.cut()


def test_who_waits_for_lots_when_the_supply_breaks_is_told_at_once() -> None:
    supply = Supply(LOT, "mixer b", PATIENCE)
    errors: list[Exception] = []

    def wait(named: Lots) -> None:
        try:
            supply.take(named)
        except PeerGone as error:
            errors.append(error)

    with supply.session("key"):
        named = supply.promise(1)
        assert named
        thread = threading.Thread(target=wait, args=(named,))
        thread.start()
    thread.join(PATIENCE)
    assert len(errors) == 1


def test_lots_that_are_never_made_are_waited_for_within_the_deadline() -> None:
    supply = Supply(LOT, "mixer b", 0.01)
    with supply.session("key"):
        named = supply.promise(1)
        assert named
        with pytest.raises(PeerSilent, match="mixer b"):
            supply.take(named)


def test_a_follower_that_stops_ends_the_conversation_without_an_error() -> None:
    both = Standing(LOT)
    ends = [Ends("mixer a", "mixer b") for _ in range(2)]

    def stop() -> None:
        both.until_ready(LOT)
        both.b.close()
        ends[0].wires[1].close()  # as a stream that ends hangs up at this end too
        ends[0].second._wire._inbox.put(None)  # type: ignore[attr-defined]

    leading = threading.Thread(target=lambda: _until_gone(both, ends))
    stopping = threading.Thread(target=stop)
    for thread in (leading, stopping):
        thread.start()
    follow(both.b, [end.second for end in ends], "key")
    both.a.end()
    for thread in (leading, stopping):
        thread.join(PATIENCE)


def _until_gone(both: Standing, ends: list[Ends]) -> None:
    with suppress(PeerGone):
        lead(both.a, [end.first for end in ends], "key")


def test_quiet_leader_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_QUIET", 0.01)
    both = Standing(LOT)
    with both.session() as ends:
        both.until_ready(LOT)
        before = ends[0].first.traffic.received
        for _ in range(1000):
            if ends[0].first.traffic.received > before:
                break
            threading.Event().wait(0.01)
        assert ends[0].first.traffic.received > before


def test_where_no_volume_is_agreed_there_is_no_supply() -> None:
    none = Supply(0, "mixer b", 1.0)
    assert not none.wanted
    assert none.promise(3) is None
    assert none.ready == 0
