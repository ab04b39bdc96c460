"""Quartiles and their charts, as the tables of Peters have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Floats

WIDTH = 41


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

    def chart(self, width: int = WIDTH) -> str:
        """A line from 0 to 1 with a bar in its middle, a stroke from quartile to quartile and a dot at the median."""
        line = [" "] * width
        line[round((width - 1) / 2)] = "│"
        if not np.isnan(self.median):
            lower, median, upper = (round(value * (width - 1)) for value in (self.lower, self.median, self.upper))
            line[lower : upper + 1] = "─" * (upper + 1 - lower)
            line[median] = "●"
        return "".join(line)
