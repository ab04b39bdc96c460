"""Two releases, one of a table with one patient more: where totals are kept exactly, their difference is the patient."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import Seen
from mixbayes.local_methods.tables import Floats, Indices


def by_difference(seen: Seen, without: Seen) -> Claims:
    """Claim the patient who is in the first table alone."""
    claim = np.full((1, seen.cells.shape[1]), np.nan)
    code = _class_that_grew(seen, without)
    more, fewer = seen.cells[seen.classes == code], without.cells[without.classes == code]
    for column in range(claim.shape[1]):
        if seen.nominal[column]:
            claim[0, column] = _value_that_grew(more[:, column], fewer[:, column])
        else:
            unit = seen.units[column]
            claim[0, column] = np.rint((np.nansum(more[:, column]) - np.nansum(fewer[:, column])) / unit)
    return Claims(claim)


def _class_that_grew(seen: Seen, without: Seen) -> int:
    counts = [np.bincount(each.classes, minlength=int(seen.classes.max()) + 1) for each in (seen, without)]
    return int(np.argmax(counts[0] - counts[1]))


def _value_that_grew(more: Floats, fewer: Floats) -> float:
    """The only value that is more frequent, by one; not-a-number if it is not so simple."""
    values: Floats = np.union1d(more[~np.isnan(more)], fewer[~np.isnan(fewer)])
    grown = np.array([(more == value).sum() - (fewer == value).sum() for value in values])
    at: Indices = np.flatnonzero(grown)
    return float(values[at[0]]) if len(at) == 1 and grown[at[0]] == 1 else np.nan
