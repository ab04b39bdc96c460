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
from mixbayes.research.tasks import at_the_same_time, in_turn

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


def run_all(experiments: Sequence[Experiment], lab: Laboratory) -> Iterator[tuple[Experiment, Iterator[Done]]]:
    """Every experiment with its parts, each handed over when it and those before are done."""
    running = _Running(experiments, lab)
    return ((experiment, running.parts_of(experiment)) for experiment in experiments)


def run(experiment: Experiment, lab: Laboratory) -> Iterator[Done]:
    """The parts of one."""
    return _Running([experiment], lab).parts_of(experiment)


@dataclass(frozen=True)
class _Outcome:
    """Rows, or what kept a part from having any."""

    rows: Sequence[Row]
    seconds: float
    error: Exception | None = None


class _Running:
    """Where several things are done at once, parts that share what `Laboratory.once` keeps stay together."""

    def __init__(self, experiments: Sequence[Experiment], lab: Laboratory) -> None:
        self._lab = lab
        self._outcomes: dict[int, _Outcome] = {}
        names = {id(part): _named(experiment, part) for experiment in experiments for part in experiment.parts}
        parts = [part for part in all_parts(experiments) if not part.missing(lab.folder)]
        if at_the_same_time():
            self._together = _sharing(parts)
            tasks = ((one, lab.elsewhere(one[0].tables)) for one in self._together)
        else:
            self._together = [[part] for part in parts]
            tasks = (([part], replace(lab, progress=_told_of(names[id(part)], lab.progress))) for part in parts)
        self._pending = zip(self._together, in_turn(_outcomes, tasks), strict=True)

    def parts_of(self, experiment: Experiment) -> Iterator[Done]:
        lab = self._lab
        for part in experiment.parts:
            missing = part.missing(lab.folder)
            if missing:
                yield Done(part.title, [], missing, 0.0)
                continue
            name = _named(experiment, part)
            lab.progress(name, 0, 1)
            outcome = self._outcome(part)
            if outcome.error:
                why = _unusable(part, lab.folder, outcome.error)
                lab.unusable.setdefault(why, []).append(name)
                yield Done(part.title, [], [], outcome.seconds, why)
                continue
            lab.progress(name, 1, 1)
            yield Done(part.title, outcome.rows, [], outcome.seconds)

    def _outcome(self, part: Part) -> _Outcome:
        while id(part) not in self._outcomes:
            parts, outcomes = next(self._pending)
            self._outcomes.update(zip(map(id, parts), outcomes, strict=True))
        return self._outcomes[id(part)]


def _named(experiment: Experiment, part: Part) -> str:
    return f"{experiment.name}, {part.title}"


def _sharing(parts: Sequence[Part]) -> list[list[Part]]:
    """Parts of one file of experiments about the same tables."""
    together: dict[tuple[str, tuple[str, ...]], list[Part]] = {}
    for part in parts:
        file = getattr(part.run, "func", part.run).__module__
        together.setdefault((file, tuple(table.file for table in part.tables)), []).append(part)
    return list(together.values())


def _outcomes(parts: Sequence[Part], lab: Laboratory) -> list[_Outcome]:
    return [_outcome(part, lab) for part in parts]


def _outcome(part: Part, lab: Laboratory) -> _Outcome:
    begun = perf_counter()
    try:
        rows = list(part.run(lab))
    except _OF_ANOTHER_TABLE as error:
        return _Outcome([], perf_counter() - begun, error)
    return _Outcome(rows, perf_counter() - begun)


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
