"""What Jena and Kamila leave as future work: l-diversity, generalisation, other classifiers. There are no figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sklearn.base import ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES, TREE
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.jena import (
    CASES,
    DEVIATIONS,
    IDENTIFIERS,
    INDUCERS,
    PAPER,
    SIGNIFICANT,
    Case,
    Steps,
    combined_f,
    identifiers_of,
    over_halves,
    protected,
)

NO_FIGURES = "the paper leaves this as future work and has no figures"
ONE_ROUND = "one round of two halves instead of five, 10 generations instead of 100"
CASE = {case.title: case for case in CASES}
SHORT = {"population": 10, "generations": 10}
"""A search that a learner without a shortcut for projections can do too."""
LEARNERS: Mapping[str, str | ClassifierMixin] = {
    NAIVE_BAYES: NAIVE_BAYES,
    TREE: TREE,
    "logistic regression": LogisticRegression(max_iter=1000),
    "linear discriminant": LinearDiscriminantAnalysis(),
    "25 nearest neighbours": KNeighborsClassifier(25),
}

COARSENING = {"left out": False, "coarser": True}

Named = Mapping[str, Mapping[str, Any]]
"""Settings of DMPD by what they are called."""


def compared(case: Case, what: str, settings: Named, lab: Laboratory) -> Iterator[Row]:
    """The accuracies and deviations with each of these settings; which lie significantly from the first is noted."""
    rows = case.read(lab)
    identifiers = identifiers_of(rows, case.identifiers, IDENTIFIERS)
    repeats, generations = lab.times(5, 1), lab.times(100, 10)
    steps = Steps(lab, what, 2 * repeats * len(settings))
    found = {}
    for name, given in settings.items():
        method = DMPD(**{"quasi_identifiers": identifiers, "generations": generations, "random_state": 0, **given})
        found[name] = 100 * over_halves(partial(protected, method), rows, repeats, steps)
    first = next(iter(found.values()))
    other = [name for name, each in found.items() if combined_f(each, first) < SIGNIFICANT]
    note = f"significantly other than the first: {', '.join(other) or 'none'}"
    yield Row(f"{what}, accuracy", {}, {name: float(each.mean()) for name, each in found.items()}, note)
    yield Row(f"{what}, deviation", {}, {name: float(each.std(ddof=1)) for name, each in found.items()})


def diversity(case: Case, most: int, lab: Laboratory) -> Iterator[Row]:
    for inducer in INDUCERS:
        named = {f"l = {least}": {"k": 10, "l": least, "inducer": inducer} for least in range(1, most + 1)}
        yield from compared(case, inducer, named, lab)


def coarser(case: Case, levels: Sequence[int], inducers: Sequence[str], lab: Laboratory) -> Iterator[Row]:
    for inducer in inducers:
        for k in levels:
            named = {name: {"k": k, "coarsen": coarsen, "inducer": inducer} for name, coarsen in COARSENING.items()}
            yield from compared(case, f"{inducer}, k = {k}", named, lab)


def learners(case: Case, lab: Laboratory) -> Iterator[Row]:
    for k in (10, 50):
        named = {name: {"k": k, "inducer": learner, **SHORT} for name, learner in LEARNERS.items()}
        yield from compared(case, f"k = {k}", named, lab)


def _parts(titles: Sequence[str], run: Any, *given: Any) -> list[Part]:
    return [Part(title, CASE[title].tables, partial(run, CASE[title], *given)) for title in titles]


EXPERIMENTS = (
    Experiment(
        "dmpd-diversity",
        "Future work: what l-diversity costs; accuracy in percent, k = 10",
        PAPER,
        [*_parts(["German", "Heart"], diversity, 2), *_parts(["Cmc"], diversity, 3)],
        NO_FIGURES,
        DEVIATIONS,
        ONE_ROUND,
    ),
    Experiment(
        "dmpd-coarser",
        "Future work: columns made coarser instead of left out; accuracy in percent",
        PAPER,
        [
            *_parts(["German", "Cmc", "Pima diabetes"], coarser, (50,), INDUCERS),
            *_parts(["Adult"], coarser, (50, 500), [NAIVE_BAYES]),
        ],
        NO_FIGURES,
        DEVIATIONS,
        ONE_ROUND,
    ),
    Experiment(
        "dmpd-learners",
        "Future work: other classifiers on the projections; accuracy in percent, 10 partitions and 10 generations",
        PAPER,
        _parts(["German"], learners),
        NO_FIGURES,
        DEVIATIONS,
        ONE_ROUND,
    ),
)
