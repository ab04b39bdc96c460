"""Quartiles, as the tables of Peters have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Floats


@dataclass(frozen=True)
class Quartiles:
    """The lower quartile, the median and the upper quartile."""

    lower: float
    median: float
    upper: float

    @staticmethod
    def of(values: Floats) -> Quartiles:
        """Of the values that are numbers; without any, all three are not-a-number."""
        present = values[~np.isnan(values)]
        if not len(present):
            return Quartiles(np.nan, np.nan, np.nan)
        return Quartiles(*np.quantile(present, [0.25, 0.5, 0.75]).tolist())
