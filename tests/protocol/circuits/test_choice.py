import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, mask
from mixbayes.protocol.circuits.choice import Slots, choose_slots
from mixbayes.protocol.transfer.extension import UNIT
from tests.protocol.pairs import SEEDS, both, random_for, shared_pair

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
