import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits.look_up import Table, one_hot
from mixbayes.protocol.computing_party import ComputingParty
from tests.protocol.pairs import SEEDS, both, opened, random_for, shared_pair, xored

DIGITS = st.integers(2, 3)


def looked_up(me: ComputingParty, index: Words, table: Table, digits: int) -> Bits:
    return table.at(one_hot(me, index, digits))


def shares_of_rows(columns: Words, sizes: list[int], index: Words, number: int) -> tuple[Bits, Bits]:
    digits = (columns.shape[1].bit_length() - 1) // 3
    of_a, of_b = xored(index, 3 * digits, number)
    table = Table.of(columns, sizes)
    found: tuple[Bits, Bits] = both(looked_up, (of_a, table, digits), (of_b, table, digits))
    return found


@given(DIGITS, st.lists(st.integers(1, 64), min_size=1, max_size=4), st.integers(1, 9), SEEDS)
@settings(max_examples=40)
def test_look_up_is_the_table_at_the_index(digits: int, sizes: list[int], count: int, number: int) -> None:
    entries = 8**digits
    columns = np.stack([random_for(number + i).words(entries) & mask(size) for i, size in enumerate(sizes)])
    index = random_for(number + 9).words(count) & mask(3 * digits)
    of_a, of_b = shares_of_rows(columns, sizes, index, number)
    expected = [
        [int(column[i]) >> bit & 1 for i in index]
        for column, size in zip(columns, sizes, strict=True)
        for bit in range(size)
    ]
    assert (of_a ^ of_b).tolist() == expected


@pytest.mark.parametrize("digits", [2, 3])
def test_every_entry_is_found(digits: int) -> None:
    every = np.arange(8**digits, dtype=np.uint64)
    columns = np.stack([every, random_for(1).words(8**digits)])
    of_a, of_b = shares_of_rows(columns, [9, 64], every, digits)
    assert ((of_a ^ of_b)[:9] == (every >> np.arange(9, dtype=np.uint64)[:, None]) & np.uint64(1)).all()


def test_more_elements_than_are_added_up_at_a_time() -> None:
    index = random_for(1).words(4100) & mask(6)
    of_a, of_b = shares_of_rows(np.arange(64, dtype=np.uint64)[None], [6], index, 1)
    places = np.arange(6, dtype=np.uint64)[:, None]
    assert (np.bitwise_or.reduce((of_a ^ of_b).astype(np.uint64) << places, axis=0) == index).all()


@given(DIGITS, st.data(), SEEDS)
@settings(max_examples=40)
def test_one_hot_has_the_one_bit_of_the_index(digits: int, data: st.DataObject, number: int) -> None:
    index = data.draw(st.lists(st.integers(0, 8**digits - 1), min_size=1, max_size=5))
    of_a, of_b = xored(np.array(index, np.uint64), 3 * digits, number)
    hot = opened(both(one_hot, (of_a, digits), (of_b, digits)), 8**digits)
    assert hot == [1 << i for i in index]


def test_shares_of_a_vector_are_fresh() -> None:
    """The same index twice does not give the same shares, whether a party offered its digit or asked."""
    index = np.full(40, 5, np.uint64)
    once, again = (both(one_hot, (index, 3), (index, 3))[0] for _ in range(2))
    different = (once != again).reshape(8, 40).mean(axis=0)
    assert (different > 0.5).all()


def test_four_rounds_and_few_bytes_for_a_table_of_any_width() -> None:
    traffic = shared_pair().talk.first.traffic
    rounds, sent = traffic.rounds, traffic.sent
    both(one_hot, (np.zeros(8, np.uint64), 3))
    assert traffic.rounds - rounds == 4
    announced, tables = -(-3 * 3 * 4 // 8), 3 * 4 * 8
    assert traffic.sent - sent == 4 * 16 + announced + tables + 7 * 8 * (1 + 8) // 8 + 7 * 8 * (1 + 64) // 8
