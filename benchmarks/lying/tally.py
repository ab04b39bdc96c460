"""Lies counted by job, step and liar, and printed as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from lying.fate import Fate
from lying.liar import Said

HEAD = ("who lies", "messages", "lies", "caught", "harmless", "silent", "most wrong", "another blamed")


@dataclass
class Count:
    """The lies of one kind of role in one step."""

    step: str
    liar: str
    messages: int = 0
    lies: int = 0
    caught: int = 0
    harmless: int = 0
    silent: int = 0
    most_wrong: int = 0
    """The most answers that one silent lie made wrong."""
    another_blamed: int = 0
    """Lies for which honest roles named only others than the liar."""
    codes: set[str] = field(default_factory=set)
    """Of the errors by which lies were caught."""

    def add(self, fate: Fate) -> None:
        self.lies += 1
        setattr(self, fate.end, getattr(self, fate.end) + 1)
        self.most_wrong = max(self.most_wrong, fate.wrong)
        self.another_blamed += fate.blame == "another"
        self.codes |= set(fate.codes)

    def cells(self) -> tuple[str | int, ...]:
        counts = self.messages, self.lies, self.caught, self.harmless, self.silent
        return (self.liar, *counts, self.most_wrong, self.another_blamed)


class Tally:
    """Of one job."""

    def __init__(self, job: str) -> None:
        self.job = job
        self._counts: dict[tuple[str, str], Count] = {}

    def message(self, said: Said, liar: str) -> None:
        """A message about which lies are told from now on."""
        self._of(said, liar).messages += 1

    def add(self, said: Said, liar: str, fate: Fate) -> None:
        self._of(said, liar).add(fate)

    @property
    def counts(self) -> list[Count]:
        """By liar, and then by step in the order of the job."""
        return sorted(self._counts.values(), key=lambda count: count.liar)

    def totals(self) -> Iterator[Count]:
        """For each kind of liar, everything together."""
        for liar in dict.fromkeys(count.liar for count in self.counts):
            total = Count("**all steps**", liar)
            for count in self.counts:
                if count.liar == liar:
                    _add(total, count)
            yield total

    def lines(self) -> Iterator[str]:
        yield f"### {self.job}"
        yield ""
        yield from table("step", [(count.step, *count.cells()) for count in [*self.counts, *self.totals()]])
        yield ""

    def document(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "steps": [asdict(count) | {"codes": sorted(count.codes)} for count in self.counts],
        }

    def _of(self, said: Said, liar: str) -> Count:
        kind = liar.split()[0]
        return self._counts.setdefault((said.step, kind), Count(said.step, kind))


def summary(tallies: Sequence[Tally]) -> Iterator[str]:
    """A table of all jobs."""
    yield "### All jobs"
    yield ""
    yield from table("job", [(tally.job, *total.cells()) for tally in tallies for total in tally.totals()])


def table(what: str, rows: Iterable[Sequence[str | int]]) -> Iterator[str]:
    yield f"| {what} | " + " | ".join(HEAD) + " |"
    yield "|---|---|" + "---:|" * (len(HEAD) - 1)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"


def _add(total: Count, count: Count) -> None:
    for name in ("messages", "lies", "caught", "harmless", "silent", "another_blamed"):
        setattr(total, name, getattr(total, name) + getattr(count, name))
    total.most_wrong = max(total.most_wrong, count.most_wrong)
