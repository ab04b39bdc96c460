"""Fung, Wang and Yu: TDS and TDR, with which Jena and Kamila compare DMPD in accuracy and time.

Jena and Kamila say what they compare and how, and that DMPD "significantly outperforms existing suppression-based and
generalization-based methods"; their text prints no figure of it. Here all methods anonymise the training half alone,
and one learner, DMPD's own, learns from each release. TDS is generalisation with taxonomies and TDR is without. Both
cut intervals as their papers do; "cut where valid" is what `Generalisation` does unless it is told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import log2
from time import process_time
from typing import Any

from mixbayes.local_methods import DMPD, Generalisation
from mixbayes.local_methods.dmpd.discretisation import Discretiser, Intervals
from mixbayes.local_methods.dmpd.projection_classifier import ProjectionClassifier
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Floats, Nominal, Numeric, Table
from mixbayes.research.reproduction import jena
from mixbayes.research.reproduction import public_tables as public
from mixbayes.research.reproduction.adult_taxonomies import ADULT_TAXONOMIES
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row

PAPER = (
    "Jena and Kamila, Distributed Data Mining Privacy by Decomposition (DDMPD) with Naive Bayes Classifier and Genetic "
    "Algorithm; Fung, Wang and Yu, Top-down specialization for information and privacy preservation (TDS), and "
    "Anonymizing classification data for privacy preservation (TDR)"
)
DEVIATIONS = "docs/deviations/generalisation.md"
DMPD_NAME = "DMPD"
Settings = Mapping[str, Any]
Judge = Callable[[Labelled, Labelled], float]
TIMES = (1, 5, 10, 15, 20)
"""How often German is lengthened in Table 2 of Jena and Kamila."""


def demanding(case: jena.Case) -> tuple[int, ...]:
    """The levels of Table 1 at which anything is demanded: not k = 1."""
    return tuple(k for k in case.levels if k > 1)


def variants(table: Table, identifiers: Sequence[str]) -> dict[str, Settings]:
    """TDR, TDS where there are taxonomies for quasi-identifiers, and both with intervals cut where it is valid."""
    trees = {name: ADULT_TAXONOMIES[name] for name in identifiers if _fits(name, table)}
    found: dict[str, Settings] = {"TDR": {"split": "best"}, "TDR, cut where valid": {"split": "valid"}}
    if trees:
        found["TDS"] = {"split": "best", "taxonomies": trees}
        found["TDS, cut where valid"] = {"split": "valid", "taxonomies": trees}
    return found


def _fits(name: str, table: Table) -> bool:
    """Whether a column has the name and the kind of one of Adult's with a taxonomy; Adult alone has such."""
    return name in ADULT_TAXONOMIES and "education-num" in table.names and isinstance(table.column(name), Nominal)


def generalised(method: Generalisation, inducer: str, training: Labelled, test: Labelled) -> float:
    """The accuracy of DMPD's learner on the generalised test half, as if there were one projection of all columns.

    Numbers that are no quasi-identifiers are cut as DMPD cuts them, after the release.
    """
    released, labels = method.fit_resample(training.table, training.labels)
    cut = _discretiser(released, labels, list(method.rules_))
    every = [tuple(range(len(released.names)))]
    classifier = ProjectionClassifier.learn(cut(released), labels, every, inducer)
    return float((classifier.predict(cut(method.transform(test.table))) == test.labels.codes).mean())


def _discretiser(table: Table, labels: Nominal, but: Sequence[str]) -> Discretiser:
    """Of the numeric columns that are not named."""
    return Discretiser(
        {
            at: Intervals.learn(column.numbers, labels.codes, len(labels.values))
            for at, column in enumerate(table.columns)
            if isinstance(column, Numeric) and table.names[at] not in but
        }
    )


def accuracies(case: jena.Case, lab: Laboratory) -> Iterator[Row]:
    rows = case.read(lab)
    identifiers = jena.identifiers_of(rows, case.identifiers, jena.IDENTIFIERS)
    for inducer in jena.INDUCERS:
        yield from _compared(case, inducer, rows, identifiers, lab)


def _compared(case: jena.Case, inducer: str, rows: Labelled, identifiers: list[str], lab: Laboratory) -> Iterator[Row]:
    repeats, levels = lab.times(5, 1), demanding(case)
    others = variants(rows.table, identifiers)
    steps = jena.Steps(lab, inducer, 2 * repeats * (1 + len(levels) * (1 + len(others))))

    def over_levels(judge: Callable[[int], Judge]) -> list[Floats]:
        return [jena.over_halves(judge(k), rows, repeats, steps) for k in levels]

    without = jena.over_halves(partial(jena.baseline, inducer), rows, repeats, steps)
    generations = lab.times(100, 10)

    def decomposed(k: int) -> Judge:
        return partial(
            jena.protected,
            DMPD(k=k, quasi_identifiers=identifiers, inducer=inducer, generations=generations, random_state=0),
        )

    def coarsened(settings: Settings, k: int) -> Judge:
        return partial(generalised, Generalisation(k=k, quasi_identifiers=identifiers, **settings), inducer)

    ours = over_levels(decomposed)
    names = [f"k = {k}" for k in levels]
    yield from _rows(f"{inducer}, {DMPD_NAME}", ["baseline", *names], [without, *ours], ", ".join(identifiers))
    for title, settings in others.items():
        found = over_levels(partial(coarsened, settings))
        yield from _rows(f"{inducer}, {title}", names, found, _verdict(names, ours, found))


def _rows(title: str, names: Sequence[str], found: Sequence[Floats], note: str) -> Iterator[Row]:
    pairs = list(zip(names, found, strict=True))
    yield Row(f"{title}, accuracy", {}, {name: 100 * float(each.mean()) for name, each in pairs}, note)
    yield Row(f"{title}, deviation", {}, {name: 100 * float(each.std(ddof=1)) for name, each in pairs})


def _verdict(names: Sequence[str], ours: Sequence[Floats], theirs: Sequence[Floats]) -> str:
    """Where the combined F test tells DMPD from another method."""
    differ = [
        (name, bool(one.mean() > other.mean()))
        for name, one, other in zip(names, ours, theirs, strict=True)
        if jena.combined_f(one, other) < jena.SIGNIFICANT
    ]
    better, worse = ([name for name, above in differ if above == side] for side in (True, False))
    return f"{DMPD_NAME} significantly better: {_named(better)}; worse: {_named(worse)}"


def _named(levels: Sequence[str]) -> str:
    return ", ".join(levels) or "nowhere"


def seconds_by_rows(lab: Laboratory) -> Iterator[Row]:
    """German with top 5, as Table 2 has it."""
    rows = labelled(lab.read(public.GERMAN_CREDIT))
    identifiers = jena.identifiers_of(rows, jena.GERMAN_TOP5, len(jena.GERMAN_TOP5))
    times = TIMES[: lab.times(len(TIMES), 2)]
    longer = {factor: jena.lengthened(rows, factor) for factor in times}
    for name, method in _timed(rows.table, identifiers, 10).items():
        before: tuple[int, float] | None = None
        for factor, table in longer.items():
            took = _seconds(method, table)
            growth: Figures = {"growth": log2(took / before[1]) / log2(factor / before[0])} if before else {}
            yield Row(f"{name}, {table.table.rows:,} rows", {}, {"seconds": took, **growth})
            before = factor, took


def seconds_by_k(case: jena.Case, lab: Laboratory) -> Iterator[Row]:
    """A whole table at every level of Table 1."""
    rows = case.read(lab)
    identifiers = jena.identifiers_of(rows, case.identifiers, jena.IDENTIFIERS)
    found: dict[str, dict[str, float]] = {}
    for k in demanding(case):
        for name, method in _timed(rows.table, identifiers, k).items():
            if name != f"{DMPD_NAME}, tree" or not lab.quick:
                found.setdefault(name, {})[f"k = {k}"] = _seconds(method, rows)
    for name, figures in found.items():
        yield Row(name, {}, figures)


def _timed(table: Table, identifiers: list[str], k: int) -> dict[str, DMPD | Generalisation]:
    shared: Settings = {"k": k, "quasi_identifiers": identifiers}
    methods: dict[str, DMPD | Generalisation] = {
        name: Generalisation(**shared, **settings) for name, settings in variants(table, identifiers).items()
    }
    for inducer in jena.INDUCERS:
        methods[f"{DMPD_NAME}, {inducer}"] = DMPD(**shared, inducer=inducer, random_state=0)
    return methods


def _seconds(method: DMPD | Generalisation, rows: Labelled) -> float:
    begun = process_time()
    method.fit_resample(rows.table, rows.labels)
    return process_time() - begun


ADULT_AND_GERMAN = [case for case in jena.CASES if case.title in ("Adult", "German")]
EXPERIMENTS = (
    Experiment(
        "generalisation-accuracy",
        "DMPD against TDS and TDR in accuracy, in percent, at the levels of Table 1",
        PAPER,
        [Part(case.title, case.tables, partial(accuracies, case)) for case in jena.CASES],
        "no figure of the comparison is printed: it is said that DMPD is significantly better",
        DEVIATIONS,
        "one round of two halves instead of five, 10 generations of DMPD instead of 100; without the F test's power",
    ),
    Experiment(
        "generalisation-time",
        "DMPD against TDS and TDR in seconds of a processor, by rows and by k",
        PAPER,
        [
            Part("German, lengthened", [public.GERMAN_CREDIT], seconds_by_rows),
            *(Part(f"{case.title}, by k", case.tables, partial(seconds_by_k, case)) for case in ADULT_AND_GERMAN),
        ],
        "another machine, and no figure of the comparison is printed",
        DEVIATIONS,
        "1,000 and 5,000 rows only; by k without DMPD's tree",
    ),
)
