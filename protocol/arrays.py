"""The types of arrays in which all steps take and return their numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""Words of 64 bits: elements of a ring, XOR shares of words, or the two halves of 128-bit blocks."""

Bits = NDArray[np.uint8]
"""Bits, each in a byte of its own that is 0 or 1."""

Bytes = NDArray[np.uint8]
"""Raw bytes, as a channel carries them."""

Values = NDArray[np.int32]
"""Patients as codes (columns, n): every attribute has one column or several, which its kind writes and reads."""

Numbers = NDArray[np.object_]
"""Big integers of gmpy2. They mix with Python's, and are annotated as `int` because gmpy2 publishes no types."""


def mask(width: int) -> np.uint64:
    """The word whose low `width` bits are set."""
    return np.uint64((1 << width) - 1)


def blocks_of(words: Words) -> NDArray[np.complex128]:
    """Rows (…, 2) of two words as single items of 16 bytes, in the same memory. They serve for copying alone.

    numpy copies items several times faster than short rows, and has no integer of this size.
    """
    return words.view(np.complex128)[..., 0]


def slices(count: int, step: int) -> Iterator[slice]:
    """Slices of `step` elements, the last one perhaps shorter, that cover `count` elements in order."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
