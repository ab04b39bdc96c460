"""A node's own ledger of noise: what all rounds together gave away of a patient, and what is left.

The ledger lies in the node's state folder and counts every release that was ever charged there, under whatever
agreement. The agreement in force says how much all of them may add up to. Noise is accounted exactly (`loss.py`). What
a hospital released of its own table with a promise of its own is added to that: ε to ε, and δ to δ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from mixbayes.agreement.agreement import Privacy
from mixbayes.privacy.loss import TOLERANCE, Release, delta_of, epsilon_of, keeps
from mixbayes.tables.private_release import PrivateRelease


@dataclass(frozen=True)
class GivenAway:
    """All that a ledger has charged."""

    noise: tuple[Release, ...] = ()
    own: tuple[PrivateRelease, ...] = ()
    """What a hospital released of its own table."""

    @property
    def own_epsilon(self) -> float:
        return math.fsum(one.epsilon for one in self.own)

    @property
    def own_delta(self) -> float:
        return math.fsum(one.delta for one in self.own)

    def __bool__(self) -> bool:
        return bool(self.noise or self.own)

    def and_also(self, new: Release | PrivateRelease) -> GivenAway:
        if isinstance(new, PrivateRelease):
            return replace(self, own=(*self.own, new))
        return replace(self, noise=(*self.noise, new))


def spent(given: GivenAway, privacy: Privacy) -> float:
    """The ε of all this together, at the δ that is agreed for all rounds."""
    return _spent(given, privacy.total_delta)


@dataclass(frozen=True)
class Loss:
    """What releases together gave away of a patient: ε at the agreed δ, and δ at the agreed ε."""

    epsilon: float = 0.0
    delta: float = 0.0


@lru_cache(maxsize=4)
def loss_of(given: GivenAway, epsilon: float, delta: float) -> Loss:
    """It takes up to seconds to compute, and stays the same until another release is charged."""
    if not given:
        return Loss()
    return Loss(_spent(given, delta), _delta(given, epsilon))


def too_much(given: GivenAway, new: Release | PrivateRelease, privacy: Privacy) -> str:
    """Why this release would be too much, or nothing if it is not."""
    if _keeps(given.and_also(new), privacy):
        return ""
    return f"{_used(given, privacy)}, and {left(given, privacy):.3g} do not pay for another one with {_one(new)}"


def _used(given: GivenAway, privacy: Privacy) -> str:
    many = len(given.noise) + len(given.own)
    drawn = "1 release" if many == 1 else f"{many} releases"
    whose = "the noise of " if not given.own else ""
    return (
        f"{whose}{drawn} {'have' if many != 1 and not whose else 'has'} used ε = {spent(given, privacy):.3g} of the "
        f"{privacy.total_epsilon:g} that are agreed for all rounds (δ = {privacy.total_delta:g})"
    )


def _one(new: Release | PrivateRelease) -> str:
    if isinstance(new, PrivateRelease):
        return f"ε = {new.epsilon:g} and δ = {new.delta:g} of its own"
    return f"a standard deviation of {new.coins.deviation:.4g} on {new.coordinates} numbers that a row changes"


def left(given: GivenAway, privacy: Privacy) -> float:
    """What of the total ε is left. Rounds do not simply add up, so that it may pay for more rounds than it seems."""
    return max(0.0, privacy.total_epsilon - spent(given, privacy))


def _keeps(given: GivenAway, privacy: Privacy) -> bool:
    """Whether what is left of the totals, once the own releases are paid, pays for the noise."""
    epsilon, delta = privacy.total_epsilon - given.own_epsilon, privacy.total_delta - given.own_delta
    if not given.noise:
        return epsilon >= -TOLERANCE * privacy.total_epsilon and delta >= -TOLERANCE * privacy.total_delta
    return epsilon > 0 and delta > 0 and keeps(given.noise, epsilon, delta)


def _spent(given: GivenAway, delta: float) -> float:
    rest = delta - given.own_delta
    if rest < -TOLERANCE * delta or (given.noise and rest <= 0):
        return math.inf
    return given.own_epsilon + (_epsilon(given.noise, rest) if given.noise else 0.0)


def _delta(given: GivenAway, epsilon: float) -> float:
    rest = epsilon - given.own_epsilon
    if rest < -TOLERANCE * epsilon:
        return 1.0
    return min(1.0, given.own_delta + (delta_of(given.noise, max(rest, 0.0)) if given.noise else 0.0))


@lru_cache(maxsize=64)  # every status of a round says it, and it takes a tenth of a second
def _epsilon(releases: Sequence[Release], delta: float) -> float:
    return epsilon_of(releases, delta)
