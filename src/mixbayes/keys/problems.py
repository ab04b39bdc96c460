"""What is wrong with keys and what to do about it: two sentences, or two columns of a list of checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixbayes.protocol.errors import MixbayesError


class BadKeys(MixbayesError):
    """The key folder lacks something, or what it holds does not fit together."""

    code = "E120"
    exit_code = 3


class KeyProblem(BadKeys):
    """The problem names the file; the remedy says what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}. {self.remedy}."


@contextmanager
def in_file(file: Path, remedy: str) -> Iterator[None]:
    """What cannot be used in this file is a problem of the file."""
    try:
        yield
    except ValueError as error:
        raise KeyProblem(f"{file}: {error}", remedy) from None
