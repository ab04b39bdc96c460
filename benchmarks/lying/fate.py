"""The fate of a lie: caught, harmless or silently wrong, and who is blamed for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mixbayes.protocol.errors import PeerError, PeerGone, PeerSilent
from mixbayes.transport.errors import LyingHospital, RoundFailed

_AWAY = PeerGone, PeerSilent
_HOSPITAL = re.compile(r"party [a-z0-9-]+")
_REPORTED = re.compile(r"\(so says (.+)\)")
End = Literal["caught", "harmless", "silent"]
Blame = Literal["the liar", "the liar or another", "another", "nobody"]


@dataclass(frozen=True)
class Played:
    """What came of one job."""

    errors: Mapping[str, BaseException] = field(default_factory=dict)
    """By the role that raised it."""
    answers: Sequence[int] = ()
    """Labels, or totals; of a training, the labels that its model gives."""
    refused: Sequence[str] = ()
    """The hospitals whose contributions were refused by a mixer."""


@dataclass(frozen=True)
class Fate:
    """Of one lie."""

    end: End
    wrong: int = 0
    """How many answers are wrong, of a lie that nobody noticed."""
    blame: Blame = "nobody"
    codes: tuple[str, ...] = ()
    """Of the errors that honest roles raised."""


def fate_of(played: Played, liar: str, expected: Sequence[int]) -> Fate:
    """The fate of the lie in a job with these errors and answers."""
    if played.errors or played.refused:
        return Fate("caught", blame=_blame(played, liar), codes=_codes(played, liar))
    wrong = sum(one != right for one, right in zip(played.answers, expected, strict=True))
    return Fate("silent" if wrong else "harmless", wrong)


def _blame(played: Played, liar: str) -> Blame:
    """Whom honest roles name. That a peer fell silent or hung up accuses nobody: it may have had its reasons.

    What the liar says of others reaches them with the words that the liar says so.
    """
    honest = [error for role, error in played.errors.items() if role != liar]
    named = {_named(error) for error in honest if isinstance(error, PeerError) and not isinstance(error, _AWAY)}
    named |= {name for error in honest if isinstance(error, RoundFailed) for name in _HOSPITAL.findall(str(error))}
    named |= {f"party {hospital}" for hospital in played.refused}
    if named == {liar}:
        return "the liar"
    if any(liar in peer for peer in named):
        return "the liar or another"
    return "another" if named else "nobody"


def _named(error: PeerError) -> str:
    said_by = _REPORTED.search(error.why)
    return f"{error.peer}, {said_by[1]}" if said_by else error.peer


def _codes(played: Played, liar: str) -> tuple[str, ...]:
    codes = {getattr(error, "code", type(error).__name__) for role, error in played.errors.items() if role != liar}
    return tuple(sorted(codes | {LyingHospital.code for _ in played.refused}))
