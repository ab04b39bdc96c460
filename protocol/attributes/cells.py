"""What a cell of a table says: nothing, a number, or a value of a list. Array work on whole columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[np.str_]
"""Cells as they stand in the file, unchanged."""
Numbers = NDArray[np.float64]
"""Cells as numbers; not-a-number where there is none."""

MISSING = ("", "?")


def missing(cells: Texts) -> NDArray[np.bool_]:
    """Where a cell says nothing."""
    return np.logical_or.reduce([cells == said for said in MISSING])


def numbers(cells: Texts) -> Numbers:
    """Each cell as the number Python reads in it; not-a-number where it is none. `nan` and `inf` are none."""
    present = np.where(missing(cells), "nan", cells)  # else one `?` would send the whole column the slow way
    try:
        values = present.astype(np.float64)
    except ValueError:
        values = _numbers_among_words(present)
    return np.where(np.isfinite(values), values, np.nan)


def spelled(values: Numbers) -> Texts:
    """Numbers as the shortest texts that are read as the same numbers: 1.0 is `1`. Not-a-number is the empty cell."""
    texts = np.array([repr(value + 0.0).removesuffix(".0") for value in values.tolist()], np.str_)
    return np.where(np.isfinite(values), texts, "")


def positions(cells: Texts, values: Sequence[str]) -> NDArray[np.int32]:
    """Where each cell stands in the list of values; one past the end where it does not."""
    places = {value: place for place, value in enumerate(values)}  # sorting texts takes longer than looking them up
    return np.array([places.get(cell, len(values)) for cell in cells.tolist()], np.int32)


def in_order(distinct: Texts) -> Texts:
    """Values in the order a dictionary gives them: as text, numerically if all are numbers.

    `1` and `1.0` are different values; as numbers they are equal, and stay in their order as text.
    """
    distinct = np.sort(distinct)
    values = numbers(distinct)
    return distinct if np.isnan(values).any() else distinct[np.argsort(values, kind="stable")]


def _numbers_among_words(cells: Texts) -> Numbers:
    # numpy converts a column whole or not at all; one with words in it is read once per different text.
    distinct, at = np.unique(cells, return_inverse=True)
    return np.array(list(map(_number, distinct.tolist())))[at]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
