"""A method that says of itself that it promises a row an ε and a δ, for tests of what follows from that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods import registry
from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, RandomState, Released, Work
from mixbayes.local_methods.guarantee import Guarantee

NAME = "private-stand-in"


class PrivateStandIn(LocalMethod):
    """Draws as many rows as there are, by chance. It is not private: it only says so."""

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **KEEPING_CONSTRAINTS,
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self, *, epsilon: float = 1.0, delta: float = 1e-6, missing: str = "keep", random_state: RandomState = None
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.missing = missing
        self.random_state = random_state

    def row_privacy(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    def _release(self, work: Work) -> Released:
        rows: np.ndarray[Any, Any] = work.random.integers(0, work.table.rows, work.table.rows)
        return Released(work.table.take(rows), work.labels.take(rows) if work.labels else None)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        return Guarantee("drawn anew", None, True)


@contextmanager
def private_stand_in() -> Iterator[str]:
    """Its name, by which the registry knows it meanwhile."""
    known = registry.method_class
    with (
        patch.object(registry, "method_class", lambda name: PrivateStandIn if name == NAME else known(name)),
        patch.object(registry, "METHODS", {**registry.METHODS, NAME: ("", "")}),
    ):
        yield NAME
