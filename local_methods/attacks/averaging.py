"""Several releases of one table: their mean at each place is nearer to the original than each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats


def by_averaging(releases: Sequence[AttackersView]) -> Claims:
    """Claim the mean of every number where it stands, and the commonest of every name, of releases of as many rows."""
    whole = np.array([seen.whole for seen in releases if seen.rows == releases[0].rows])
    nominal = releases[0].nominal
    means = np.rint(whole.mean(axis=0))
    for column in np.flatnonzero(nominal):
        means[:, column] = _commonest(whole[:, :, column])
    return Claims(means, np.arange(releases[0].rows))


def _commonest(values: Floats) -> Floats:
    """Of each place, values being releases × places."""
    listed = np.unique(values[~np.isnan(values)])
    votes = np.array([(values == value).sum(axis=0) for value in listed])
    return listed[votes.argmax(axis=0)]
