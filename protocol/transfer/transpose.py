"""128 rows of bits into one 128-bit block for each column.

Butterflies on 64-bit words (Hacker's Delight, 7-3), each a few numpy calls on arrays that stay in the cache; larger
arrays are several times slower for the same work, which is why callers see blocks of `BLOCK_WORDS` words a row.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Bits, Words

BLOCK_WORDS = 256
ROWS = 128
_STAGES = [
    (np.uint64(distance), np.uint64(sum(1 << i for i in range(64) if not i & distance)))
    for distance in (32, 16, 8, 4, 2, 1)
]


class Transposer:
    """Owns the scratch of one thread."""

    def __init__(self) -> None:
        self._rows = np.empty(ROWS * BLOCK_WORDS, np.uint64)
        self._half = np.empty(ROWS * BLOCK_WORDS // 2, np.uint64)

    def block(self, rows: Words, out: Words) -> None:
        """Transpose `rows` (128, w), w at most `BLOCK_WORDS`, into `out` (64·w, 2).

        Column 64·j + i of the rows becomes block i·w + j: the order in which a butterfly leaves them, and as good as
        any other for random transfers. `choices_in_order` puts the choice bits in the same order.
        """
        width = rows.shape[1]
        scratch = self._rows[: ROWS * width].reshape(ROWS, width)
        np.copyto(scratch, rows)
        for distance, low in _STAGES:
            self._swap(scratch, int(distance), distance, low)
        halves = scratch.reshape(2, 64 * width)
        out[:, 0] = halves[0]
        out[:, 1] = halves[1]

    def _swap(self, scratch: Words, distance: int, shift: np.uint64, low: np.uint64) -> None:
        """Exchange the high parts of the upper rows with the low parts of the lower ones, `distance` rows apart."""
        pairs = scratch.reshape(ROWS // (2 * distance), 2, distance, -1)
        upper, lower = pairs[:, 0], pairs[:, 1]
        moved = self._half[: upper.size].reshape(upper.shape)
        np.right_shift(upper, shift, out=moved)
        np.bitwise_xor(moved, lower, out=moved)
        np.bitwise_and(moved, low, out=moved)
        np.bitwise_xor(lower, moved, out=lower)
        np.left_shift(moved, shift, out=moved)
        np.bitwise_xor(upper, moved, out=upper)


_POSITIONS = np.arange(64, dtype=np.uint64)[:, None]


def choices_in_order(packed: Words) -> Bits:
    """The choice bits of one block of w words, in the order of `Transposer.block`."""
    bits = (packed[None, :] >> _POSITIONS) & np.uint64(1)
    return bits.astype(np.uint8).reshape(-1)
