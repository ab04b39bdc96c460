"""Numbers between Arrow and numpy.

pyarrow's own conversions load pandas first, which takes longer than a small file does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def as_numpy(array: pa.Array, gap: float) -> NDArray[Any]:
    """The numbers of an array; `gap` where there is none."""
    if array.null_count:
        array = array.fill_null(as_arrow(np.full(1, gap), array.type)[0])
    return np.from_dlpack(array)


def as_arrow(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Numbers as an array of this type."""
    kept = pa.py_buffer(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, kept]).cast(kind)


def texts_as_arrow(texts: Sequence[str]) -> pa.Array:
    """Texts as an array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))])
