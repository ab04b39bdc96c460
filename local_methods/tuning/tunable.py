"""What can be searched: a parameter of a method that makes a release more private as it grows, or as it falls.

Group sizes are searched at geometric means, as in the paper. Shares, on a grid of hundredths, and ranks are searched at
arithmetic means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.condensation.condensing import LEAST_ROWS
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.registry import METHODS
from mixbayes.local_methods.tuning.scale import Reach, Scale, arithmetic

HUNDREDTHS = 100
LEAST_GROUP = 2


def _half(method: Any, rows: Labelled) -> Reach:
    """Two groups, because a single group says nothing about a row."""
    return Reach(rows.table.rows // 2, f"half of {rows.table.rows} training rows")


def _smallest_class(method: Any, rows: Labelled) -> Reach:
    smallest = min(int(count) for count in rows.labels.counts() if count)
    return Reach(smallest, f"the smallest class has {smallest} training rows", low=method.t)


def _leaves(method: Any, rows: Labelled) -> Reach:
    half, block = _half(method, rows), method.block_size
    if block is None or block >= half.high:
        return replace(half, low=method.min_group)
    return Reach(block, f"block_size = {block}", low=method.min_group)


def _smallest_leaves(method: Any, rows: Labelled) -> Reach:
    return Reach(method.leaf_size, f"leaf_size = {method.leaf_size}")


def _ranks(method: Any, rows: Labelled) -> Reach:
    columns = len(rows.table.numeric)
    return Reach(min(columns, rows.table.rows), f"there are {columns} numeric columns")


def _shares(method: Any, rows: Labelled) -> Reach:
    return Reach(HUNDREDTHS, "a share")


def _below_one(method: Any, rows: Labelled) -> Reach:
    return Reach(HUNDREDTHS - 1, "below 1")


NOISE = Scale(1, _below_one, arithmetic, HUNDREDTHS)
RANK = Scale(1, _ranks, arithmetic, less_is_private=True)

TUNABLE: Mapping[str, Mapping[str, Scale]] = {
    "condensation": {"k": Scale(LEAST_ROWS, _half)},
    "class-wise-condensation": {"k": Scale(LEAST_ROWS, _smallest_class)},
    "microaggregation": {"k": Scale(LEAST_GROUP, _half)},
    "perturbation-tree": {
        "leaf_size": Scale(LEAST_GROUP, _leaves),
        "min_group": Scale(LEAST_GROUP, _smallest_leaves),
    },
    "additive-noise": {"scale": NOISE},
    "multiplicative-noise": {"scale": NOISE},
    "sap": {"p": Scale(1, _shares, arithmetic, HUNDREDTHS)},
    "dmpd": {"k": Scale(LEAST_GROUP, _half)},
    "svd": {"rank": RANK},
    "sparsified-svd": {"rank": RANK, "sparsity": Scale(0, _below_one, arithmetic, HUNDREDTHS)},
}
"""By method and parameter."""


def scale_of(name: str, parameter: str) -> Scale:
    """How this parameter of this method is searched, or a refusal that says which can be."""
    found = TUNABLE.get(name, {})
    if not found:
        raise BadParameter(
            f"{name} has no parameter that can be searched for. These methods have one: {', '.join(TUNABLE)}."
        )
    if parameter not in found:
        raise BadParameter(f"{parameter!r} of {name} cannot be searched for; {' and '.join(found)} can.")
    return found[parameter]


def any_value(name: str, parameter: str) -> str:
    """A value that the method accepts, as text."""
    scale = scale_of(name, parameter)
    return f"{scale.value(scale.least):g}"


def name_of(method: LocalMethod) -> str:
    """What commands call the method."""
    kind = type(method).__name__
    return next((name for name, (_, known) in METHODS.items() if known == kind), kind)
