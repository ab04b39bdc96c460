"""Cut points and a ranking of attributes over the patients of all hospitals: the round before the round.

The dictionary of this round is preliminary: its numeric attributes are binned on a fine public grid. The round finds
where the bins of the final dictionary begin, and which attributes tell most about the class:

1. The joint counts are summed up over the classes, and the quantiles of every numeric attribute are found
   (`quantiles.py`). What is opened are their cells of the grid.
2. A new bin begins at every quantile's cell. Two quantiles in one cell make one cut, and a quantile in the first cell,
   before which there is nothing, makes its cut behind that cell: many patients are in it.
3. The counts of a bin's cells are added up, and with noise a sum below zero becomes zero. The attributes, the nominal
   ones too, are ranked by their information on the class (`information.py`). What is opened are their ranks.

Only attributes with one value of finitely many in a cell are ranked. One with several values in a cell has as many
features as values, whose information does not add up, and a Gaussian one is not on a grid.

With noise everything is a function of N~, so that the noise keeps its promise whatever is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.kind import Positive
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes import information, quantiles
from mixbayes.protocol.bayes.cut_widths import widths_for
from mixbayes.protocol.bayes.noise import blurred, clear_positive, shared_positive
from mixbayes.protocol.bayes.quantiles import Positions
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.pool import connect_pair


@dataclass(frozen=True)
class Cuts:
    """What the round opens, attribute by attribute of the preliminary dictionary."""

    bins: int
    """As many were wanted of every numeric attribute."""
    positions: tuple[tuple[int, ...] | None, ...]
    """Of a numeric attribute the cells of its quantiles 1/bins, 2/bins and so on; None of others."""
    ranks: tuple[int | None, ...]
    """1 for the attribute that tells most of the class; None where an attribute is not ranked."""


def cuts_on_shares(me: ComputingParty, layout: Layout, vector: Words, bins: int) -> Cuts:
    """One computing party's part, from its share of the joint counts, or of N~. Both come to the same result."""
    widths = widths_for(layout, bins)
    found = quantiles.shared_quantiles(me, _histograms(layout, vector), bins, widths.quantile)
    tables = _tables(layout, vector, found)
    if layout.terms.coins:
        tables = _clamped(tables, shared_positive(me)(widths.count + 1))
    return _cuts(layout, bins, found, information.shared_ranks(me, tables, widths.count, widths.information))


def cuts_in_clear(layout: Layout, vector: Words, bins: int) -> Cuts:
    """The same from the joint counts themselves, or from N~."""
    widths = widths_for(layout, bins)
    found = quantiles.quantiles(_histograms(layout, vector), bins)
    tables = _tables(layout, vector, found)
    if layout.terms.coins:
        tables = _clamped(tables, clear_positive(widths.count + 1))
    return _cuts(layout, bins, found, information.ranks(tables, widths.information))


def run_cuts(
    layout: Layout,
    bins: int,
    tables: Sequence[Words],
    seeds: tuple[bytes, bytes, bytes],
    coins: tuple[bytes, bytes] | None = None,
) -> tuple[Cuts, Cuts]:
    """Hospitals with these count vectors, and the two computing parties A and B, all in memory.

    Seeds: of the hospitals, of A and of B; and where noise is agreed, of A's and of B's coins.
    """
    hospitals = Randomness(seeds[0])
    # Each hospital splits its counts into two shares and sends one to each computing party.
    shares = [split(vector, hospitals.bytes(32)) for vector in tables]
    # Sums of shares are shares of the sums.
    of_a = sum((share.for_a() for share in shares), np.zeros(layout.size, np.uint64))
    of_b = sum((share.for_b() for share in shares), np.zeros(layout.size, np.uint64))
    to_b, to_a = memory.channels("party A", "party B")
    # Random transfers are made on a channel of their own.
    ahead_b, ahead_a = memory.channels("party A", "party B")

    def party(role: int, other: Channel, ahead: Channel, share: Words) -> Cuts:
        random = Randomness(seeds[1 + role])
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        if coins:
            # The joint counts get the noise of coins that each knows one half of.
            share = blurred(me, layout, share, Draw(coins[role]))
        return cuts_on_shares(me, layout, share, bins)

    found_a, found_b = memory.together(lambda: party(A, to_b, ahead_b, of_a), lambda: party(B, to_a, ahead_a, of_b))
    return found_a, found_b


def begins(positions: Sequence[int], cells: int) -> list[int]:
    """The cells with which a new bin begins, from those of the quantiles on a grid of so many cells."""
    return sorted({max(1, position) for position in positions} - {cells})


def _on_grid(attribute: Attribute) -> bool:
    return attribute.exact and attribute.numeric


def _histograms(layout: Layout, vector: Words) -> list[Words]:
    """Of every attribute on a grid the cells, over all classes and without the missing ones."""
    found = (block[:-1].sum(axis=1, dtype=np.uint64) for a, block in layout.blocks(vector) if _on_grid(a))
    return list(found)


def _tables(layout: Layout, vector: Words, positions: Sequence[Positions]) -> list[Words]:
    """Of every attribute that is ranked the counts (V, K), those of a grid added up bin by bin."""
    of_grids = iter(positions)
    return [
        _binned(block[:-1], next(of_grids)) if _on_grid(attribute) else block[:-1]
        for attribute, block in layout.blocks(vector)
        if attribute.exact
    ]


def _binned(cells: Words, positions: Positions) -> Words:
    return np.add.reduceat(cells, [0, *begins(positions.tolist(), len(cells))], axis=0, dtype=np.uint64)


def _clamped(tables: Sequence[Words], no_less_than_zero: Positive) -> list[Words]:
    sizes = np.cumsum([len(table) for table in tables])
    return np.split(no_less_than_zero(np.concatenate(tables)), sizes[:-1])


def _cuts(layout: Layout, bins: int, positions: Sequence[Positions], ranks: Sequence[int]) -> Cuts:
    of_grids, of_ranked, attributes = iter(positions), iter(ranks), layout.dictionary.attributes
    return Cuts(
        bins,
        tuple(tuple(next(of_grids).tolist()) if _on_grid(attribute) else None for attribute in attributes),
        tuple(next(of_ranked) if attribute.exact else None for attribute in attributes),
    )
