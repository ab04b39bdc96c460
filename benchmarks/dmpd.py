"""The accuracies of 200 partitions, by counting and with a fit of scikit-learn for each fold and projection.

    python benchmarks/dmpd.py FOLDER

FOLDER holds german_credit.csv, vote.csv and adult.csv. The paper's tables and figures are `mixbayes reproduce`'s.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.naive_bayes import CategoricalNB

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.combination import combined, log_laplace
from mixbayes.local_methods.discretisation import Discretiser
from mixbayes.local_methods.fitness import CountedFitness
from mixbayes.local_methods.folds import fold_of_rows
from mixbayes.local_methods.partition import groups_of, random_population
from mixbayes.local_methods.tables import Codes
from mixbayes.parties.table import read_table
from mixbayes.reproduction.attributes import labelled


def plain_accuracy(coded: Coded, fold: Codes, partition: Codes) -> float:
    """A classifier of scikit-learn for each fold and projection."""
    right = 0
    for at in np.unique(fold):
        learned, asked = fold != at, fold == at
        log_prior = log_laplace(np.bincount(coded.labels[learned], minlength=coded.classes))
        posteriors = []
        for group in groups_of(partition):
            columns = coded.codes[np.array(group)].T
            bayes = CategoricalNB(min_categories=coded.sizes[np.array(group)], class_prior=np.exp(log_prior))
            bayes.fit(columns[learned], coded.labels[learned])
            posteriors.append(bayes.predict_log_proba(columns[asked]))
        scores = np.broadcast_to(combined(posteriors, log_prior), (asked.sum(), coded.classes))
        right += int((scores.argmax(axis=1) == coded.labels[asked]).sum())
    return right / coded.rows


def main(folder: Path) -> None:
    print(
        "| table | rows | partitions | one fit for each fold and projection, s | counted, s | times | same accuracies |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in ("german_credit", "vote", "adult"):
        rows = labelled(read_table(folder / f"{name}.csv"))
        coded = Coded.of(Discretiser.learn(rows.table, rows.labels)(rows.table), rows.labels)
        random = np.random.default_rng(0)
        fold = fold_of_rows(coded.labels, 5, random)
        population = random_population(200 if coded.rows < 5000 else 20, coded.features, random)
        begun = perf_counter()
        counted = CountedFitness(coded, fold).accuracies(population)
        middle = perf_counter()
        plain = np.array([plain_accuracy(coded, fold, row) for row in population])
        took = perf_counter() - middle, middle - begun
        same = f"{np.isclose(counted, plain, atol=1.5 / coded.rows).mean():.0%}"
        print(
            f"| {name} | {coded.rows:,} | {len(population)} | {took[0]:.2f} | {took[1]:.3f} "
            f"| {took[0] / took[1]:.0f} | {same} |",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
