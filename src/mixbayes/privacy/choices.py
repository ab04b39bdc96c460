"""Steps of pure ε-differential privacy beside noise on counts: their losses, for the same convolution as the coins'.

**Any step.** Of all pairs of laws that are ε apart, two values with the losses ε and −ε are the worst: every other pair
is post-processing of it (Kairouz, Oh and Viswanath 2015).

**The exponential mechanism** draws a candidate with a probability that grows with exp(ε · score/2), where a row changes
no score by more than one. It promises more than ε: the losses of all candidates lie in an interval of length ε,
[t − ε, t], since the normalisation is common to them (Durfee and Rogers 2019). Two values with the losses t and t − ε
are then the worst, for a t that we do not know. The maximum over t of their δ at ε' is, with a = exp(−ε/2),

    δ(ε') = (1 − a · exp(ε'/2))² / (1 − a²)    for |ε'| ≤ ε.

This is the δ of one pair of laws: under P the loss has the density exp(loss/2) / (4 · sinh(ε/2)) on [−ε, ε]. That pair
is worse than the mechanism whatever t is, also where later steps depend on what was drawn (Zhu, Dong and Wang 2022).
Its loss is put on points by connecting the dots of δ, which gives weights in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mixbayes.privacy.loss import Floats, Losses

POINTS = 1 << 11
"""Into how many intervals the losses of a choice are divided."""
SAFE = 64 * float(np.finfo(np.float64).eps)
"""More than rounding does to a loss or to a weight, in parts of it."""


@dataclass(frozen=True)
class Pure:
    """So many steps that are ε-differentially private, whatever they do."""

    epsilon: float
    times: int = 1

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf and self.times >= 1):
            raise ValueError("a step has an ε above zero, and is taken at least once")

    @property
    def part(self) -> Hashable:
        return self.once()

    def once(self) -> Self:
        return replace(self, times=1)

    def losses(self) -> Losses:
        less = 1 / (1 + math.exp(self.epsilon))
        return _safe(np.array([-self.epsilon, self.epsilon]), np.array([less, 1 - less]))


class Choice(Pure):
    """So many draws of the exponential mechanism, each from candidates of which a row changes no score beyond one."""

    def losses(self) -> Losses:
        losses = np.linspace(-self.epsilon, self.epsilon, POINTS + 1)
        heights = math.tanh(self.epsilon / (2 * POINTS)) / (1 - math.exp(-self.epsilon))
        masses = 2 * heights * np.exp((losses - self.epsilon) / 2)
        masses[[0, -1]] /= 2
        return _safe(losses, masses)


def _safe(losses: Floats, masses: Floats) -> Losses:
    """Rounded up."""
    return Losses(losses + SAFE * np.abs(losses), masses * (1 + SAFE), 0.0)
