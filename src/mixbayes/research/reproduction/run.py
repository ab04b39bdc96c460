"""Running an experiment: part by part, as far as its tables are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from mixbayes.local_methods.base import Progress
from mixbayes.protocol.errors import BadData
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.public_tables import PublicTable

_OF_ANOTHER_TABLE = (BadData, ArithmeticError, LookupError, ValueError)
"""Settings and names of columns are the paper's: where they do not fit, the table is not the one that it used."""


@dataclass(frozen=True)
class Done:
    """A part that was run, or for which tables are missing or of no use."""

    title: str
    rows: Sequence[Row]
    missing: Sequence[PublicTable]
    seconds: float
    unusable: str = ""
    """What is wrong with a table; empty if nothing is."""


def run(experiment: Experiment, lab: Laboratory) -> Iterator[Done]:
    """Every part in its turn, each handed over when it is done."""
    for part in experiment.parts:
        missing = part.missing(lab.folder)
        if missing:
            yield Done(part.title, [], missing, 0.0)
            continue
        begun = perf_counter()
        name = f"{experiment.name}, {part.title}"
        lab.progress(name, 0, 1)
        try:
            rows = list(part.run(replace(lab, progress=_told_of(name, lab.progress))))
        except _OF_ANOTHER_TABLE as error:
            why = _unusable(part, lab.folder, error)
            lab.unusable.setdefault(why, []).append(name)
            yield Done(part.title, [], [], perf_counter() - begun, why)
            continue
        lab.progress(name, 1, 1)
        yield Done(part.title, rows, [], perf_counter() - begun)


def _unusable(part: Part, folder: Path | None, error: Exception) -> str:
    if isinstance(error, BadData):
        return str(error)
    if not part.tables:
        raise error
    files = " or ".join(str(table.file_in(folder)) for table in part.tables)
    remedies = " ".join(table.remedy() for table in part.tables)
    return f"{files} is not the table of the paper: {str(error).rstrip('.')}. {remedies}"


def runs_at_all(experiments: Sequence[Experiment], lab: Laboratory) -> bool:
    """Whether anything of them can be run with the tables that are there."""
    return any(not part.missing(lab.folder) for part in all_parts(experiments))


def all_parts(experiments: Sequence[Experiment]) -> Iterator[Part]:
    """Their parts, one after the other."""
    return (part for experiment in experiments for part in experiment.parts)


def _told_of(name: str, progress: Progress) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)
