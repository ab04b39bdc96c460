"""How long a node waits before it tries again: longer and longer if it is refused, else as long as usual."""

from __future__ import annotations

import random
from collections.abc import Callable

from mixbayes.transport.errors import Disagreement, NotAdmitted

HOPELESS = Disagreement, NotAdmitted
"""The other end has looked at this node and refuses it: waiting does not mend that, but an operator may."""
LONGEST = 300.0
_FIRST, _TIMES, _SPREAD = 5.0, 2.0, 0.2


class Pauses:
    """The seconds after each attempt. Those after refusals double, so that a node that was removed troubles nobody."""

    def __init__(self, usual: float, uniform: Callable[[float, float], float] = random.uniform) -> None:
        self._usual = usual
        self._uniform = uniform
        self._refused = 0

    @property
    def refused(self) -> bool:
        """Whether the last attempt was refused."""
        return self._refused > 0

    def after(self, error: Exception | None) -> float:
        """The pause after an attempt that ended with this error, or without one."""
        if not isinstance(error, HOPELESS):
            self._refused = 0
            return self._usual
        longest = min(LONGEST, _FIRST * _TIMES**self._refused)
        self._refused += 1
        return max(self._usual, longest * self._uniform(1 - _SPREAD, 1 + _SPREAD))
