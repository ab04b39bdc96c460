import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits.choice import Slots, choose_slots, look_up
from mixbayes.protocol.transfer.extension import UNIT
from tests.protocol.pairs import SEEDS, WIDTHS, both, random_for, shared_pair, xored

SHAPES = [(bits, slot) for bits in range(1, 7) for slot in range(1, 9) if slot << bits <= 64]
shapes = st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(1, 2), st.integers(1, 9)), min_size=1, max_size=4)


def part(bits: int, slot: int, words: int, count: int, number: int) -> Slots:
    """Random tables and a random index."""
    random = random_for(number)
    index = (random.words(count) & mask(bits)).astype("uint8")
    return Slots(bits, slot, random.words(words, count) & mask(slot << bits), index)


def assert_chosen(asked: Slots, offered: Slots, chosen: Bits) -> None:
    tables: list[list[int]] = offered.tables.tolist()
    at: list[int] = asked.index.tolist()
    assert chosen.tolist() == [
        [table[i] >> v * asked.slot & (1 << asked.slot) - 1 for i, v in enumerate(at)] for table in tables
    ]


@given(shapes, SEEDS)
def test_everybody_gets_the_slots_asked_for(wanted: list[tuple[tuple[int, int], int, int]], number: int) -> None:
    """Parts of several shapes in one choice."""
    of_a, of_b = (
        [
            part(bits, slot, words, count, number + 100 * role + i)
            for i, ((bits, slot), words, count) in enumerate(wanted)
        ]
        for role in (1, 2)
    )
    chosen_a, chosen_b = both(choose_slots, (of_a,), (of_b,))
    for asked, offered, chosen in [*zip(of_a, of_b, chosen_a, strict=True), *zip(of_b, of_a, chosen_b, strict=True)]:
        assert_chosen(asked, offered, chosen)


@pytest.mark.parametrize(("bits", "slot"), SHAPES)
def test_every_slot_of_every_shape(bits: int, slot: int) -> None:
    entries = 1 << bits
    every = part(bits, slot, 2, entries, bits)
    ordered = Slots(bits, slot, every.tables, (mask(bits) & random_for(1).words(1)).astype("uint8"))
    asks = Slots(bits, slot, every.tables, every.index)
    asks.index[:] = range(entries)
    chosen, _ = both(choose_slots, ([asks],), ([every],))
    assert ordered.index.size == 1
    assert_chosen(asks, every, chosen[0])


def test_two_rounds_whatever_the_parts() -> None:
    traffic = shared_pair().talk.first.traffic
    parts = [part(5, 2, 1, 7, 1), part(3, 2, 2, 4, 2)]
    rounds, sent = traffic.rounds, traffic.sent
    both(choose_slots, (parts,))
    assert traffic.rounds - rounds == 2
    announced, tables = -(-(5 * 7 + 3 * 4) // 8), 7 * 8 + 2 * 4 * 2
    assert traffic.sent - sent == 2 * 16 + announced + tables


def test_transfers_are_one_for_each_bit_of_each_index() -> None:
    pool = shared_pair().a.pool
    both(choose_slots, ([part(5, 2, 1, 1, 1)],))
    before = pool.left
    both(choose_slots, ([part(5, 2, 2, 7, 1), part(3, 2, 1, 4, 2)],))
    assert (before - pool.left - 47) % UNIT == 0


def table_of(entries: int, widths: list[int], number: int) -> Words:
    columns = [random_for(number + i).words(entries) & mask(width) for i, width in enumerate(widths)]
    return np.stack(columns, axis=1)


def assert_looked_up(entries: int, widths: list[int], index: Words, number: int) -> None:
    table = table_of(entries, widths, number)
    index_a, index_b = xored(index, entries.bit_length() - 1, number + 1)
    row_a, row_b = both(look_up, (index_a, table, widths), (index_b, table, widths))
    assert row_a.shape == row_b.shape == (index.size, len(widths))
    assert (row_a ^ row_b).tolist() == [table[i].tolist() for i in index.tolist()]
    assert not (row_a & ~np.array([mask(width) for width in widths])).any()


@given(st.integers(1, 9), st.lists(WIDTHS, min_size=1, max_size=4), st.integers(1, 9), SEEDS)
@settings(max_examples=50)
def test_look_up_is_the_table_at_the_index(bits: int, widths: list[int], count: int, number: int) -> None:
    assert_looked_up(1 << bits, widths, random_for(number + 2).words(count) & mask(bits), number)


@pytest.mark.parametrize("bits", range(1, 10))
def test_every_entry_is_found(bits: int) -> None:
    assert_looked_up(1 << bits, [64, 16], np.arange(1 << bits, dtype=np.uint64), bits)


def test_more_elements_than_are_masked_at_a_time() -> None:
    assert_looked_up(512, [64, 16], random_for(1).words(301) & mask(9), 1)


def test_share_of_a_row_is_fresh() -> None:
    """The same index twice does not give the same shares, nor does an entry of zeros give shares of zeros."""
    index, table = np.zeros(50, np.uint64), np.zeros((4, 2), np.uint64)
    rows = [both(look_up, (index, table, (64, 64)))[0] for _ in range(2)]
    assert np.unique(np.stack(rows)).size == 200


def test_two_rounds_and_no_more_bytes_than_the_entries_need() -> None:
    traffic = shared_pair().talk.first.traffic
    rounds, sent = traffic.rounds, traffic.sent
    widths = [64, 14, 1]
    both(look_up, (np.arange(7, dtype=np.uint64), table_of(16, widths, 1), widths))
    assert traffic.rounds - rounds == 2
    entries = 4 * 16
    assert traffic.sent - sent == 2 * 16 + 4 * 4 // 8 + entries * 8 + entries * 2 + entries // 8
