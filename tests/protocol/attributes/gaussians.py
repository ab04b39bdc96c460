"""Tables with Gaussian attributes, for the tests of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE, NUMERIC_BITS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.counts import Codes, count

TOP = 1 << NUMERIC_BITS


def mixed_layout(classes: int, kinds: Sequence[bool], max_rows: int = 2**20, smoothing: str = "1") -> Layout:
    """Gaussian attributes where `kinds` says so, nominal ones of three values elsewhere."""
    attributes: list[Attribute] = [
        Gaussian(name=f"a{i}", low=0.0, high=1.0) if gaussian else Nominal(name=f"a{i}", values=("x", "y", "z"))
        for i, gaussian in enumerate(kinds)
    ]
    content = {
        "class_column": "class",
        "classes": [str(c) for c in range(classes)],
        "attributes": attributes,
        "smoothing": smoothing,
        "max_rows": max_rows,
    }
    return Layout(Dictionary.model_validate(content))


def scaled(values: Sequence[float] | NDArray[np.float64]) -> Values:
    """Numbers in [0, 1] as the integers a hospital counts."""
    return np.rint(np.array(values) * TOP).astype(np.int32)


def random_rows(layout: Layout, rng: np.random.Generator, rows: int, labels: Values | None = None) -> Values:
    """Cells of every kind of attribute: clusters by class, narrow and wide, bounds, and missing ones."""
    lines = []
    for attribute in layout.dictionary.attributes:
        if isinstance(attribute, Gaussian):
            centre = 0.5 if labels is None else 0.2 + 0.6 * labels / layout.classes
            spread = 10.0 ** -rng.integers(0, 7)
            line = scaled(np.clip(rng.normal(centre, spread, rows), 0, 1))
            line[rng.random(rows) < 0.1] = ABSENT_CODE
        else:
            line = rng.integers(0, 4, rows).astype(np.int32)
        lines.append(line)
    return np.stack(lines).astype(np.int32)


def counted(layout: Layout, codes: Values, labels: Values) -> Words:
    return count(layout, Codes(codes, labels))
