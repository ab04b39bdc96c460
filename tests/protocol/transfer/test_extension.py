from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.transfer import extension
from mixbayes.protocol.transfer.base import receive_base, send_base
from mixbayes.protocol.transfer.extension import STRETCH, UNIT, ReceiverExtension, SenderExtension, correction_bytes
from mixbayes.protocol.transfer.transpose import BLOCK_WORDS
from tests.protocol.pairs import SEEDS, Ends, Pair, connect_asker, converse, random_for

BLOCK = 64 * BLOCK_WORDS
checkings = pytest.mark.parametrize("checked", [False, True], ids=["unchecked", "checked"])


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


def make(counts: list[int], *, checked: bool = False, number: int = 1) -> Made:
    ends = Ends()

    def sender() -> Words:
        random = random_for(2 * number)
        end = SenderExtension(receive_base(ends.first, random), ends.first, random, checked=checked)
        pads = [np.empty((2, count + 1, 2), np.uint64) for count in counts]
        for count, room in zip(counts, pads, strict=True):
            end.make(ends.first, count, room)
        return np.concatenate([room[:, :-1] for room in pads], axis=1)

    def receiver() -> tuple[Bits, Words]:
        random = random_for(2 * number + 1)
        end = ReceiverExtension(send_base(ends.second, random), ends.second, random, checked=checked)
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


@checkings
@given(counts=st.lists(st.integers(1, 9).map(lambda n: n * UNIT), min_size=1, max_size=3), number=SEEDS)
@settings(max_examples=10)
def test_receiver_has_the_pads_of_its_choices(checked: bool, counts: list[int], number: int) -> None:
    made = make(counts, checked=checked, number=number)
    assert made.choices.size == sum(counts)
    assert_related(made)


@checkings
@pytest.mark.parametrize("count", [BLOCK - UNIT, BLOCK, BLOCK + UNIT, 2 * BLOCK + 5 * UNIT, STRETCH + UNIT])
def test_long_stretches_cross_the_borders_of_blocks(checked: bool, count: int) -> None:
    assert_related(make([count, 3 * UNIT], checked=checked))


@checkings
@pytest.mark.parametrize("group", [1, 4])
def test_other_group_sizes_give_the_same_relation(checked: bool, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With groups of one column it is IKNP."""
    monkeypatch.setattr(extension, "GROUP", group)
    monkeypatch.setattr(extension, "GROUPS", 128 // group)
    monkeypatch.setattr(extension, "LEAVES", 2**group)
    assert_related(make([BLOCK + UNIT, UNIT], checked=checked))


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


@checkings
def test_hash_key_is_renewed_after_its_lifetime(checked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make([2 * BLOCK, BLOCK], checked=checked)
    monkeypatch.setattr(extension, "KEY_LIFETIME", BLOCK + UNIT)
    renewed = make([2 * BLOCK, BLOCK], checked=checked)
    assert_related(renewed)
    assert renewed.choices.tolist() == kept.choices.tolist()
    assert np.array_equal(renewed.sent[:, :BLOCK], kept.sent[:, :BLOCK])
    assert not np.isin(renewed.sent[:, BLOCK:], kept.sent).any()


def test_tweak_never_repeats_under_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same block is hashed differently every time: the number runs on, and starts anew with a new key only."""
    monkeypatch.setattr(extension, "KEY_LIFETIME", 10)
    hashing = extension._Hashing(bytes(16))
    numbers, hashes = [], []
    for size in [4, 6, 1, 9, 3, 7]:
        blocks = np.zeros((size, 2), np.uint64)
        hashing.tweak(blocks)
        numbers += blocks[:, 0].tolist()
        hashes += hashing.current(blocks).tolist()
    assert numbers == [*range(10), *range(10), *range(10)]
    assert np.unique(hashes, axis=0).shape == (30, 2)


def test_long_hashes_are_the_same_at_both_ends_and_not_the_extension_s() -> None:
    pair = Pair(3)
    blocks = np.arange(20, dtype=np.uint64).reshape(10, 2)
    a, b = pair.pools
    assert a.sent_hash(blocks).tolist() == b.received_hash(blocks).tolist()
    assert a.received_hash(blocks).tolist() == b.sent_hash(blocks).tolist()
    assert a.sent_hash(blocks).tolist() != a.received_hash(blocks).tolist()
    asker, answerer, _ = connect_asker(3)
    assert asker.hash(blocks).tolist() == answerer.hash(blocks).tolist()


@checkings
@pytest.mark.parametrize("count", [UNIT, 7 * UNIT])
def test_corrections_have_one_bit_for_each_group_and_transfer(checked: bool, count: int) -> None:
    once, twice = make([UNIT], checked=checked).ends, make([UNIT, count], checked=checked).ends
    corrections = 64 * (count + (128 if checked else 0)) // 8
    assert correction_bytes(count, checked) == corrections
    answer = 16 + 129 * 16 if checked else 0
    assert twice.first.traffic.received - once.first.traffic.received == 16 + corrections + answer
