"""Somebody who knows the method, its settings and its seed runs it again and again until it gives the release.

If what a method adds hardly follows from the table, as with noise, the table that gives the release is found in a few
steps: from each guess the difference between its release and the given one is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import Seen
from mixbayes.local_methods.errors import MethodError
from mixbayes.local_methods.tables import Floats, Table

Protect = Callable[[Table], Table]
"""The method with its settings and its seed."""

STEPS = 60
STILL = 1e-12
"""Of the spread of a column: steps that move numbers by less change nothing."""


def by_known_seed(released: Table, protect: Protect, seen: Seen) -> Claims:
    """Claim every row, where it stands."""
    found = undone(released, protect)
    cells = seen.rounded()
    cells[:, released.numeric] = np.rint(found / seen.units[released.numeric])
    return Claims(cells, np.arange(seen.rows))


def undone(released: Table, protect: Protect) -> Floats:
    """The numbers of a table that gives this release, or the guess after the last step."""
    wanted = released.numbers()
    numbers, spread = wanted.copy(), np.nanstd(wanted, axis=0)
    for _ in range(STEPS):
        try:
            given = protect(released.with_numbers(numbers))
        except MethodError:
            break
        if given.rows != released.rows or given.numbers().shape != wanted.shape:
            break
        off = given.numbers() - wanted
        if not np.isfinite(off[~np.isnan(wanted)]).all():
            break
        numbers = numbers - off
        if (np.nan_to_num(np.abs(off)) <= STILL * spread).all():
            break
    return numbers
