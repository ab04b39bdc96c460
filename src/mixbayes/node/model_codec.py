"""A share of a trained model as bytes for the disk, in numpy's own format.

The first array holds the width of the words, the margin or -1, and the positions of the attributes that are asked about
by features.
"""

from __future__ import annotations

import io

import numpy as np

from mixbayes.protocol.attributes.asking import Sum
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model

_NONE = -1


def model_bytes(layout: Layout, model: Model) -> bytes:
    """This party's share of θ."""
    by_features = [i for i, a in enumerate(layout.dictionary.attributes) if isinstance(a.asking, Sum)]
    file = io.BytesIO()
    np.savez(
        file,
        np.array([model.width, _NONE if model.margin is None else model.margin, *by_features], np.int64),
        model.prior,
        *model.tables,
    )
    return file.getvalue()


def model_from(raw: bytes) -> Model:
    """The share again. The layout says how attributes are asked about, so their positions are not read."""
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        about, prior, *tables = (arrays[f"arr_{i}"] for i in range(len(arrays.files)))
    width, margin = (int(number) for number in about[:2])
    return Model(width, prior, tuple(tables), None if margin == _NONE else margin)
