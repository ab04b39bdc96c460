"""Trained models as bytes, for the disk: numpy's own format for words, JSON for numbers of any length."""

from __future__ import annotations

import io
import json

import numpy as np

from mixbayes.protocol.arrays import Numbers
from mixbayes.protocol.attributes.asking import SumOf
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.paillier.key import PublicKey, SecretKey, big_numbers
from mixbayes.protocol.paillier.training import ExactModel, Group

MODEL_KEPT = "model is kept"
"""The follower's last word in a training. Asked before its model is on disk, it would be taken to have none."""


def model_bytes(layout: Layout, model: Model) -> bytes:
    """A share of θ: its width with the attributes that are asked about by features, the prior, the tables."""
    file = io.BytesIO()
    by_features = [i for i, a in enumerate(layout.dictionary.attributes) if isinstance(a.asking, SumOf)]
    about = np.array([model.width, *by_features], np.int64)
    np.savez(file, about, model.prior, *model.tables)
    return file.getvalue()


def model_from(raw: bytes) -> Model:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        about, prior, *tables = (arrays[f"arr_{i}"] for i in range(len(arrays.files)))
    return Model(int(about[0]), prior, tuple(tables))


def exact_bytes(key: SecretKey | PublicKey, model: ExactModel) -> bytes:
    """One hospital's factors in the Paillier protocol, with the key under which they were made."""
    group = model.group
    return json.dumps(
        {
            "key": key.primes if isinstance(key, SecretKey) else [key.modulus],
            "group": [group.modulus, group.comparison_bits, group.key_bits, group.small],
            "start": _plain(model.start),
            "tables": [_plain(table) for table in model.tables],
            "empty": model.empty.tolist(),
        },
        default=int,
    ).encode()


def exact_from(raw: bytes) -> tuple[SecretKey | PublicKey, ExactModel]:
    kept = json.loads(raw)
    key = SecretKey(*kept["key"]) if len(kept["key"]) == 2 else PublicKey(kept["key"][0])
    modulus, bits, key_bits, small = kept["group"]
    model = ExactModel(
        Group(PublicKey(modulus).modulus, bits, key_bits, bool(small)),
        big_numbers(kept["start"]),
        tuple(big_numbers(table) for table in kept["tables"]),
        np.array(kept["empty"], np.uint8),
    )
    return key, model


def _plain(numbers: Numbers) -> list[object]:
    return numbers.tolist()
