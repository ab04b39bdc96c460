"""A share of a trained model as bytes for the disk, in numpy's own format.

The first array holds the width of the words and the positions of the attributes that are asked about by features. The
margin has an array of its own, where there is one.
"""

from __future__ import annotations

import io

import numpy as np

from mixbayes.protocol.attributes.asking import SumOf, SumOfFew
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model

_MARGIN = "margin"


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
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        margin = int(arrays[_MARGIN]) if _MARGIN in arrays.files else None
        about, prior, *tables = (arrays[f"arr_{i}"] for i in range(len(arrays.files) - (margin is not None)))
    return Model(int(about[0]), prior, tuple(tables), margin)
