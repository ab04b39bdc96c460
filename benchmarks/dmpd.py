"""The search for a partition of German, ours and written plainly: python benchmarks/dmpd.py FOLDER [LARGEST]

FOLDER holds german_credit.csv. The paper's setting: the top 5 quasi-identifiers, k = 10, 50 partitions, 100
generations, and the table 1, 5, 10, 15 and 20 times as long; "growth" is the exponent from the first size on: 1 is
linear. The plain search fits a classifier of scikit-learn for each fold and projection of each partition, from the
same random numbers, and must end with the same partition and accuracy. It takes minutes; so it is run for the table
as it is, or up to LARGEST times as long. Seconds are those of one processor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.base import Work, silent
from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.anonymity import Levels
from mixbayes.local_methods.dmpd.combination import combined, log_laplace
from mixbayes.local_methods.dmpd.folds import fold_of_rows
from mixbayes.local_methods.dmpd.genetic import Judge, search
from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES, TREE, Placed
from mixbayes.local_methods.dmpd.partition import Partition, Population, groups_of
from mixbayes.local_methods.dmpd.problem import Problem, settings_of
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Codes, Floats, Mask
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.research.reproduction.jena import GERMAN_TOP5, lengthened
from mixbayes.tables.sources.opening import read_table

K = 10
TIMES = (1, 5, 10, 15, 20)

Found = tuple[Partition, float]
Searching = Callable[[Problem, DMPD, Work], Found]


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows that are learned from, and those that are asked for."""

    coded: Coded
    placed: Placed
    learned: Mask
    asked: Mask


def bayes(group: Sequence[int], fold: Fold) -> Floats:
    coded = fold.coded
    cells, labels = coded.codes[np.array(group)].T, coded.labels[fold.learned]
    prior = np.exp(log_laplace(np.bincount(labels, minlength=coded.classes)))
    made = CategoricalNB(min_categories=coded.sizes[np.array(group)], class_prior=prior)
    found: Floats = made.fit(cells[fold.learned], labels).predict_log_proba(cells[fold.asked])
    return found


def tree(group: Sequence[int], fold: Fold) -> Floats:
    points = fold.placed.points(group, [fold.coded.codes[at] for at in group])
    rows = int(fold.learned.sum())
    price = np.log2(rows) / rows
    made = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=price, random_state=0)
    made.fit(points[fold.learned], fold.coded.labels[fold.learned])
    in_leaf = np.round(made.tree_.value[:, 0] * made.tree_.weighted_n_node_samples[:, None])
    return log_laplace(in_leaf)[made.apply(points[fold.asked])]


PLAIN = {TREE: tree, NAIVE_BAYES: bayes}


@dataclass(frozen=True, eq=False)
class PlainFitness:
    """A fit for each fold and projection; nothing is kept."""

    coded: Coded
    placed: Placed
    fold: Codes
    learn: Callable[[Sequence[int], Fold], Floats]

    def accuracies(self, population: Population) -> Floats:
        folds = range(int(self.fold.max()) + 1)
        right = [sum(self._right(partition, self.fold == at) for at in folds) for partition in population]
        return np.array(right) / self.coded.rows

    def _right(self, partition: Partition, asked: NDArray[np.bool_]) -> int:
        fold = Fold(self.coded, self.placed, ~asked, asked)
        log_prior = log_laplace(np.bincount(self.coded.labels[~asked], minlength=self.coded.classes))
        posteriors = [self.learn(group, fold) for group in groups_of(partition)]
        scores = np.broadcast_to(combined(posteriors, log_prior), (asked.sum(), self.coded.classes))
        return int((scores.argmax(axis=1) == self.coded.labels[asked]).sum())


def ours(problem: Problem, method: DMPD, work: Work) -> Found:
    return problem.search(method, problem.searchable(K), work)


def plainly(problem: Problem, method: DMPD, work: Work) -> Found:
    columns = problem.searchable(K)
    coded = problem.coded.only(columns)
    fold = fold_of_rows(coded.labels, method.folds, work.random)
    levels = Levels(coded, problem.identifiers_among(columns))
    judge = Judge(levels, PlainFitness(coded, Placed(coded), fold, PLAIN[str(method.inducer)]), K)
    return search(judge, coded.features, settings_of(method), work.random, silent)


def timed(searching: Searching, rows: Labelled, inducer: str) -> tuple[float, Found]:
    """With the cuts."""
    method = DMPD(k=K, quasi_identifiers=GERMAN_TOP5, inducer=inducer, random_state=0)
    begun = process_time()
    work = method.work(rows.table, rows.labels)
    found = searching(Problem.of(work, method), method, work)
    return process_time() - begun, found


def beside(rows: Labelled, inducer: str, took: float, found: Found) -> str:
    """The plain search's seconds and how many times ours they are, if it finds the same."""
    plain, expected = timed(plainly, rows, inducer)
    if expected[0].tolist() != found[0].tolist() or abs(expected[1] - found[1]) > 1e-9:
        raise SystemExit(f"{inducer}, {rows.table.rows} rows: {found} is not what the plain search finds: {expected}.")
    return f"{plain:.0f} | {plain / took:.0f}"


def main(folder: Path, largest: int) -> None:
    german = labelled(read_table(folder / "german_credit.csv"))
    print("| inducer | rows | accuracy | s | growth | plainly, s | times ours |\n|---|---|---|---|---|---|---|")
    for inducer in PLAIN:
        first = 0.0
        for times in TIMES:
            rows = lengthened(german, times)
            took, found = timed(ours, rows, inducer)
            first = first or took
            growth = f"{log2(took / first) / log2(times):.2f}" if times > 1 else ""
            plain = beside(rows, inducer, took, found) if times <= largest else " | "
            print(f"| {inducer} | {rows.table.rows:,} | {found[1]:.4f} | {took:.2f} | {growth} | {plain} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
