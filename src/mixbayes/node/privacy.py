"""A node's own ledger of noise: what all rounds together gave away of a patient, and what is left.

The ledger lies in the node's state folder and counts every release that was ever charged there, under whatever
agreement. The agreement in force says how much all of them may add up to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mixbayes.agreement.agreement import Privacy
from mixbayes.privacy.loss import Release, delta_of, epsilon_of, keeps


def spent(releases: Sequence[Release], privacy: Privacy) -> float:
    """The ε of all these releases together, at the δ that is agreed for all rounds."""
    return _epsilon(tuple(releases), privacy.total_delta) if releases else 0.0


@dataclass(frozen=True)
class Loss:
    """What releases together gave away of a patient: ε at the agreed δ, and δ at the agreed ε."""

    epsilon: float = 0.0
    delta: float = 0.0


@lru_cache(maxsize=4)
def loss_of(releases: tuple[Release, ...], epsilon: float, delta: float) -> Loss:
    """It takes up to seconds to compute, and stays the same until another release is charged."""
    if not releases:
        return Loss()
    return Loss(_epsilon(releases, delta), delta_of(releases, epsilon))


def too_much(releases: Sequence[Release], new: Release, privacy: Privacy) -> str:
    """Why this release would be too much, or nothing if it is not."""
    if keeps([*releases, new], privacy.total_epsilon, privacy.total_delta):
        return ""
    drawn = "1 release" if len(releases) == 1 else f"{len(releases)} releases"
    return (
        f"the noise of {drawn} has used ε = {spent(releases, privacy):.3g} of the "
        f"{privacy.total_epsilon:g} that are agreed for all rounds (δ = {privacy.total_delta:g}), and "
        f"{left(releases, privacy):.3g} do not pay for another one with {_one(new)}"
    )


def _one(new: Release) -> str:
    return f"a standard deviation of {new.coins.deviation:.4g} on {new.coordinates} numbers that a row changes"


def left(releases: Sequence[Release], privacy: Privacy) -> float:
    """What of the total ε is left. Rounds do not simply add up, so that it may pay for more rounds than it seems."""
    return max(0.0, privacy.total_epsilon - spent(releases, privacy))


@lru_cache(maxsize=64)  # every status of a round says it, and it takes a tenth of a second
def _epsilon(releases: tuple[Release, ...], delta: float) -> float:
    return epsilon_of(releases, delta)
