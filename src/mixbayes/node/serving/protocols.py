"""The numbers of the protocol: which of them this program speaks, and which one two nodes have in common.

A number stands for all messages and their order. A field that is added to a message, and that may be left out, needs
no new number. Two nodes use the highest number that both speak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SPOKEN: Mapping[int, str] = {
    4: "coins of the noise are checked, verdicts kept, and answers on ciphertexts masked whatever was encrypted",
}
"""What each number brought that nodes without it cannot do. A number leaves when nobody speaks it any more."""
PROTOCOL, OLDEST = max(SPOKEN), min(SPOKEN)
_MOST_DIGITS = 4


@dataclass(frozen=True)
class Numbers:
    """The numbers that a node speaks, from the oldest to the newest."""

    oldest: int
    newest: int

    def in_common(self, other: Numbers) -> int | None:
        """The highest number that both speak."""
        newest = min(self.newest, other.newest)
        return newest if newest >= max(self.oldest, other.oldest) else None

    def __str__(self) -> str:
        return f"protocol {self.newest}" if self.oldest == self.newest else f"protocols {self.oldest} to {self.newest}"


OURS = Numbers(OLDEST, PROTOCOL)


def numbers_from(newest: str, oldest: str) -> Numbers | None:
    """The numbers in a header; a node that says no oldest one speaks one number. None if that is no number."""
    found = [_number(text) for text in (oldest or newest, newest)]
    return Numbers(*found) if 0 < found[0] <= found[1] else None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0
