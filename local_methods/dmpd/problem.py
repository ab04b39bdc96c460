"""What a search of partitions is about: the discretised table, and what each outsider may know of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from sklearn.base import ClassifierMixin

from mixbayes.local_methods.base import Work
from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.anonymity import Levels
from mixbayes.local_methods.dmpd.coarsening import Shared, coarsened
from mixbayes.local_methods.dmpd.discretisation import Discretiser
from mixbayes.local_methods.dmpd.fitness import fitness
from mixbayes.local_methods.dmpd.folds import fold_of_rows
from mixbayes.local_methods.dmpd.genetic import Judge, Settings, search
from mixbayes.local_methods.dmpd.partition import Partition
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.name_sets import NameSets, name_sets
from mixbayes.local_methods.tables import Nominal, Table


class SearchSettings(Protocol):
    """The settings of both estimators that search partitions."""

    quasi_identifiers: NameSets | None
    l: int  # noqa: E741 - as in l-diversity
    class_in_key: bool
    population: int
    generations: int
    crossover: float
    mutation: float
    mutation_rule: str


class OneLevel(SearchSettings, Protocol):
    """The additional settings of the search for one level."""

    k: int
    folds: int
    inducer: str | ClassifierMixin
    n_jobs: int | None


@dataclass(frozen=True, eq=False)
class Problem:
    """What is searched: a discretised table, its codes, and which columns an outsider may know."""

    table: Table
    labels: Nominal = field(repr=False)
    discretiser: Discretiser
    coded: Coded
    identifiers: tuple[frozenset[int], ...]
    """Of each outsider."""
    class_in_key: bool
    least_classes: int

    @staticmethod
    def of(work: Work, method: SearchSettings) -> Problem:
        """From a table whose missing cells were treated, and a method's settings."""
        if work.labels is None:
            raise UnfitTable("DMPD needs the class of every row.")
        classes = len(np.unique(work.labels.codes))
        if method.l > classes:
            raise UnfitTable(f"l = {method.l}: the rows have {classes} different classes, not more. Lower l.")
        discretiser = Discretiser.learn(work.table, work.labels)
        table = discretiser(work.table)
        identifiers = identifiers_of(work.table, method.quasi_identifiers)
        coded = Coded.of(table, work.labels)
        return Problem(table, work.labels, discretiser, coded, identifiers, method.class_in_key, method.l)

    def coarsened(self, work: Work, shared: Shared) -> Problem:
        """The same with quasi-identifiers so coarse that enough rows share each of their values."""
        known = frozenset().union(*self.identifiers)
        discretiser = coarsened(self.discretiser, work.table, self.labels, known, shared)
        table = discretiser(work.table)
        return replace(self, table=table, discretiser=discretiser, coded=Coded.of(table, self.labels))

    def cut(self) -> list[int]:
        """The columns that have anything to tell: nominal ones, and numbers with a cut."""
        intervals = self.discretiser.intervals
        return [at for at in range(self.coded.features) if at not in intervals or len(intervals[at].cuts)]

    def level(self, at: int) -> int:
        """Of a column by itself."""
        return self.levels(self.coded, self.identifiers).of_group([at])

    def levels(self, coded: Coded, identifiers: Collection[Collection[int]]) -> Levels:
        """Of the table, or of some of its columns."""
        return Levels(coded, identifiers, self.class_in_key, self.least_classes)

    def searchable(self, k: int) -> list[int]:
        """The columns that are k-anonymous by themselves; the others cannot be in any valid projection."""
        return [at for at in self.cut() if self.level(at) >= k]

    def identifiers_among(self, columns: Sequence[int]) -> list[list[int]]:
        """Which of these columns each outsider may know."""
        return [[i for i, at in enumerate(columns) if at in known] for known in self.identifiers]

    def search(self, method: OneLevel, searchable: Sequence[int], work: Work) -> tuple[Partition, float]:
        coded = self.coded.only(searchable)
        levels = self.levels(coded, self.identifiers_among(searchable))
        fold = fold_of_rows(coded.labels, method.folds, work.random)
        judge = Judge(levels, fitness(coded, fold, method.inducer, method.n_jobs), method.k)
        return search(judge, coded.features, settings_of(method), work.random, work.progress)


def settings_of(method: SearchSettings) -> Settings:
    return Settings(method.population, method.generations, method.crossover, method.mutation, method.mutation_rule)


def refuse_contradiction(method: SearchSettings) -> None:
    """Who knows the class has no class to learn."""
    if method.class_in_key and method.l > 1:
        raise BadParameter(
            f"l = {method.l} hides the class, class_in_key is for outsiders who know it. Set one of the two."
        )


def identifiers_of(table: Table, names: NameSets | None) -> tuple[frozenset[int], ...]:
    """Where the quasi-identifiers of each outsider stand; all columns, if nothing is said."""
    if names is None:
        return (frozenset(range(len(table.names))),)
    sets = name_sets(names)
    if not all(sets):
        raise BadParameter("quasi_identifiers names no column. Name some, or leave it out: then all are.")
    return tuple(frozenset(table.positions(known)) for known in sets)
