"""The array types every step speaks in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""Ring elements, XOR-shared words, or the two halves of 128-bit blocks."""

Bits = NDArray[np.uint8]
"""One bit to a byte, 0 or 1."""

Bytes = NDArray[np.uint8]
"""Raw bytes, as a channel carries them."""

Values = NDArray[np.int32]
"""Rows (attributes, n), each cell as its position in the dictionary."""

Numbers = NDArray[np.object_]
"""Big integers: gmpy2's, which mix with Python's and, having no published types, are written `int`."""


def mask(width: int) -> np.uint64:
    """The word whose low `width` bits are set."""
    return np.uint64((1 << width) - 1)


def slices(count: int, step: int) -> Iterator[slice]:
    """So many elements in their order, `step` at a time."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
