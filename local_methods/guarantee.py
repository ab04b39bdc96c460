"""What a method promises of its release, and whether the release was found to keep it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """A promise, checked on the released table itself after it was made."""

    claim: str
    """The promise in words."""
    privacy: bool
    """Whether keeping it protects the people in the table; a rank, say, does not."""
    measured: float | None
    """The number that was found, such as the smallest group; none where the promise has no number."""
    holds: bool
    not_promised: str = ""
    """What somebody might take it for, and the method gives away by its nature; empty if nothing is to be said."""
