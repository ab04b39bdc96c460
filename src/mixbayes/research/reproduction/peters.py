"""Peters (2011): SAP, what it hides and what 1-NN still learns.

sap0 is the original, sap1 to sap3 have a share of 0.1 to 0.3 suppressed. 1-NN learns from four fifths of the rows, as
SAP releases them, and is asked about the last fifth as it is; five times over. A figure is of all classes and folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mixbayes.local_methods.classifiers import NEAREST_NEIGHBOUR, train
from mixbayes.local_methods.measures.detection import HIGH_IS_GOOD, Detection, confusion
from mixbayes.local_methods.measures.disclosure import (
    BINS,
    Unknown,
    attribute_disclosure,
    codes_of,
    cuts_of,
    draw_queries,
    reidentification,
)
from mixbayes.local_methods.measures.quartiles import Quartiles
from mixbayes.local_methods.measures.ranking import mann_whitney_ranks
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.sap.bore import Rules
from mixbayes.local_methods.sap.sap import ATTRIBUTES, CLASS, SAP, TEXT
from mixbayes.local_methods.tables import Codes, Floats, Nominal, nominal_from
from mixbayes.research.reproduction import public_tables as public
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.public_tables import PublicTable

PAPER = "Peters, Avoiding the destruction of data-mining utility in privacy preserving data publishing (2011)"
DEVIATIONS = "docs/deviations/sap.md"
FOLDS = 5
SHARES = (0.0, 0.1, 0.2, 0.3)
MEASURES = {"acc": "accuracy", "pd": "pd", "prec": "precision", "pf": "pf"}
CODES = {"sex", "cp", "fbs", "restecg", "exang", "slope", "thal"}
"""Attributes of the heart table whose numbers stand for names."""
LOWER_MEDIAN = "50 %, lower of two"
Quarters = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """A table, and the quartiles that the thesis has of it, in percent."""

    title: str
    table: PublicTable
    published: Mapping[str, Sequence[Quarters]]
    marked: str = ""
    """The figure marked ++, if any; every other of a release is marked 00."""
    one_against_the_rest: str = ""
    """The class that all others are taken together against, if any."""
    class_by_class: bool = False
    """Whether 1-NN is given the rows of one class after those of another: of rows equally near it takes the first."""
    bins: int = 0
    """If any, every attribute is one of names: numbers of many values are cut into so many bins of equal width."""

    def read(self, lab: Laboratory) -> Labelled:
        rows = labelled(lab.read(self.table), CODES)
        if self.bins:
            named = {at: as_names(rows.table.numbers([at])[:, 0], self.bins) for at in rows.table.numeric}
            rows = Labelled(rows.table.with_columns(named), rows.labels)
        if not self.one_against_the_rest:
            return rows
        others = rows.labels.values[rows.labels.codes] != self.one_against_the_rest
        two = Nominal(others.astype(np.int64), np.array([self.one_against_the_rest, "rest"]))
        return Labelled(rows.table, two)


def as_names(numbers: Floats, bins: int) -> Nominal:
    """Numbers as names: of a few values each is one, of many the bin of equal width."""
    missing = np.isnan(numbers)
    present = numbers[~missing]
    if len(np.unique(present)) > BINS:
        inner = np.linspace(present.min(), present.max(), bins + 1)[1:-1]
        numbers = np.searchsorted(inner, numbers, side="right").astype(np.float64)
    return nominal_from(numbers, missing)


BREAST_CANCER = {
    "acc": ((67, 74, 78), (67, 72, 77), (67, 71, 77), (65, 72, 75)),
    "pd": ((27, 53, 92), (24, 47, 91), (25, 47, 92), (23, 41, 90)),
    "prec": ((57, 67, 76), (50, 67, 76), (60, 69, 75), (55, 69, 76)),
    "pf": ((7, 17, 73), (8, 19, 75), (7, 19, 71), (10, 17, 73)),
}
HEART = {
    "acc": ((72, 75, 78), (71, 77, 78), (71, 77, 79), (72, 75, 79)),
    "pd": ((62, 76, 87), (62, 78, 86), (62, 78, 88), (63, 76, 86)),
    "prec": ((71, 75, 83), (69, 75, 81), (70, 78, 83), (70, 76, 82)),
    "pf": ((12, 22, 38), (13, 22, 38), (11, 22, 38), (11, 24, 37)),
}
MAMMOGRAPHY = {
    "acc": ((58, 60, 62), (59, 61, 64), (59, 61, 64), (60, 63, 66)),
    "pd": ((17, 30, 96), (21, 34, 96), (21, 48, 95), (25, 41, 95)),
    "prec": ((58, 63, 82), (58, 63, 82), (59, 69, 81), (60, 66, 82)),
    "pf": ((4, 11, 81), (4, 10, 79), (5, 10, 78), (5, 12, 74)),
}
MAMMOGRAPHY_MARKED = "acc, sap3"
VOTE = {
    "acc": ((90, 92, 95), (90, 92, 95), (90, 92, 94), (91, 92, 95)),
    "pd": ((88, 92, 96), (88, 92, 95), (88, 93, 96), (88, 92, 96)),
    "prec": ((89, 93, 96), (89, 93, 96), (88, 93, 95), (89, 94, 96)),
    "pf": ((4, 8, 11), (4, 8, 11), (4, 7, 12), (3, 8, 11)),
}
CASES = (
    Case("Breast Cancer", public.BREAST_CANCER_LJUBLJANA, BREAST_CANCER),
    Case(
        "Breast Cancer, class by class, as the appendix orders a release",
        public.BREAST_CANCER_LJUBLJANA,
        BREAST_CANCER,
        class_by_class=True,
    ),
    Case("Heart with the five classes of Figure 4.1", public.HEART_CLEVELAND, HEART),
    Case("Heart with two classes, 0 against the rest", public.HEART_CLEVELAND, HEART, one_against_the_rest="0"),
    Case(
        "Heart with two classes, class by class, all names, numbers in 10 bins",
        public.HEART_CLEVELAND,
        HEART,
        one_against_the_rest="0",
        class_by_class=True,
        bins=10,
    ),
    Case("Mammography on iris, which Figure 4.1 describes", public.IRIS, MAMMOGRAPHY, MAMMOGRAPHY_MARKED),
    Case("Mammography on the mammographic masses", public.MAMMOGRAPHIC, MAMMOGRAPHY, MAMMOGRAPHY_MARKED),
    *(
        Case(
            f"Mammography on the mammographic masses, class by class, all names, age in {bins} bins",
            public.MAMMOGRAPHIC,
            MAMMOGRAPHY,
            MAMMOGRAPHY_MARKED,
            class_by_class=True,
            bins=bins,
        )
        for bins in (10, 5)
    ),
    Case("Vote", public.VOTE, VOTE),
)
IN_THE_ORDER_OF_ROWS = tuple(case for case in CASES if not case.class_by_class)
CHARACTERISTICS = (
    ("Breast Cancer", public.BREAST_CANCER_LJUBLJANA, (286, 9, 2)),
    ("Heart (Cleveland)", public.HEART_CLEVELAND, (303, 13, 5)),
    ("Mammography, on iris", public.IRIS, (150, 4, 3)),
    ("Mammography, on the mammographic masses", public.MAMMOGRAPHIC, (150, 4, 3)),
    ("Vote", public.VOTE, (435, 16, 2)),
)


def figure_4_1(title: str, table: PublicTable, published: Quarters, lab: Laboratory) -> Iterator[Row]:
    rows = labelled(lab.read(table), CODES)
    names = ("instances", "attributes", "classes")
    measured = (rows.table.rows, len(rows.table.names), len(rows.labels.values))
    yield Row(title, dict(zip(names, published, strict=True)), dict(zip(names, measured, strict=True)))


def folds(rows: int, repeats: int) -> Iterator[tuple[Codes, Codes]]:
    """The rows to learn from and the rows to ask about, in a new order for each repeat."""
    for repeat in range(repeats):
        parts = np.array_split(np.random.default_rng(repeat).permutation(rows), FOLDS)
        for at in range(FOLDS):
            yield np.concatenate(parts[:at] + parts[at + 1 :]), parts[at]


def release(rows: Labelled, share: float, target: str, seed: int, follows: str = TEXT) -> Labelled:
    """What SAP makes of them; a share of 0 is the original."""
    if not share:
        return rows
    table, labels = SAP(p=share, target=target, follows=follows, random_state=seed).fit_resample(
        rows.table, rows.labels
    )
    return Labelled(table, labels)


Change = Callable[[Labelled, int], Labelled]
"""What is done to training rows, by the number of their fold."""


def found(case: Case, rows: Labelled, change: Change, repeats: int) -> dict[str, Floats]:
    """Every measure of 1-NN, of all folds and classes, where training rows are changed before they are learned from."""
    matrices = []
    for seed, (learn, asked) in enumerate(folds(rows.table.rows, repeats)):
        ordered = learn[np.argsort(rows.labels.codes[learn], kind="stable")] if case.class_by_class else learn
        released = change(rows.take(ordered), seed)
        matrices.append(_confusion(released.known(), rows.take(asked)))
    of_folds = Detection.of(np.array(matrices))
    return {short: getattr(of_folds, measure).ravel() for short, measure in MEASURES.items()}


def suppressing(share: float, target: str, rows: Labelled, seed: int) -> Labelled:
    return release(rows, share, target, seed)


def _confusion(learn: Labelled, asked: Labelled) -> Codes:
    labels = train(NEAREST_NEIGHBOUR, learn.table, learn.labels, seed=0)(asked.table)
    return confusion(asked.labels.codes, labels, len(asked.labels.values))


def nearest_neighbour(target: str, case: Case, lab: Laboratory) -> Iterator[Row]:
    """Quartiles of every measure, and their ranks. The thesis has numbers where classes are suppressed."""
    rows, of_share = case.read(lab), []
    for at, share in enumerate(SHARES, 1):
        change = partial(suppressing, share, target)
        of_share.append(found(case, rows, change, lab.times(5, 1)))
        lab.progress("shares", at, len(SHARES))
    for short in MEASURES:
        samples = [each[short] for each in of_share]
        ranks = mann_whitney_ranks(samples, high_is_good=HIGH_IS_GOOD[MEASURES[short]])
        for at, (sample, rank) in enumerate(zip(samples, ranks, strict=True)):
            published = _published(case, short, at) if target == CLASS else {}
            quartiles = Quartiles.of(sample)
            parts = (round(100 * part) for part in (quartiles.lower, quartiles.median, quartiles.upper))
            measured = {**_quarters(*parts), LOWER_MEDIAN: round(100 * lower_median(sample)), "rank": int(rank)}
            yield Row(f"{short}, sap{at}", published, measured)


def lower_median(values: Floats) -> float:
    """Of two values in the middle the lower one, which the published medians of pd and pf seem to be."""
    return float(np.quantile(values[~np.isnan(values)], 0.5, method="lower"))


def _published(case: Case, short: str, at: int) -> Figures:
    """With the mark that the thesis has at every release, and does not explain."""
    quarters = _quarters(*case.published[short][at])
    return {**quarters, "mark": "++" if f"{short}, sap{at}" == case.marked else "00"} if at else quarters


def _quarters(lower: int, median: int, upper: int) -> Figures:
    return {"25 %": lower, "50 %": median, "75 %": upper}


@dataclass(frozen=True)
class Asked:
    """A table, its releases by share, and the queries of an attacker."""

    rows: Labelled
    releases: Sequence[Labelled]
    codes: Sequence[Codes]
    queries: Codes
    target: str

    @staticmethod
    def of(rows: Labelled, target: str) -> Asked:
        cuts = cuts_of(rows.table)
        queries = draw_queries(codes_of(rows.table, cuts), np.random.default_rng(0))
        releases = [release(rows, share, target, 0) for share in SHARES]
        return Asked(rows, releases, [codes_of(each.table, cuts) for each in releases], queries, target)

    def certainty(self, unknown: Unknown) -> list[float]:
        """S1 or S2 of each release, by what was suppressed."""
        if self.target == ATTRIBUTES:
            return [reidentification(codes, self.queries, unknown) for codes in self.codes]
        pairs = zip(self.codes, self.releases, strict=True)
        return [attribute_disclosure(codes, each.labels.codes, self.queries, unknown) for codes, each in pairs]


def figure_4_4(case: Case, lab: Laboratory) -> Iterator[Row]:
    """Re-identification, what is suppressed for it, and what an attacker can put back."""
    asked = Asked.of(case.read(lab), ATTRIBUTES)
    for unknown in Unknown:
        yield Row(f"S1, ? a {unknown}", {}, by_share(asked.certainty(unknown)), f"{len(asked.queries)} queries")
    yield Row("share of cells suppressed", {}, by_share([_suppressed(asked.rows, each) for each in asked.releases]))
    back = by_share([restored(asked.rows, each) for each in asked.releases[1:]], SHARES[1:])
    yield Row("of these, put back by ranking the release", {}, back)


def figure_4_6(case: Case, lab: Laboratory) -> Iterator[Row]:
    asked = Asked.of(case.read(lab), CLASS)
    for unknown in Unknown:
        yield Row(f"S2, ? a {unknown}", {}, by_share(asked.certainty(unknown)), f"{len(asked.queries)} queries")
    found = by_share([predicted(asked.rows, each) for each in asked.releases[1:]], SHARES[1:])
    yield Row("of the suppressed classes, predicted by 1-NN from the release", {}, found)


def by_share(figures: Sequence[float], shares: Sequence[float] = SHARES) -> Figures:
    return {f"p = {share}" if share else "original": f for share, f in zip(shares, figures, strict=True)}


def _suppressed(rows: Labelled, released: Labelled) -> float:
    return float((released.table.missing() & ~rows.table.missing()).sum() / (~rows.table.missing()).sum())


def restored(rows: Labelled, released: Labelled) -> float:
    """Of the cells suppressed, those that held what the release still has as the critical value of their class."""
    gone = (released.table.missing() & ~rows.table.missing()).T
    guessed = Rules.of(released.table, released.labels).held(rows.table, rows.labels)
    return float(guessed[gone].mean())


def predicted(rows: Labelled, released: Labelled) -> float:
    """Of the suppressed classes, those that 1-NN finds from the rows of the release that have theirs."""
    gone = released.labels.missing
    learn = released.known()
    labels = train(NEAREST_NEIGHBOUR, learn.table, learn.labels, seed=0)(released.table.take(gone))
    return float((labels == rows.labels.codes[gone]).mean())


def _parts(run: Callable[[Case, Laboratory], Iterator[Row]], cases: Sequence[Case]) -> list[Part]:
    return [Part(case.title, [case.table], partial(run, case)) for case in cases]


QUICK = "one round of five folds instead of five"
EXPERIMENTS = (
    Experiment(
        "sap-figure-4.1",
        "Figure 4.1: the data sets",
        PAPER,
        [Part(title, [table], partial(figure_4_1, title, table, shape)) for title, table, shape in CHARACTERISTICS],
        "what Figure 4.1 calls mammography has the rows, attributes and classes of iris",
        DEVIATIONS,
    ),
    Experiment(
        "sap-figure-4.4",
        "Figure 4.4: re-identification, S1",
        PAPER,
        _parts(figure_4_4, IN_THE_ORDER_OF_ROWS),
        "the figure is a drawing; what '?' is to an attacker is not told",
        DEVIATIONS,
    ),
    Experiment(
        "sap-figure-4.5",
        "Figure 4.5: 1-NN where attributes are suppressed",
        PAPER,
        _parts(partial(nearest_neighbour, ATTRIBUTES), IN_THE_ORDER_OF_ROWS),
        "the figure is a drawing; the distance of 1-NN is not told",
        DEVIATIONS,
        QUICK,
    ),
    Experiment(
        "sap-figure-4.6",
        "Figure 4.6: attribute disclosure, S2",
        PAPER,
        _parts(figure_4_6, IN_THE_ORDER_OF_ROWS),
        "the figure is a drawing; what '?' is to an attacker is not told",
        DEVIATIONS,
    ),
    Experiment(
        "sap-figure-4.7",
        "Figure 4.7: 1-NN where classes are suppressed",
        PAPER,
        _parts(partial(nearest_neighbour, CLASS), CASES),
        "the distance and the order of rows are not told; Heart has two classes here, not five, and Mammography is "
        "most probably the mammographic mass table, not the one that Figure 4.1 describes",
        DEVIATIONS,
        QUICK,
    ),
)
