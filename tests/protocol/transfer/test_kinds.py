"""Pools of both kinds: which transfers come next, and that both ends must make them in the same way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.errors import CheatingSender, DifferentTransfers, PeerGone, Reuse
from mixbayes.protocol.transfer.extension import CORRECTIONS, FOURS, PAIRS, UNIT, Received, Sent
from mixbayes.protocol.transfer.kinds import EXTENDED, KINDS, NAME_BYTES, SILENT, STEP, TransferKind, hear
from mixbayes.protocol.transfer.lpn import LpnSizes
from mixbayes.protocol.transfer.pool import Marks, PairPool, connect_pair
from mixbayes.protocol.transfer.silent import SUMS
from tests.protocol.adversary import TappedEnds
from tests.protocol.pairs import Ends, converse, random_for
from tests.protocol.transfer.silent_pairs import SMALL, SMALL_KIND, Direction

FEW = Marks(low=UNIT, high=2 * UNIT)
dealt = pytest.mark.usefixtures("dealt_base_transfers")


def connected(ends: Ends, kind_a: TransferKind, kind_b: TransferKind, marks: Marks = FEW) -> tuple[PairPool, PairPool]:
    a, b = converse(
        [ends],
        lambda: connect_pair(A, ends.first, random_for(1), marks, kind_a),
        lambda: connect_pair(B, ends.second, random_for(2), marks, kind_b),
    )
    return a, b


class Pools:
    """Both ends of a pool, and which steps were said since the last look."""

    def __init__(self, kind: TransferKind = SMALL_KIND) -> None:
        self.ends = TappedEnds()
        self.a, self.b = connected(self.ends, kind, kind)
        self.steps()

    def both(self, step: Any) -> tuple[Any, Any]:
        of_a, of_b = converse([self.ends], lambda: step(self.a), lambda: step(self.b))
        return of_a, of_b

    def take(self, count: int) -> tuple[tuple[Sent, Received], tuple[Sent, Received]]:
        return self.both(lambda pool: pool.take(count))

    def steps(self) -> set[str]:
        found = {step for step, _ in self.ends.first.said}
        self.ends.first.forget()
        return found


@dealt
@given(st.lists(st.integers(0, 900), min_size=1, max_size=8))
@settings(max_examples=15)
def test_parties_take_in_step_and_nothing_twice_whatever_makes_the_transfers(counts: list[int]) -> None:
    pools = Pools()
    directions: list[list[Direction]] = [[], []]
    for count in counts:
        (sent_a, received_a), (sent_b, received_b) = pools.take(count)
        for found, sent, received in zip(directions, (sent_a, sent_b), (received_b, received_a), strict=True):
            assert sent.pads.shape[1] == received.choices.size == count
            found.append(Direction(sent.pads.copy(), received.choices.copy(), received.pads.copy()))
        assert pools.a.left == pools.b.left
    for found in directions:
        Direction(
            np.concatenate([one.sent for one in found], axis=1),
            np.concatenate([one.choices for one in found]),
            np.concatenate([one.received for one in found]),
        ).assert_related()


@dealt
def test_the_extension_serves_until_its_share_is_made_and_silent_transfers_after_it() -> None:
    pools = Pools()
    pools.take(UNIT)  # and as many in stock
    pools.take(UNIT)
    pools.take(2 * UNIT)
    assert pools.steps() == {CORRECTIONS, "OT extension: check"}
    pools.take(1)
    assert SUMS in pools.steps()
    pools.take(SMALL.gained - 2 * UNIT)
    assert pools.steps() == set()


@dealt
def test_a_large_request_is_silent_at_once_and_over_several_iterations() -> None:
    pools = Pools()
    pools.take(3 * SMALL.gained)
    said = [step for step, _ in pools.ends.first.said]
    assert said.count(SUMS) == 3
    assert said.count(CORRECTIONS) == 1


@dealt
def test_small_requests_use_what_an_iteration_has_left() -> None:
    pools = Pools()
    pools.take(SMALL.gained - 3 * UNIT)
    pools.steps()
    pools.take(UNIT)
    assert pools.steps() == set()


@dealt
def test_silent_transfers_take_few_bytes() -> None:
    """Of the sizes that are used: as docs/transfers.md counts them, after the first iteration."""
    assert 8 * 16 * SILENT_SIZES.levels / SILENT_SIZES.gained < 2.7
    assert EXTENDED.grouping == PAIRS
    assert SILENT.grouping == FOURS


SILENT_SIZES: LpnSizes = SILENT.sizes or SMALL


@dealt
@pytest.mark.parametrize(
    ("kind_a", "kind_b"),
    [
        (EXTENDED, SILENT),
        (SILENT, EXTENDED),
        (SILENT, SMALL_KIND),
        (EXTENDED, TransferKind(FOURS)),
        (SMALL_KIND, TransferKind(FOURS, SMALL, extended=SMALL_KIND.extended + 1)),
    ],
)
def test_ends_that_make_transfers_differently_refuse_each_other_by_name(
    kind_a: TransferKind, kind_b: TransferKind
) -> None:
    refusals = [refusal(A, kind_a, kind_b), refusal(B, kind_b, kind_a)]
    for refused in refusals:
        assert str(kind_a) in str(refused)
        assert str(kind_b) in str(refused)
    assert [refusal.peer for refusal in refusals] == ["party B", "party A"]
    assert {refusal.code for refusal in refusals} == {"E216"}


def refusal(role: int, ours: TransferKind, theirs: TransferKind) -> DifferentTransfers:
    """How this end refuses one that makes transfers otherwise."""
    ends = Ends()
    mine, other = (ends.first, ends.second) if role == A else (ends.second, ends.first)
    other.send(STEP, str(theirs).encode().ljust(NAME_BYTES))
    with pytest.raises(DifferentTransfers) as caught:
        connect_pair(role, mine, random_for(role), FEW, ours)
    return caught.value


def test_a_name_that_cannot_be_read_is_not_shown() -> None:
    ends = Ends()
    ends.second.send(STEP, b"\x1b[2J".ljust(NAME_BYTES))
    with pytest.raises(DifferentTransfers, match="a name that cannot be read") as caught:
        hear(ends.first, EXTENDED)
    assert "\x1b" not in str(caught.value)


def test_every_kind_has_a_name_that_fits_and_says_its_sizes() -> None:
    names = [str(kind) for kind in KINDS.values()]
    assert len(set(names)) == len(names)
    assert all(len(name.encode()) <= NAME_BYTES for name in names)
    assert str(SILENT) == "silent, groups of 4, LPN n=524288 k=61440 t=1024 d=10, from 65536"


@dealt
def test_nothing_of_a_pair_is_handed_out_whose_iteration_broke_off() -> None:
    pools = Pools()
    pools.take(1)
    pools.ends.cut()
    with pytest.raises(PeerGone):
        pools.a.take(SMALL.gained)
    with pytest.raises(Reuse, match="Connect again"):
        pools.a.take(1)


@dealt
def test_nothing_is_handed_out_after_the_other_end_lied() -> None:
    pools = Pools()
    leaves = pools.a._silent._sender if pools.a._silent else None
    assert leaves
    honest = leaves.open

    def lying(*args: Any) -> Any:
        masked = honest(*args)
        masked[-1, 0] ^= np.uint64(1)
        return masked

    leaves.open = lying  # type: ignore[method-assign]
    with pytest.raises(CheatingSender, match="party A"):
        pools.take(SMALL.gained)
    with pytest.raises(Reuse):
        pools.b.take(1)
