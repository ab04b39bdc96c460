"""What attributes of numbers share: public bounds, and how cells are read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts, missing, numbers


class NumberReading(NamedTuple):
    """A column of cells as numbers; not-a-number where there is none."""

    values: NDArray[np.float64]
    foreign: Texts
    clipped: int


def read_numbers(cells: Texts, low: float, high: float) -> NumberReading:
    """The numbers of a column, the cells that are none, and how many numbers lie beyond the bounds."""
    values = numbers(cells)
    unread = cells[np.isnan(values)]
    beyond = (values < low) | (values > high)
    return NumberReading(values, unread[~missing(unread)], int(np.count_nonzero(beyond)))


def not_numbers(foreign: Texts) -> str:
    """Why these cells do not fit, and what to write instead."""
    with_comma = ~np.isnan(numbers(np.char.replace(foreign, ",", ".")))
    remedies = [
        *(["Write decimal points, not commas"] if with_comma.any() else []),
        *(["Write numbers without units, and leave missing cells empty"] if not with_comma.all() else []),
    ]
    return ". ".join(["not a number", *remedies])
