"""What two mixers write down of the verdicts on contributions: each is opened at most three times, and then kept.

A verdict tells one bit: whether the contribution holds as both mixers' shares have it. A mixer that shifts its own
share of a count by t learns from it whether the count is at least t, and one that could have it opened again and again
would find the count by bisection. Therefore

- a mixer writes every opening down before it says anything that the verdict could be told from; hanging up gives no
  opening back;
- a verdict is kept once it was opened. If both mixers keep the same, it is not computed again;
- if one of them has none, because it stopped between opening and writing, both compute it again, as long as openings
  are left at both. It must be the one that the other keeps;
- without openings left and without a verdict at both, the contribution does not count.

The mixers send each other what they have written down before they check contributions, and so come to the same list of
what is to be checked. A mixer can lie about its own book. The other one counts by itself, so that the liar gets no more
than `MOST_OPENINGS` bits of a contribution.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange

MOST_OPENINGS = 3
"""How often the verdict on a contribution may be opened: what fails is opened twice, so one opening may break off."""
_STEP = "verdicts so far"
_VERDICTS = (None, False, True)


@dataclass(frozen=True)
class KeptVerdict:
    """What one mixer has written down about one contribution."""

    openings: int = 0
    holds: bool | None = None
    """The verdict; None as long as this mixer has none."""


@dataclass(frozen=True)
class KeptByBoth:
    """What both mixers have written down about one contribution."""

    mine: KeptVerdict
    theirs: KeptVerdict

    @property
    def settled(self) -> bool | None:
        """The verdict that both keep."""
        return self.mine.holds if self.mine.holds == self.theirs.holds else None

    @property
    def expected(self) -> bool | None:
        """The verdict that one of them keeps, or both."""
        return self.theirs.holds if self.mine.holds is None else self.mine.holds

    @property
    def left(self) -> int:
        """How often the verdict may still be opened, by the book of whoever counts more."""
        return max(0, MOST_OPENINGS - max(self.mine.openings, self.theirs.openings))


class VerdictBook(Protocol):
    """Where a mixer writes down the verdicts on contributions, by hospital. What is written survives a crash."""

    def kept(self, hospitals: Collection[str]) -> dict[str, KeptVerdict]:
        """What is written down about the contributions of these hospitals."""
        ...

    def note(self, hospitals: Collection[str]) -> None:
        """Count one more opening of each. It is written when this returns."""
        ...

    def keep(self, verdicts: Mapping[str, bool]) -> None:
        """Write down verdicts that were opened, on contributions of which none is kept."""
        ...


class VerdictsInMemory:
    """A book that lasts as long as the process."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptVerdict] = {}

    def kept(self, hospitals: Collection[str]) -> dict[str, KeptVerdict]:
        return {name: self._kept.get(name, KeptVerdict()) for name in hospitals}

    def note(self, hospitals: Collection[str]) -> None:
        for name, one in self.kept(hospitals).items():
            self._kept[name] = replace(one, openings=one.openings + 1)

    def keep(self, verdicts: Mapping[str, bool]) -> None:
        for name, one in self.kept(verdicts.keys()).items():
            self._kept[name] = replace(one, holds=verdicts[name])


Comparing = Callable[[], dict[str, KeptByBoth]]


def start_comparing(other: Channel, book: VerdictBook, hospitals: Iterable[str]) -> Comparing:
    """Send the other mixer what this one keeps about these contributions, in the order of their hospitals.

    What is returned waits for what the other one keeps. Both are known to hold the same contributions by then.
    """
    mine = book.kept(sorted(hospitals))
    theirs = other.start_swap(_STEP, bytes(map(_encoded, mine.values())))

    def compared() -> dict[str, KeptByBoth]:
        told = [_decoded(code, other.peer) for code in theirs().tobytes()]
        found = {name: KeptByBoth(mine[name], one) for name, one in zip(mine, told, strict=True)}
        for name, one in found.items():
            if one.settled is None and None not in (one.mine.holds, one.theirs.holds):
                why = f"it keeps another verdict on the contribution of party {name} than this mixer"
                raise OutOfRange(other.peer, _STEP, why)
        return found

    return compared


def _encoded(one: KeptVerdict) -> int:
    return one.openings + (MOST_OPENINGS + 1) * _VERDICTS.index(one.holds)


def _decoded(code: int, peer: str) -> KeptVerdict:
    verdict, openings = divmod(code, MOST_OPENINGS + 1)
    if verdict >= len(_VERDICTS):
        raise OutOfRange(peer, _STEP, "it keeps a verdict that does not exist")
    return KeptVerdict(openings, _VERDICTS[verdict])
