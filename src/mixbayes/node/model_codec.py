"""A share of a trained model as bytes for the disk, in numpy's own format."""

from __future__ import annotations

import io

import numpy as np

from mixbayes.protocol.bayes.model import Model


def model_bytes(model: Model) -> bytes:
    """This party's share of θ."""
    file = io.BytesIO()
    about = np.array([model.width, *model.gaussian], np.int64)
    np.savez(file, about, model.prior, *model.tables)
    return file.getvalue()


def model_from(raw: bytes) -> Model:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        about, prior, *tables = (arrays[f"arr_{i}"] for i in range(len(arrays.files)))
    width, *gaussian = (int(number) for number in about)
    return Model(width, prior, tuple(tables), tuple(gaussian))
