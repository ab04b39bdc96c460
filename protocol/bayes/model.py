"""The table θ of log-probabilities: what training makes of counts, in the clear or on shares.

Everything here is linear or a rearrangement, so the two computing parties and the clear-text reference run the same
code, each on its own numbers. Only two steps differ: the logarithms of what `log_arguments` gives, and how a kind of
attribute makes a table of its counts and logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.kind import Kind, Learned
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.precision import Precision
from mixbayes.protocol.circuits.logarithm import FRACTION

Learner = Callable[[type[Kind], list[Learned]], list[Words]]
"""Makes the tables of all attributes of one kind."""


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """Shares of θ modulo 2^width, relative to the first class: what decides is a difference.

    `prior` is (K − 1,). `tables` has (words, K − 1) for each attribute: a word for every entry or feature that its kind
    asks about.
    """

    width: int
    prior: Words
    tables: tuple[Words, ...]

    @property
    def classes(self) -> int:
        return self.prior.size + 1


def log_arguments(layout: Layout, vector: Words, one: int) -> list[Words]:
    """What is under the logarithms: n_c, then what each attribute asks for. `one` is a share of the number one."""
    smoothing = layout.smoothing
    of_attributes = (attribute.log_arguments(block, smoothing, one) for attribute, block in layout.blocks(vector))
    return [layout.class_counts(vector), *of_attributes]


def learned(layout: Layout, vector: Words, precision: Precision, logs: Words, sizes: Sequence[int]) -> list[Learned]:
    """Every attribute's counts with its logarithms, brought to the fraction bits of a score."""
    of_attributes = np.split(logs << np.uint64(precision.fraction - FRACTION), np.cumsum(sizes)[:-1])[1:]
    return [Learned(a, block, own) for (a, block), own in zip(layout.blocks(vector), of_attributes, strict=True)]


def assemble(
    layout: Layout, precision: Precision, logs_of_classes: Words, empty: Words, found: Sequence[Learned], learn: Learner
) -> Model:
    """θ from log2 n_c, from [n_c = 0], and from what was learned of the attributes."""
    prior = (logs_of_classes << np.uint64(precision.fraction - FRACTION)) - empty * np.uint64(precision.empty)
    tables: dict[int, Words] = {}
    for kind, positions in layout.by_kind():
        # All attributes of a kind at once: a circuit costs as many rounds for many as for one.
        tables |= zip(positions, learn(kind, [found[i] for i in positions]), strict=True)
    low = mask(precision.width)
    ordered = (_relative(tables[i]) & low for i in range(len(found)))
    return Model(precision.width, _relative(prior) & low, tuple(ordered))


def _relative(cells: Words) -> Words:
    return np.ascontiguousarray(cells[..., 1:] - cells[..., :1])


def scores(layout: Layout, model: Model, codes: Values) -> Words:
    """Shares (K, n) of every class's score minus the first one's, for codes (columns, n) that this party knows."""
    total = np.zeros((model.classes, codes.shape[1]), np.uint64)
    total[1:] = model.prior[:, None]
    for (attribute, cells), table in zip(layout.cells(codes), model.tables, strict=True):
        attribute.asking.add_scores(total[1:], table, cells)
    return total & mask(model.width)
