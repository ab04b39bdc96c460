"""The result of one check: fine, a warning, or a problem, and its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from mixbayes.protocol.errors import MixbayesError, PeerError


class Verdict(StrEnum):
    OK = "OK"
    WARNING = "WARNING"
    PROBLEM = "PROBLEM"


@dataclass(frozen=True)
class Finding:
    """One line of the report. `code` names a section of docs/errors.md, `exit_code` is what a problem ends with."""

    what: str
    verdict: Verdict
    said: str
    remedy: str = ""
    code: str = ""
    exit_code: int = 0


def fine(what: str, said: str) -> Finding:
    return Finding(what, Verdict.OK, said)


def warning(what: str, said: str, remedy: str = "") -> Finding:
    return Finding(what, Verdict.WARNING, said, remedy)


def problem(what: str, said: str, remedy: str, kind: type[MixbayesError]) -> Finding:
    """A problem with which a node would end, as an error of this kind."""
    return Finding(what, Verdict.PROBLEM, said, remedy, kind.code, kind.exit_code)


def failed(what: str, error: MixbayesError) -> Finding:
    """The problem that is this error of a node."""
    if isinstance(error, PeerError):
        return problem(what, f"{error.peer}, at {error.step}: {error.why}", error.remedy, type(error))
    return problem(what, str(error).removesuffix("."), "", type(error))


class Trouble(Exception):
    """Carries a finding out of the check that ends with it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.what)
        self.finding = finding


@contextmanager
def looking_at(what: str) -> Iterator[None]:
    """An error of this program's own kinds in the block becomes the finding."""
    try:
        yield
    except MixbayesError as error:
        raise Trouble(failed(what, error)) from None


def worst(findings: Iterable[Finding]) -> int:
    """The exit code: 0 without a problem, else the highest of all problems."""
    return max((finding.exit_code for finding in findings), default=0)
