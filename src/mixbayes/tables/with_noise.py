"""Which protections of a table go together with noise on its counts, and what they then promise to whom.

Noise hides one row of what is counted. It hides a row of the table too where a row of the table changes one row of the
release (`LocalMethod.rows_changed`). Where it changes many, the noise promises that hospital's patients nothing. If the
method itself promises every row an ε and a δ, its patients have those instead, whatever is computed from the release
in whatever rounds. The agreement says how much anybody may lose at most in a round, so that the method's must not be
above.
"""

from __future__ import annotations

from typing import NoReturn

from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.method_settings import configured_method
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.tables.protecting import Protection


def refuse_unfit_for_noise(protection: Protection, epsilon: float, delta: float) -> None:
    """Refuse a protection under which this hospital's patients would not have what is agreed for a round."""
    method = configured_method(protection.method, protection.settings)
    if method.rows_changed() == 1:
        return
    if promised := method.row_privacy():
        _refuse_above(protection, promised, epsilon, delta)
        return
    _refuse_many(protection)


def for_whom(release: PrivateRelease, *, noise: bool, aside: bool = False) -> str:
    """Which promise holds for the patients of a hospital that contributes such a release."""
    said = (
        f"epsilon {release.epsilon:g} and delta {release.delta:g} for a row of this table, added or removed, once for "
        "all rounds that count this release"
    )
    if noise:
        said += "; the noise of the rounds promises these patients nothing, and those of other hospitals what is agreed"
    elif aside:
        said += "; not for the rows kept aside, of which the joint test tells exact figures"
    return said


def _refuse_above(protection: Protection, promised: tuple[float, float], epsilon: float, delta: float) -> None:
    if promised[0] > epsilon or promised[1] > delta:
        raise Unsupported(
            f"{protection} promises a row epsilon {promised[0]:g} and delta {promised[1]:g}, and the agreement epsilon "
            f"{epsilon:g} and delta {delta:g}. The noise of the federation would not add to it: one row changes many "
            "rows of such a release. Set both at most as large as agreed."
        )


def _refuse_many(protection: Protection) -> NoReturn:
    from mixbayes.local_methods.base import LocalMethod
    from mixbayes.local_methods.registry import METHODS, method_class

    kinds = {name: method_class(name) for name in METHODS}
    by_row = [name for name, kind in kinds.items() if kind.rows_changed is not LocalMethod.rows_changed]
    private = [name for name, kind in kinds.items() if kind.row_privacy is not LocalMethod.row_privacy]
    instead = f"Possible with noise: {', '.join(by_row)}"
    if private:
        instead += f"; {', '.join(private)}, with an epsilon and a delta not above the agreed ones"
    raise Unsupported(
        f"{protection}: one row of the table changes many rows that are counted, and the agreed noise would hide only "
        f"one of those. {instead}. Or leave out --protect, or agree without noise."
    )
