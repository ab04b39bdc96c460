"""Somebody who knows the method, its settings and its seed runs it again and again until it gives the release.

If what a method adds hardly depends on the table, as with noise, the table that gives the release is found in a few
steps: from each guess the difference between its release and the given one is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.errors import MethodError
from mixbayes.local_methods.tables import Floats, Table

Repeat = Callable[[Table], Table]
"""The method with its settings and its seed."""

STEPS = 30
STARTS = 24
PATIENCE = 3
"""Steps after which it is clear whether they lead anywhere."""

AWAY = 0.1
"""Deviations by which another start is off: a release may have been made from several tables."""

WHOLE = 1e-4
STILL = 1e-10
"""Of the spread of a column: steps that move numbers by less change nothing."""


def by_known_seed(released: Table, protect: Repeat, seen: AttackersView) -> Claims:
    """Claim every row, where it stands."""
    found = undone(released, protect, seen.units[released.numeric])
    cells = seen.rounded()
    cells[:, released.numeric] = np.rint(found / seen.units[released.numeric])
    return Claims(cells, np.arange(seen.rows))


def undone(released: Table, protect: Repeat, units: Floats) -> Floats:
    """The numbers of a table that gives this release: of several, the one whose numbers are multiples of the units."""
    wanted, random = released.numbers(), np.random.default_rng(0)
    spread, found = _spread(wanted), wanted
    for start in range(STARTS):
        away = AWAY * spread * random.standard_normal(wanted.shape) if start else 0.0
        numbers = _undone(released, protect, wanted + away)
        if numbers is None:
            break
        found = numbers
        whole = numbers / units
        if (np.nan_to_num(np.abs(whole - np.rint(whole))) < WHOLE).all():
            break
    return found


def _undone(released: Table, protect: Repeat, numbers: Floats) -> Floats | None:
    """From this guess on; None if it comes to no end."""
    wanted = released.numbers()
    still = STILL * _spread(wanted)
    first = np.inf
    for step in range(STEPS):
        try:
            given = protect(released.with_numbers(numbers)).numbers()
        except MethodError:
            return None
        if given.shape != wanted.shape:
            return None
        off = given - wanted
        numbers = numbers - off
        far = float(np.nansum(off**2))
        first = far if step == 0 else first
        if step == PATIENCE and not far < first / 4:
            return None
        if (np.nan_to_num(np.abs(off)) <= still).all():
            return numbers
    return None


def _spread(numbers: Floats) -> Floats:
    """Of each column, gaps left out."""
    gaps = np.isnan(numbers)
    present = np.maximum(np.count_nonzero(~gaps, axis=0), 1)
    mean = np.nansum(numbers, axis=0) / present
    return np.sqrt(np.nansum((numbers - mean) ** 2, axis=0) / present)
