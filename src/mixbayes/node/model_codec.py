"""A share of a trained model as bytes for the disk, in numpy's own format.

The first array holds the width of the words and the positions of the attributes that are asked about by features. The
margin has an array of its own, where there is one.
"""

from __future__ import annotations

import io
import re
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.asking import SumOf, SumOfFew
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model

_MARGIN = "margin"
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(<[iu]8)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \} *\n", re.DOTALL
)


def model_bytes(layout: Layout, model: Model) -> bytes:
    """This party's share of θ."""
    by_features = [i for i, a in enumerate(layout.dictionary.attributes) if isinstance(a.asking, SumOf | SumOfFew)]
    file, arrays = io.BytesIO(), [np.array([model.width, *by_features], np.int64), model.prior, *model.tables]
    if model.margin is None:
        np.savez(file, *arrays)
    else:
        np.savez(file, *arrays, margin=np.array(model.margin, np.int64))
    return file.getvalue()


def model_from(raw: bytes) -> Model:
    """The share again. The layout says how attributes are asked about, so their positions are not read."""
    arrays = _arrays(raw)
    margin = int(arrays.pop(_MARGIN)) if _MARGIN in arrays else None
    about, prior, *tables = (arrays[f"arr_{i}"] for i in range(len(arrays)))
    return Model(int(about[0]), prior, tuple(tables), margin)


def _arrays(raw: bytes) -> dict[str, NDArray[Any]]:
    """What numpy's own reader would give. That one has Python parse the headers, and CPython before 3.12 sometimes
    fails if two threads parse at a time (python/cpython#106905)."""
    with ZipFile(io.BytesIO(raw)) as file:
        return {name.removesuffix(".npy"): _array(file.read(name)) for name in file.namelist()}


def _array(raw: bytes) -> NDArray[Any]:
    if not (found := _HEADER.match(raw)):
        raise ValueError("a share of a model is not as this program writes it")
    kind, shape = found[1].decode(), [int(size) for size in found[2].replace(b",", b" ").split()]
    return np.frombuffer(raw, kind, offset=found.end()).reshape(shape).copy()
