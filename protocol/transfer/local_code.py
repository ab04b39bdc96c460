"""The public matrix of silent transfers: every output is the sum of a few random elements of the secret.

It is the local linear code of Ferret (section 6 of the paper). Its rows are drawn by AES-CTR under a key that both
parties know, block by block, and not kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.randomness import draw_into, key_stream
from mixbayes.protocol.transfer.lpn import LpnSizes

ROWS = 1 << 12
"""Outputs that are made at a time. They and the secret fit the cache."""


class LocalCode:
    """The rows of the matrix, one block after the other. Both ends draw blocks of equal sizes."""

    def __init__(self, key: bytes, sizes: LpnSizes) -> None:
        self._sizes = sizes
        self._stream = key_stream(key)
        self._drawn = np.empty((sizes.weight, ROWS), np.uint32)
        self._places = np.empty((sizes.weight, ROWS), np.uint64)

    def add(self, secret: Words, outputs: Words) -> None:
        """Add to the outputs (at most `ROWS`, …) those elements of `secret` (k, …) that their rows name."""
        taken = np.empty_like(outputs)
        for places in self._next(len(outputs)):
            # All places are valid. The mode only spares numpy a copy.
            _whole(secret).take(places, out=_whole(taken), mode="wrap")
            np.bitwise_xor(outputs, taken, out=outputs)

    def _next(self, rows: int) -> NDArray[np.intp]:
        """Which elements the next rows combine, (weight, rows). A place is drawn as a fraction of 32 bits of k."""
        count = self._sizes.weight * rows
        drawn, places = self._drawn.reshape(-1)[:count], self._places.reshape(-1)[:count]
        draw_into(self._stream, drawn.view(np.uint8))
        np.multiply(drawn, np.uint64(self._sizes.secret), out=places)
        np.right_shift(places, np.uint64(32), out=places)
        return places.view(np.intp).reshape(self._sizes.weight, rows)


def _whole(elements: Words) -> NDArray[np.void]:
    """Elements of several words as single items, which numpy gathers several times faster."""
    words = elements.reshape(len(elements), -1)
    return words.view(np.dtype((np.void, words.itemsize * words.shape[1])))[:, 0]
