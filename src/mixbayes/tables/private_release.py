"""A release that promises every row of a table something by itself, whatever is computed from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PrivateRelease:
    """What a hospital contributes a function of: one draw, with the (ε, δ) of a row more or less in its table."""

    id: bytes
    """Of the draw: every one has its own."""
    epsilon: float
    delta: float
