"""Two releases, one of a table with a patient more: where totals are kept exactly, their difference is the patient."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats, Indices


def by_difference(seen: AttackersView, without: AttackersView) -> Claims:
    """Claim the patient who is in the first table alone."""
    claim = np.full((1, seen.cells.shape[1]), np.nan)
    for column in range(claim.shape[1]):
        more, fewer = seen.whole[:, column], without.whole[:, column]
        if seen.nominal[column]:
            claim[0, column] = _value_that_grew(more, fewer)
        else:
            claim[0, column] = np.rint(np.nansum(more) - np.nansum(fewer))
    return Claims(claim)


def _value_that_grew(more: Floats, fewer: Floats) -> float:
    """The only value that is more frequent, by one; not-a-number if it is not so simple."""
    values: Floats = np.union1d(more[~np.isnan(more)], fewer[~np.isnan(fewer)])
    grown = np.array([(more == value).sum() - (fewer == value).sum() for value in values])
    at: Indices = np.flatnonzero(grown)
    return float(values[at[0]]) if len(at) == 1 and grown[at[0]] == 1 else np.nan
