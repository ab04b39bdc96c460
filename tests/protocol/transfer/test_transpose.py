import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.transfer.transpose import BLOCK_WORDS, ROWS, Transposer, choices_in_order
from tests.protocol.pairs import SEEDS, random_for

widths = st.integers(1, 3)


def transposed(rows: Words) -> Words:
    out = np.empty((64 * rows.shape[1], 2), np.uint64)
    Transposer().block(rows, out)
    return out


@given(widths, SEEDS)
def test_columns_become_blocks(width: int, number: int) -> None:
    rows = random_for(number).words(ROWS, width)
    plain: list[list[int]] = rows.tolist()
    blocks = [low | high << 64 for low, high in transposed(rows).tolist()]
    for j in range(width):
        for i in range(64):
            column = [plain[row][j] >> i & 1 for row in range(ROWS)]
            assert blocks[i * width + j] == sum(bit << row for row, bit in enumerate(column))


@pytest.mark.parametrize("width", [1, 2, 7, BLOCK_WORDS - 1, BLOCK_WORDS])
def test_every_single_bit_lands_in_its_place(width: int) -> None:
    rng = np.random.default_rng(width)
    for row, word, bit in rng.integers(0, [ROWS, width, 64], (50, 3)).tolist():
        rows = np.zeros((ROWS, width), np.uint64)
        rows[row, word] = 1 << bit
        out = transposed(rows)
        assert np.argwhere(out).tolist() == [[bit * width + word, row // 64]]
        assert int(out[bit * width + word, row // 64]) == 1 << row % 64


def test_scratch_of_a_wider_block_does_not_show_in_the_next() -> None:
    transposer = Transposer()
    wide, narrow = random_for(1).words(ROWS, BLOCK_WORDS), random_for(2).words(ROWS, 3)
    transposer.block(wide, np.empty((64 * BLOCK_WORDS, 2), np.uint64))
    out = np.empty((192, 2), np.uint64)
    transposer.block(narrow, out)
    assert out.tolist() == transposed(narrow).tolist()


def test_rows_are_left_as_they_were() -> None:
    rows = random_for(1).words(ROWS, 2)
    before = rows.copy()
    transposed(rows)
    assert rows.tolist() == before.tolist()


@given(st.integers(1, BLOCK_WORDS), SEEDS)
def test_choices_come_in_the_order_of_the_blocks(width: int, number: int) -> None:
    """A row transposed and its bits in order are the same bits."""
    row = random_for(number).words(width)
    rows = np.zeros((ROWS, width), np.uint64)
    rows[0] = row
    assert choices_in_order(row).tolist() == transposed(rows)[:, 0].tolist()
