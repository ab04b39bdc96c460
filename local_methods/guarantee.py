"""What a method promises of its release, what that means for people, and whether the release was found to keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Guarantee:
    """A promise about the output of a method, checked on the released table itself, and what it promises people."""

    claim: str
    """What is promised of the output, in words."""
    measured: float | None
    """The number that was found, such as the smallest group; none where the promise has no number."""
    holds: bool
    """Whether the output was found to keep it."""
    people: str | None = None
    """What that promises the people in the table, such as k-anonymity of some columns; None is nothing."""
    not_promised: str = ""
    """What somebody might take it for, and what leaves in clear. Empty only if nothing does."""

    def also_not_promised(self, sentence: str) -> Guarantee:
        """The same guarantee with one thing more that it does not promise; nothing more if the sentence is empty."""
        return replace(self, not_promised="; ".join(filter(None, [self.not_promised, sentence])))


def left_in_clear(names: Sequence[str]) -> str:
    """What is not promised where these columns are released as they are."""
    return f"that the cells of {', '.join(names)} are hidden: they are released as they are"
