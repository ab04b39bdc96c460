from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.transfer import pads
from mixbayes.protocol.transfer.base import receive_base, send_base
from mixbayes.protocol.transfer.extension import (
    BLOCK_WORDS,
    COLUMNS,
    FOURS,
    PAIRS,
    STRETCH,
    UNIT,
    Grouping,
    ReceiverExtension,
    SenderExtension,
    Transposer,
    choices_in_order,
)
from tests.protocol.pairs import SEEDS, Ends, Pair, converse, random_for

BLOCK = 64 * BLOCK_WORDS


@dataclass
class Made:
    """Both ends' stretches, one after the other."""

    sent: Words
    choices: Bits
    received: Words
    ends: Ends

    def chosen(self) -> Words:
        return self.sent[self.choices, np.arange(self.choices.size)]

    def other(self) -> Words:
        return self.sent[1 - self.choices, np.arange(self.choices.size)]


def make(counts: list[int], *, number: int = 1, grouping: Grouping = PAIRS) -> Made:
    ends = Ends()

    def sender() -> Words:
        random = random_for(2 * number)
        end = SenderExtension(receive_base(ends.first, random), ends.first, random, grouping)
        pads = [np.empty((2, count + 1, 2), np.uint64) for count in counts]
        for count, room in zip(counts, pads, strict=True):
            end.make(ends.first, count, room)
        return np.concatenate([room[:, :-1] for room in pads], axis=1)

    def receiver() -> tuple[Bits, Words]:
        random = random_for(2 * number + 1)
        end = ReceiverExtension(send_base(ends.second, random), ends.second, random, grouping)
        choices = [np.empty(count, np.uint8) for count in counts]
        pads = [np.empty((count + 1, 2), np.uint64) for count in counts]
        for count, bits, room in zip(counts, choices, pads, strict=True):
            end.make(ends.second, count, bits, room)
        return np.concatenate(choices), np.concatenate([room[:-1] for room in pads])

    sent, (choices, received) = converse([ends], sender, receiver)
    return Made(sent, choices, received, ends)


def assert_related(made: Made) -> None:
    """The receiver has the pad of its choice and not the other; both choices are made; no pad comes twice."""
    assert np.array_equal(made.received, made.chosen())
    assert (made.received != made.other()).all()
    assert abs(made.choices.mean() - 0.5) < 4 / np.sqrt(made.choices.size)
    assert np.unique(made.sent[..., 0]).size == made.sent[..., 0].size


@given(counts=st.lists(st.integers(1, 9).map(lambda n: n * UNIT), min_size=1, max_size=3), number=SEEDS)
@settings(max_examples=10)
def test_receiver_has_the_pads_of_its_choices(counts: list[int], number: int) -> None:
    made = make(counts, number=number)
    assert made.choices.size == sum(counts)
    assert_related(made)


@pytest.mark.parametrize("count", [BLOCK - UNIT, BLOCK, BLOCK + UNIT, 2 * BLOCK + 5 * UNIT, STRETCH + UNIT])
def test_long_stretches_cross_the_borders_of_blocks(count: int) -> None:
    assert_related(make([count, 3 * UNIT]))


@pytest.mark.parametrize("size", [1, 4, 8])
def test_other_group_sizes_give_the_same_relation(size: int) -> None:
    """With groups of one column it is IKNP."""
    assert_related(make([BLOCK + UNIT, UNIT], grouping=Grouping(size)))


def test_correlated_transfers_differ_by_one_secret() -> None:
    """They are the rows of which the pads are hashes."""
    ends = Ends()

    def sender() -> tuple[Words, Words]:
        random = random_for(2)
        end = SenderExtension(receive_base(ends.first, random), ends.first, random)
        return end.correlated(ends.first, BLOCK + UNIT), end.delta

    def receiver() -> tuple[Bits, Words]:
        random = random_for(3)
        end = ReceiverExtension(send_base(ends.second, random), ends.second, random)
        started = end.start(BLOCK + UNIT)
        started.send(ends.second)
        return end.correlated(started)

    (q, delta), (choices, t) = converse([ends], sender, receiver)
    assert np.array_equal(q ^ t, choices[:, None] * delta)
    assert np.unique(q[:, 0]).size == len(q)
    assert abs(choices.mean() - 0.5) < 4 / np.sqrt(choices.size)


def test_each_party_sends_to_the_other() -> None:
    pair = Pair(2)
    (sent_a, received_a), (sent_b, received_b) = pair.run(lambda me: me.pool.take(BLOCK + 77))
    for sent, received in [(sent_a, received_b), (sent_b, received_a)]:
        assert_related(Made(sent.pads, received.choices, received.pads, pair.ahead))
    assert not np.isin(sent_a.pads, sent_b.pads).any()


def test_same_seeds_make_the_same_transfers_and_others_others() -> None:
    one, again, other = make([3 * UNIT]), make([3 * UNIT]), make([3 * UNIT], number=2)
    assert one.sent.tolist() == again.sent.tolist()
    assert one.choices.tolist() == again.choices.tolist() != other.choices.tolist()
    assert not np.isin(one.sent, other.sent).any()


def test_hash_key_is_renewed_after_its_lifetime(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make([2 * BLOCK, BLOCK])
    monkeypatch.setattr(pads, "KEY_LIFETIME", BLOCK + UNIT)
    renewed = make([2 * BLOCK, BLOCK])
    assert_related(renewed)
    assert renewed.choices.tolist() == kept.choices.tolist()
    assert np.array_equal(renewed.sent[:, :BLOCK], kept.sent[:, :BLOCK])
    assert not np.isin(renewed.sent[:, BLOCK:], kept.sent).any()


@pytest.mark.parametrize("grouping", [PAIRS, FOURS])
@pytest.mark.parametrize("count", [UNIT, 7 * UNIT])
def test_corrections_have_one_bit_for_each_group_and_transfer(count: int, grouping: Grouping) -> None:
    once, twice = make([UNIT], grouping=grouping).ends, make([UNIT, count], grouping=grouping).ends
    corrections = 128 // grouping.size * (count + 128) // 8
    assert grouping.correction_bytes(count) == corrections
    assert twice.first.traffic.received - once.first.traffic.received == 16 + corrections + 16 + 129 * 16


widths = st.integers(1, 3)


def transposed(rows: Words) -> Words:
    out = np.empty((64 * rows.shape[1], 2), np.uint64)
    Transposer().block(rows, out)
    return out


@given(widths, SEEDS)
def test_columns_become_blocks(width: int, number: int) -> None:
    rows = random_for(number).words(COLUMNS, width)
    plain: list[list[int]] = rows.tolist()
    blocks = [low | high << 64 for low, high in transposed(rows).tolist()]
    for j in range(width):
        for i in range(64):
            column = [plain[row][j] >> i & 1 for row in range(COLUMNS)]
            assert blocks[i * width + j] == sum(bit << row for row, bit in enumerate(column))


@pytest.mark.parametrize("width", [1, 2, 7, BLOCK_WORDS - 1, BLOCK_WORDS])
def test_every_single_bit_lands_in_its_place(width: int) -> None:
    rng = np.random.default_rng(width)
    for row, word, bit in rng.integers(0, [COLUMNS, width, 64], (50, 3)).tolist():
        rows = np.zeros((COLUMNS, width), np.uint64)
        rows[row, word] = 1 << bit
        out = transposed(rows)
        assert np.argwhere(out).tolist() == [[bit * width + word, row // 64]]
        assert int(out[bit * width + word, row // 64]) == 1 << row % 64


def test_scratch_of_a_wider_block_does_not_show_in_the_next() -> None:
    transposer = Transposer()
    wide, narrow = random_for(1).words(COLUMNS, BLOCK_WORDS), random_for(2).words(COLUMNS, 3)
    transposer.block(wide, np.empty((64 * BLOCK_WORDS, 2), np.uint64))
    out = np.empty((192, 2), np.uint64)
    transposer.block(narrow, out)
    assert out.tolist() == transposed(narrow).tolist()


def test_rows_are_left_as_they_were() -> None:
    rows = random_for(1).words(COLUMNS, 2)
    before = rows.copy()
    transposed(rows)
    assert rows.tolist() == before.tolist()


@given(st.integers(1, BLOCK_WORDS), SEEDS)
def test_choices_come_in_the_order_of_the_blocks(width: int, number: int) -> None:
    """A row transposed and its bits in order are the same bits."""
    row = random_for(number).words(width)
    rows = np.zeros((COLUMNS, width), np.uint64)
    rows[0] = row
    assert choices_in_order(row).tolist() == transposed(rows)[:, 0].tolist()
