"""Cut points and ranks as words, which is how parties keep them and how hospitals get them."""

from __future__ import annotations

import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.cuts import Cuts
from mixbayes.protocol.errors import OutOfRange
from mixbayes.transport.errors import RefusedByPolicy

STEP = "cut points"


def words_of(cuts: Cuts) -> Words:
    """The positions of all numeric attributes, then all ranks."""
    positions = [cell for some in cuts.positions if some is not None for cell in some]
    return np.array([*positions, *(rank for rank in cuts.ranks if rank is not None)], np.uint64)


def size_of(federation: Federation) -> int:
    """How many words they are under this preliminary agreement."""
    bins, attributes = _bins(federation), federation.dictionary.attributes
    return sum((bins - 1) * (a.exact and a.numeric) + a.exact for a in attributes)


def cuts_from(words: Words, federation: Federation, peer: str) -> Cuts:
    """The same again, from a node that may have made it up: every cell lies on its grid, and no two ranks are equal."""
    numbers, bins, attributes = iter(words.tolist()), _bins(federation), federation.dictionary.attributes
    positions = tuple(
        tuple(next(numbers) for _ in range(bins - 1)) if attribute.exact and attribute.numeric else None
        for attribute in attributes
    )
    ranks = tuple(next(numbers) if attribute.exact else None for attribute in attributes)
    for attribute, some in zip(attributes, positions, strict=True):
        if some is not None and max(some) >= attribute.rows - 1:
            raise OutOfRange(peer, STEP, f"a cut point of {attribute.name!r} lies beyond its grid")
    given = sorted(rank for rank in ranks if rank is not None)
    if given != list(range(1, len(given) + 1)):
        raise OutOfRange(peer, STEP, "the ranks are no ranking")
    return Cuts(bins, positions, ranks)


def _bins(federation: Federation) -> int:
    if not federation.cuts:
        raise RefusedByPolicy("No cut points are found under this agreement, which is not preliminary.")
    return federation.cuts.bins
