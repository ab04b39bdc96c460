"""What can be searched for: a parameter of a method of which more, or less, is more private.

Group sizes are searched at geometric means, as in the paper; shares on a grid of hundredths, and ranks, at arithmetic
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.condensation.condensing import LEAST_ROWS
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.registry import METHODS
from mixbayes.local_methods.tuning.scale import Reach, Scale, arithmetic

HUNDREDTHS = 100
LEAST_GROUP = 2


def _groups_from(least: int) -> Callable[[Any, Labelled], Reach]:
    """Up to two groups: one alone says nothing of a row but that it is there."""

    def reach(method: Any, rows: Labelled) -> Reach:
        return Reach(least, rows.table.rows // 2, f"half of {rows.table.rows} training rows")

    return reach


def _groups_of_one_class(method: Any, rows: Labelled) -> Reach:
    smallest = min(int(count) for count in rows.labels.counts() if count)
    return Reach(method.t, smallest, f"the smallest class, which has {smallest} training rows")


def _leaves(method: Any, rows: Labelled) -> Reach:
    half = rows.table.rows // 2
    if method.block_size is not None and method.block_size < half:
        return Reach(method.min_group, method.block_size, f"block_size = {method.block_size}")
    return Reach(method.min_group, half, f"half of {rows.table.rows} training rows")


def _smallest_leaves(method: Any, rows: Labelled) -> Reach:
    return Reach(LEAST_GROUP, method.leaf_size, f"leaf_size = {method.leaf_size}")


def _ranks(method: Any, rows: Labelled) -> Reach:
    columns = len(rows.table.numeric)
    return Reach(1, min(columns, rows.table.rows), f"the rank of {columns} numeric columns")


def _shares(method: Any, rows: Labelled) -> Reach:
    return Reach(1, HUNDREDTHS, "1")


def _sparsities(method: Any, rows: Labelled) -> Reach:
    return Reach(0, HUNDREDTHS - 1, "the largest sparsity below 1")


RANK = Scale(_ranks, arithmetic, less_is_private=True)

TUNABLE: Mapping[str, Mapping[str, Scale]] = {
    "condensation": {"k": Scale(_groups_from(LEAST_ROWS))},
    "class-wise-condensation": {"k": Scale(_groups_of_one_class)},
    "microaggregation": {"k": Scale(_groups_from(LEAST_GROUP))},
    "perturbation-tree": {"leaf_size": Scale(_leaves), "min_group": Scale(_smallest_leaves)},
    "sap": {"p": Scale(_shares, arithmetic, HUNDREDTHS)},
    "dmpd": {"k": Scale(_groups_from(LEAST_GROUP))},
    "svd": {"rank": RANK},
    "sparsified-svd": {"rank": RANK, "sparsity": Scale(_sparsities, arithmetic, HUNDREDTHS)},
}
"""By method and parameter, the parameter that is searched unless another is named first."""


def scale_of(method: LocalMethod, parameter: str) -> Scale:
    """How this parameter is searched, or a refusal that says which can be."""
    name = name_of(method)
    found = TUNABLE.get(name, {})
    if not found:
        raise BadParameter(f"{name} has no parameter of which more is more private. {', '.join(TUNABLE)} have.")
    if parameter not in found:
        raise BadParameter(f"{parameter!r} of {name} cannot be searched for. {' and '.join(found)} can.")
    return found[parameter]


def name_of(method: LocalMethod) -> str:
    """What commands call the method."""
    kind = type(method).__name__
    return next((name for name, (_, known) in METHODS.items() if known == kind), kind)
