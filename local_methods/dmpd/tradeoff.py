"""How much accuracy each level of anonymity costs, for whoever must choose k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.base import Progress, RandomState, refuse_parameters, silent
from mixbayes.local_methods.containers import ManyColumns, OneColumn, read_columns, read_labels
from mixbayes.local_methods.dmpd.attainment import attainment, falls
from mixbayes.local_methods.dmpd.decomposition import DMPD, SEARCH_CONSTRAINTS
from mixbayes.local_methods.dmpd.fitness import fitness
from mixbayes.local_methods.dmpd.folds import fold_of_rows
from mixbayes.local_methods.dmpd.genetic import Judge, Judged
from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES
from mixbayes.local_methods.dmpd.pareto import search_front, undominated
from mixbayes.local_methods.dmpd.partition import FREE, groups_of
from mixbayes.local_methods.dmpd.problem import Problem, refuse_contradiction, settings_of
from mixbayes.local_methods.name_sets import NameSets

SEARCH = tuple(key for key in SEARCH_CONSTRAINTS if key != "random_state")


@dataclass(frozen=True)
class Tradeoff:
    """A partition, and what it gives and costs."""

    anonymity: int
    accuracy: float
    projections: Sequence[Sequence[str]]
    left_out: Sequence[str]


class AnonymityTradeoff(BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """Looks for the partitions of DMPD that no other one surpasses in both anonymity and accuracy.

    A search by chance is run several times, over the same folds.

    Parameters
    ----------
    runs : int, default=5
        How often the search is run.
    quasi_identifiers, l, inducer, population, generations, folds, crossover, mutation, mutation_rule, class_in_key,
    missing, n_jobs
        As of `DMPD`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    front_ : list of Tradeoff
        Of all runs together, the least anonymous first. The last has no quasi-identifier left.
    attainment_ : Attainment
        The accuracies that all runs, half of them and any of them attain, by level.
    falls_ : list of Fall
        Where on the median surface the accuracy falls.

    See Also
    --------
    DMPD : makes the projections for one level.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods import AnonymityTradeoff
    >>> search = AnonymityTradeoff(population=10, generations=5, runs=2, random_state=0)
    >>> front = search.fit(*load_iris(return_X_y=True)).front_
    >>> front[0].accuracy > front[-1].accuracy
    True
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **SEARCH_CONSTRAINTS,
        "runs": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        runs: int = 5,
        quasi_identifiers: NameSets | None = None,
        l: int = 1,  # noqa: E741 - as in l-diversity
        inducer: str | ClassifierMixin = NAIVE_BAYES,
        population: int = 50,
        generations: int = 100,
        folds: int = 5,
        crossover: float = 0.6,
        mutation: float = 0.033,
        mutation_rule: str = FREE,
        class_in_key: bool = False,
        missing: str = "keep",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.runs = runs
        self.quasi_identifiers = quasi_identifiers
        self.l = l
        self.inducer = inducer
        self.population = population
        self.generations = generations
        self.folds = folds
        self.crossover = crossover
        self.mutation = mutation
        self.mutation_rule = mutation_rule
        self.class_in_key = class_in_key
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ManyColumns, y: OneColumn, *, progress: Progress | None = None) -> AnonymityTradeoff:
        """Search the partitions of a table."""
        refuse_parameters(self)
        refuse_contradiction(self)
        with threadpool_limits(1):  # the order in which several threads add up could decide between two classes
            problem, found = self._searched(X, y, progress or silent)
        self.attainment_ = attainment([(run.levels, run.accuracies) for run in found])
        self.falls_ = falls(self.attainment_.levels, self.attainment_.median)
        together = found[0]
        for run in found[1:]:
            together = undominated(together.and_(run))
        self.front_ = _described(problem, together)
        return self

    def _searched(self, X: ManyColumns, y: OneColumn, progress: Progress) -> tuple[Problem, list[Judged]]:
        method = DMPD(**{key: getattr(self, key) for key in SEARCH}, random_state=self.random_state)
        work = method.work(read_columns(X)[0], read_labels(y)[0])
        problem = Problem.of(work, self)
        columns = problem.searchable(1)
        coded = problem.coded.only(columns)
        levels = problem.levels(coded, problem.identifiers_among(columns))
        fold = fold_of_rows(coded.labels, self.folds, work.random)
        judge = Judge(levels, fitness(coded, fold, self.inducer, self.n_jobs), k=1)

        def run(number: int) -> Judged:
            def told(what: str, done: int, total: int) -> None:
                progress(what, number * total + done, self.runs * total)

            return search_front(judge, levels, coded.features, settings_of(self), work.random, told)

        return problem, list(map(run, range(self.runs)))


def _described(problem: Problem, front: Judged) -> list[Tradeoff]:
    columns, names = np.array(problem.searchable(1), np.intp), problem.table.names
    described = []
    for partition, level, accuracy in zip(front.partitions, front.levels, front.accuracies, strict=True):
        projections = [[names[columns[at]] for at in group] for group in groups_of(partition)]
        used = {name for projection in projections for name in projection}
        left_out = [name for name in names if name not in used]
        described.append(Tradeoff(int(level), float(accuracy), projections, left_out))
    return described
