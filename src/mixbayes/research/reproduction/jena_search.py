"""Jena and Kamila, sections 2.2, 2.3 and 4.1: what the genetic search finds, and what other searches find.

The paper says of other work that genetic search beats local search and that crossover does not slow it down; and that a
front should be near the true one, even and wide. With naive Bayes the accuracy depends only on which columns are used,
and the anonymity is highest with each column alone: so all sets of columns are all that has to be looked at to know the
best partition and the true front. With a tree all partitions of a few columns can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.base import silent
from mixbayes.local_methods.dmpd.anonymity import Levels
from mixbayes.local_methods.dmpd.attainment import attainment
from mixbayes.local_methods.dmpd.fitness import fitness
from mixbayes.local_methods.dmpd.folds import fold_of_rows
from mixbayes.local_methods.dmpd.genetic import Judge, Judged, Settings, search
from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES, TREE
from mixbayes.local_methods.dmpd.pareto import search_front, undominated
from mixbayes.local_methods.dmpd.partition import PRINTED, UNUSED, Partition, Population, named, random_population
from mixbayes.local_methods.dmpd.problem import Problem
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.research.reproduction import public_tables as public
from mixbayes.research.reproduction.beyond_jena import CASE, ONE_ROUND, compared
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.jena import (
    ADULT,
    ADULT_TOP5,
    ADULT_TOP9,
    DEVIATIONS,
    GERMAN_TOP5,
    INDUCERS,
    PAPER,
    Case,
    identifiers_of,
    read_rows,
)
from mixbayes.research.reproduction.public_tables import PublicTable

K = 10
POPULATION = 50
GENERATIONS = (10, 100)
FREE_SEARCH = Settings(POPULATION, 0, 0.6, 0.033)
GENETIC: Mapping[str, Settings] = {
    "genetic": FREE_SEARCH,
    "genetic, printed mutation": replace(FREE_SEARCH, mutation_rule=PRINTED),
    "genetic, no crossover": replace(FREE_SEARCH, crossover=0.0),
    "genetic, printed mutation, no crossover": replace(FREE_SEARCH, mutation_rule=PRINTED, crossover=0.0),
}
MOST_SETS = 2**12
"""As many sets of columns are looked at one by one."""


@dataclass(frozen=True, eq=False)
class SearchedColumns:
    """What is searched: the columns, and the judge of their partitions."""

    judge: Judge
    levels: Levels
    features: int
    inducer: str

    @staticmethod
    def of(rows: Labelled, identifiers: Sequence[str], inducer: str, k: int) -> SearchedColumns:
        method = DMPD(k=k, quasi_identifiers=list(identifiers), inducer=inducer, random_state=0)
        work = method.work(rows.table, rows.labels)
        problem = Problem.of(work, method)
        columns = problem.searchable(k)
        coded = problem.coded.only(columns)
        levels = problem.levels(coded, problem.identifiers_among(columns))
        fold = fold_of_rows(coded.labels, method.folds, work.random)
        return SearchedColumns(Judge(levels, fitness(coded, fold, inducer), k), levels, coded.features, inducer)

    def everything(self) -> Population | None:
        """Partitions among which the best ones are, if they are few enough to look at."""
        if self.inducer == NAIVE_BAYES and 2**self.features <= MOST_SETS:
            used = np.array(list(product([False, True], repeat=self.features)))
            return np.where(used, np.arange(self.features), UNUSED)
        return all_partitions(self.features) if self.features <= 5 else None


def all_partitions(features: int) -> Population:
    """Every partition, with any features unused."""
    names = np.array(list(product(range(UNUSED, features), repeat=features)), np.int64)
    return np.unique(named(names), axis=0)


def neighbours(partition: Partition) -> Population:
    """The partitions in which one feature is elsewhere: in another group, unused, or by itself."""
    features = len(partition)
    moved = np.repeat(partition[None], features * (features + 2), axis=0)
    places = np.tile(np.arange(UNUSED, features + 1), features)  # the last is a group that there was not
    moved[np.arange(len(moved)), np.repeat(np.arange(features), features + 2)] = places
    around = np.unique(named(moved), axis=0)
    return around[(around != partition).any(axis=1)]


def climbed(field: SearchedColumns, budget: int, random: np.random.Generator) -> float:
    """Local search: the best neighbour as long as it is better, then from another random partition.

    It begins where the genetic search does too, with each feature alone.
    """
    best, spent, start = 0.0, 0, np.arange(field.features)[None]
    while spent < budget:
        here, better = field.judge(start), True
        start = random_population(1, field.features, random)
        spent += 1
        while better and spent < budget:
            around = field.judge(neighbours(here.partitions[0])[: budget - spent])
            spent += len(around.levels)
            both = around.and_(here)  # of equals the last is the fittest: who is here stays
            at = both.ranks().argmax()
            here, better = both.take(np.array([at])), bool(at < len(around.levels))
        best = max(best, float(here.accuracies[0]))
    return best


def at_random(field: SearchedColumns, budget: int, random: np.random.Generator) -> float:
    return float(field.judge(random_population(budget, field.features, random)).accuracies.max())


def evolved(settings: Settings, field: SearchedColumns, budget: int, random: np.random.Generator) -> float:
    generations = budget // POPULATION - 1
    return search(field.judge, field.features, replace(settings, generations=generations), random, silent)[1]


SearchBy = Callable[[SearchedColumns, int, np.random.Generator], float]
SEARCHES: Mapping[str, SearchBy] = {
    **{name: partial(evolved, settings) for name, settings in GENETIC.items()},
    "local, with restarts": climbed,
    "random": at_random,
}


def searches(case: Case, most: int, inducers: Sequence[str], lab: Laboratory) -> Iterator[Row]:
    """The accuracy over the folds that each search finds with as many partitions judged; means over seeds."""
    rows = case.read(lab)
    identifiers = identifiers_of(rows, case.identifiers if most <= 9 else (), most)
    seeds = range(lab.times(10, 2))
    for inducer in inducers:
        field = SearchedColumns.of(rows, identifiers, inducer, K)
        found = {
            (name, generations): [
                look(field, POPULATION * (generations + 1), np.random.default_rng(seed)) for seed in seeds
            ]
            for name, look in SEARCHES.items()
            for generations in GENERATIONS
        }
        everything = field.everything()
        best = max(max(each) for each in found.values())
        exact = float(field.judge(everything).accuracies.max()) if everything is not None else None
        note = f"{field.features} columns; best {'of all' if exact else 'found'} {100 * (exact or best):.2f}"
        for name in SEARCHES:
            yield Row(f"{inducer}, {name}", {}, _of_budgets(found, name, exact or best), note)
            note = ""


def _of_budgets(found: Mapping[tuple[str, int], Sequence[float]], name: str, best: float) -> Figures:
    figures: dict[str, float] = {}
    for generations in GENERATIONS:
        accuracies = np.array(found[name, generations])
        figures[f"{POPULATION * (generations + 1):,} partitions"] = 100 * float(accuracies.mean())
        figures[f"best in, of {len(accuracies)} ({generations})"] = int((accuracies >= best - 1e-12).sum())
    return figures


def mutation(case: Case, inducers: Sequence[str], lab: Laboratory) -> Iterator[Row]:
    """The accuracy on rows that took no part, by either rule."""
    for inducer in inducers:
        rules = {rule: {"k": K, "inducer": inducer, "mutation_rule": rule} for rule in ("free", PRINTED)}
        yield from compared(case, inducer, rules, lab)


def fronts(
    tables: Sequence[PublicTable], listed: Sequence[str], inducers: Sequence[str], lab: Laboratory
) -> Iterator[Row]:
    """One run and five runs together, beside the true front of these columns alone."""
    whole = read_rows(lab, tables, complete=True)
    identifiers = identifiers_of(whole, listed, len(listed))
    rows = Labelled(whole.table.select(whole.table.positions(identifiers)), whole.labels)
    for inducer in inducers:
        field = SearchedColumns.of(rows, identifiers, inducer, 1)
        everything = field.everything()
        if everything is None:
            continue
        true = undominated(field.judge(everything))
        settings = replace(FREE_SEARCH, generations=lab.times(100, 10))
        runs = [
            search_front(field.judge, field.levels, field.features, settings, np.random.default_rng(seed), silent)
            for seed in range(5)
        ]
        together = runs[0]
        for run in runs[1:]:
            together = undominated(together.and_(run))
        yield Row(f"{inducer}, true front", {}, {"points": len(true.levels), **_shape(true)})
        yield Row(f"{inducer}, one run (mean of 5)", {}, _mean([_against(true, run) for run in runs]))
        yield Row(f"{inducer}, five runs together", {}, _against(true, together))


def _against(true: Judged, found: Judged) -> dict[str, float]:
    """How near, how even and how wide a front is."""
    points = {(int(level), float(accuracy)) for level, accuracy in zip(true.levels, true.accuracies, strict=True)}
    hits = sum((int(a), float(b)) in points for a, b in zip(found.levels, found.accuracies, strict=True))
    surface = attainment([(found.levels, found.accuracies), (true.levels, true.accuracies)])
    missed = surface.best - np.where(np.isfinite(surface.worst), surface.worst, 0)
    return {
        "points": len(found.levels),
        "of the true front": hits,
        "largest loss, points of accuracy": 100 * float(missed.max()),
        **_shape(found),
    }


def _shape(front: Judged) -> dict[str, float]:
    return {
        "largest gap, points of accuracy": 100 * float(np.max(-np.diff(front.accuracies), initial=0)),
        "lowest level": int(front.levels.min()),
        "highest level": int(front.levels.max()),
    }


def _mean(figures: Sequence[Mapping[str, float]]) -> Figures:
    return {name: float(np.mean([one[name] for one in figures])) for name in figures[0]}


def _parts(titles: Sequence[str], run: Callable[..., Iterator[Row]], *given: object) -> list[Part]:
    return [Part(title, CASE[title].tables, partial(run, CASE[title], *given)) for title in titles]


SMALL = ("Credit", "Vote", "Wisconsin, diagnostic", "German", "Heart", "Pima diabetes")
EXPERIMENTS = (
    Experiment(
        "dmpd-search",
        f"Sections 2.2 and 4.1: genetic, local and random search; accuracy over the folds in percent, k = {K}",
        PAPER,
        [
            *_parts(["German", "Heart", "Credit"], searches, 9, INDUCERS),
            *_parts(["Wisconsin, diagnostic"], searches, 30, [NAIVE_BAYES]),
        ],
        "no figure is published: the paper refers to other work",
        DEVIATIONS,
        "two seeds instead of ten",
    ),
    Experiment(
        "dmpd-mutation",
        f"Section 4.1: the mutation rule as printed, beside ours; accuracy in percent, k = {K}",
        PAPER,
        _parts(SMALL, mutation, INDUCERS),
        "no figure is published",
        DEVIATIONS,
        ONE_ROUND,
    ),
    Experiment(
        "dmpd-true-front",
        "Section 2.3: how near, even and wide the front is that the search finds",
        PAPER,
        [
            Part(
                "German, top 5",
                [public.GERMAN_CREDIT],
                partial(fronts, [public.GERMAN_CREDIT], GERMAN_TOP5, [NAIVE_BAYES, TREE]),
            ),
            Part("Adult, top 5", ADULT, partial(fronts, ADULT, ADULT_TOP5, [NAIVE_BAYES])),
            Part("Adult, top 9", ADULT, partial(fronts, ADULT, ADULT_TOP9, [NAIVE_BAYES])),
        ],
        "no figure is published",
        DEVIATIONS,
        "10 generations instead of 100",
    ),
)
