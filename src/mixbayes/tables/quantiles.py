"""Quantiles of a column that is known by its different values and how often each occurs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Numbers, spelled
from mixbayes.tables.profile import ColumnProfile, Profile
from mixbayes.tables.sources.source import Progress, Source, no_progress

GRID = 1 << 16
"""Points between the smallest and the largest number to which numbers are rounded where there are too many."""


def quantiles(values: Numbers, counts: NDArray[np.int64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """What `numpy.quantile` finds in the numbers one by one."""
    order = np.argsort(values)
    values, up_to = values[order], np.cumsum(counts[order])
    rank = at * (up_to[-1] - 1)
    below = np.floor(rank)
    low, high = (values[np.searchsorted(up_to, np.minimum(k, up_to[-1] - 1), side="right")] for k in (below, below + 1))
    share, step = rank - below, high - low
    return np.where(share < 0.5, low + step * share, high - step * (1 - share))  # as numpy rounds


def with_grids(source: Source, profile: Profile, names: Collection[str], progress: Progress = no_progress) -> Profile:
    """The profile in which these columns have numbers rounded to a grid, where there were too many different ones."""
    rounded = {name: one for name, one in profile.columns.items() if name in names and one.range and not one.complete}
    if not rounded:
        return profile
    counts = {name: np.zeros(GRID + 1, np.int64) for name in rounded}
    with source.named_in_errors():
        for part in source.parts(list(rounded)):
            for name, one in rounded.items():
                values = part.columns.raw(name).all_numbers()
                if values is not None and one.range:
                    counts[name] += _on_grid(values, one.range)
            progress(f"quantiles of {source.title}", part.done, part.total)
    found = {name: _gridded(one, counts[name]) for name, one in rounded.items()}
    return replace(profile, columns={**profile.columns, **found})


def _on_grid(values: Numbers, bounds: tuple[float, float]) -> NDArray[np.int64]:
    low, high = bounds
    share = (values[~np.isnan(values)] - low) / (high - low)
    return np.bincount(np.clip(np.rint(share * GRID), 0, GRID).astype(np.int64), minlength=GRID + 1)


def _gridded(one: ColumnProfile, counts: NDArray[np.int64]) -> ColumnProfile:
    low, high = one.range or (0.0, 0.0)
    (occurring,) = np.nonzero(counts)
    texts = spelled(low + (high - low) * (occurring / GRID))
    order = np.argsort(texts)
    return replace(one, values=texts[order], counts=counts[occurring][order])
