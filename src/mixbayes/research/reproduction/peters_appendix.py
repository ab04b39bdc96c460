"""Peters, Figures A.3 and A.4: what the printed code of SAP releases, beside what the text says that it does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from mixbayes.local_methods.classifiers import NEAREST_NEIGHBOUR, train
from mixbayes.local_methods.measures.disclosure import Unknown, codes_of, cuts_of, draw_queries, reidentification
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.sap.sap import APPENDIX, ATTRIBUTES, CLASS, TEXT
from mixbayes.local_methods.tables import MISSING, Codes, Nominal, Table
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.peters import (
    DEVIATIONS,
    IN_THE_ORDER_OF_ROWS,
    PAPER,
    QUICK,
    SHARES,
    Case,
    by_share,
    folds,
    release,
)


def appendix(case: Case, lab: Laboratory) -> Iterator[Row]:
    rows = case.read(lab)
    for follows in (TEXT, APPENDIX):
        suppressed = [int(release(rows, share, CLASS, 0, follows).labels.missing.sum()) for share in SHARES]
        yield Row(f"S2, classes suppressed, the {follows}", {}, by_share(suppressed))
    for unknown in Unknown:
        yield Row(f"S1 of the code, ? a {unknown}", {}, by_share(certainty(rows, unknown)))
    accuracies = [accuracy(rows, share, lab.times(5, 1)) for share in SHARES[1:]]
    commonest = f"the commonest class alone: {rows.labels.counts().max() / len(rows.labels):.3f}"
    yield Row("1-NN from what the code releases", {}, by_share(accuracies, SHARES[1:]), commonest)


def certainty(rows: Labelled, unknown: Unknown) -> list[float]:
    """S1 of the original, and of what the code makes of it."""
    codes = codes_of(rows.table, cuts_of(rows.table))
    queries = draw_queries(codes, np.random.default_rng(0))
    releases = [release(rows, share, ATTRIBUTES, 0, APPENDIX) for share in SHARES[1:]]
    return [reidentification(each, queries, unknown) for each in (codes, *(answers(one.table) for one in releases))]


def answers(released: Table) -> Codes:
    """The codes that an attacker finds: a class where a value is asked for is a value that nobody asks for."""
    never = np.iinfo(np.int64).max
    return np.where(released.missing().T, MISSING, never)


def accuracy(rows: Labelled, share: float, repeats: int) -> float:
    """Of 1-NN that learns from copies of the class and is asked about rows as they are."""
    found = []
    for seed, (learn, asked) in enumerate(folds(rows.table.rows, repeats)):
        released = release(rows.take(learn), share, ATTRIBUTES, seed, APPENDIX)
        predict = train(NEAREST_NEIGHBOUR, released.table, released.labels, seed)
        found.append((predict(foreign(released, len(asked))) == rows.labels.codes[asked]).mean())
    return float(np.mean(found))


def foreign(released: Labelled, rows: int) -> Table:
    """Rows as the release sees the original's: in each column a value that it has nowhere."""
    values = np.append(released.labels.values, "a value of the attribute")
    column = Nominal(np.full(rows, len(values) - 1, np.int64), values)
    return Table(released.table.names, (column,) * len(released.table.names), rows)


EXPERIMENTS = (
    Experiment(
        "sap-appendix",
        "Figures A.3 and A.4: what the printed code releases",
        PAPER,
        [Part(case.title, [case.table], partial(appendix, case)) for case in IN_THE_ORDER_OF_ROWS],
        "the thesis has no figures of the code; by it an S1 release has the class in the place of every attribute",
        DEVIATIONS,
        QUICK,
    ),
)
