"""The set of contributions that a round counts: both computing parties hold the same one, or nothing is computed.

A contribution is named by its hospital and by a random id, which its hospital drew once and sent to both. Parties that
added up different sets, or two sendings of one hospital, would get noise that looks like a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets

_STEP = "set of contributions"


def set_digest(number: int, chosen: Mapping[str, bytes]) -> str:
    """A digest of a round's number, of the hospitals in a set, and of their contributions' ids."""
    return _digest(number, chosen.items()).hex()


def agree_on_set(other: Channel, number: int, members: Iterable[tuple[str, bytes]]) -> None:
    """Compare the sets of both parties, hospitals with the ids of their contributions, by a digest."""
    start_agreeing(other, number, members)()


def start_agreeing(other: Channel, number: int, members: Iterable[tuple[str, bytes]]) -> Callable[[], None]:
    """Send the own digest. What is returned waits for the other one and compares them."""
    mine = _digest(number, members)
    theirs = other.start_swap(_STEP, mine)

    def compare() -> None:
        if theirs().tobytes() != mine:
            raise DifferentSets(other.peer, _STEP, "the two computing parties hold different contributions")

    return compare


def _digest(number: int, members: Iterable[tuple[str, bytes]]) -> bytes:
    digest = hashlib.sha256(number.to_bytes(8, "little"))
    for name, id in sorted(members):
        digest.update(hashlib.sha256(name.encode()).digest() + id)
    return digest.digest()
