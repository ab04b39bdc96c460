"""Silent transfers are transfers: of any size, over several iterations, each pad once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.transfer import silent
from mixbayes.protocol.transfer.half_tree import all_leaves
from mixbayes.protocol.transfer.lpn import LpnSizes
from mixbayes.protocol.transfer.silent import ANSWER, QUESTION, SUMS
from tests.protocol.pairs import SEEDS
from tests.protocol.transfer.silent_pairs import SMALL, Direction, SilentEnds

HEADER = 16


@st.composite
def small_sizes(draw: st.DrawFn) -> LpnSizes:
    """Sizes whose iterations gain something."""
    sizes = LpnSizes(
        draw(st.integers(1, 200)), draw(st.integers(1, 40)), draw(st.integers(5, 7)), draw(st.integers(1, 10))
    )
    return sizes if sizes.gained > 0 else LpnSizes(sizes.secret, 40, 6)


@given(small_sizes(), SEEDS)
@settings(max_examples=10)
def test_receiver_has_the_pads_of_its_choices_in_every_iteration(sizes: LpnSizes, number: int) -> None:
    ends = SilentEnds(sizes, number)
    made: list[tuple[Direction, Direction]] = []
    for _ in range(3):
        assert ends.a.left == ends.b.left == 0
        ends.begin()
        made.append(ends.expand(ends.a.left))
    for directions in zip(*made, strict=True):
        whole = Direction(
            np.concatenate([one.sent for one in directions], axis=1),
            np.concatenate([one.choices for one in directions]),
            np.concatenate([one.received for one in directions]),
        )
        assert whole.choices.size == 3 * sizes.gained
        whole.assert_related()


@given(st.lists(st.integers(1, 600), min_size=1, max_size=5))
@settings(max_examples=10)
def test_an_iteration_is_handed_out_in_parts_until_it_is_used_up(parts: list[int]) -> None:
    ends = SilentEnds()
    ends.begin()
    for count in parts:
        left = ends.a.left
        if count > left:
            with pytest.raises(LocalError, match=f"{count} silent .* {left} are left"):
                ends.expand(count)
            return
        for direction in ends.expand(count):
            direction.assert_related()
        assert ends.a.left == ends.b.left == left - count


def test_choices_are_fair_and_independent_of_the_other_direction() -> None:
    ends = SilentEnds(LpnSizes(256, 256, 6))
    ends.begin()
    one, other = (direction.choices for direction in ends.expand(ends.a.left))
    for bits in (one, other, one ^ other, one[1:] ^ one[:-1]):
        assert abs(bits.mean() - 0.5) < 4 / np.sqrt(4 * bits.size)


def test_the_choices_are_the_code_of_the_secret_and_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regular noise: of the leaves of each tree, one is chosen."""
    ends = SilentEnds()
    ends.begin()
    chosen = ends.a._receiver.leaves[:, 0] & np.uint64(1)
    assert (chosen.reshape(1, 1 << SMALL.depth, -1).sum(axis=1) == 1).all()
    differ = (ends.a._receiver.leaves != ends.b._sender.leaves).any(axis=1)
    assert np.array_equal(differ, chosen == 1)


def test_no_iteration_is_begun_while_transfers_are_left() -> None:
    ends = SilentEnds()
    ends.begin()
    with pytest.raises(LocalError, match="while transfers of the last one are left"):
        ends.a.begin(ends.ends.first)


def test_messages_do_not_grow_with_the_number_of_transfers() -> None:
    """16 bytes a tree and level, and 64 for the check; an iteration of twice the leaves sends one level more."""
    for sizes in (SMALL, LpnSizes(SMALL.secret, SMALL.trees, SMALL.depth + 1)):
        ends = SilentEnds(sizes)
        ends.begin()
        ends.expand(ends.a.left)
        before = ends.ends.first.traffic.sent
        ends.begin()
        assert ends.ends.first.traffic.sent - before == 3 * HEADER + 16 * sizes.levels + 32 + 32
        assert [step for step, _ in ends.ends.first.said][-3:] == [SUMS, QUESTION, ANSWER]


def test_lowest_bit_of_a_row_is_its_choice() -> None:
    ends = SilentEnds()
    ends.begin()
    sender, receiver = ends.b._sender, ends.a._receiver
    assert int(sender._delta[0]) & 1
    assert not (sender.leaves[:, 0] & np.uint64(1)).any()
    delta: Words = sender.leaves ^ receiver.leaves
    noise: Bits = (receiver.leaves[:, 0] & np.uint64(1)).astype(bool)
    assert (delta[noise] == sender._delta).all()


@pytest.mark.parametrize("together", [1, 5, 32])
def test_trees_may_be_made_in_any_numbers_at_a_time(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silent, "TREES_TOGETHER", together)
    ends = SilentEnds()
    ends.begin()
    for direction in ends.expand(ends.a.left):
        direction.assert_related()


def test_same_seeds_make_the_same_transfers_and_others_others() -> None:
    one, again, other = (made(number) for number in (1, 1, 2))
    assert one.sent.tolist() == again.sent.tolist()
    assert not np.isin(one.sent, other.sent).any()


def test_every_iteration_hashes_its_trees_under_another_key() -> None:
    ends = SilentEnds()
    roots, grown = np.zeros((SMALL.trees, 2), np.uint64), []
    for _ in range(2):
        ends.begin()
        ends.expand(ends.a.left)
        leaves = np.empty((1 << SMALL.depth, SMALL.trees, 2), np.uint64)
        all_leaves(ends.a._sender._leaves.splitter, roots, roots[0], leaves)
        grown.append(leaves[:, 0])
    assert not np.isin(grown[0][1:], grown[1]).any()


def made(number: int) -> Direction:
    ends = SilentEnds(number=number)
    ends.begin()
    return ends.expand(100)[0]
