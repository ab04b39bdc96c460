"""Peters, section 4.4: the class of 10 % of the training rows is changed at random, and 1-NN learns from them.

The text describes this for another method, CLIFF, which it calls robust: "in some cases such as the pd results for bc
the pds can degrade by as little as 1%". Here it is done for 1-NN alone and for SAP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from mixbayes.local_methods.measures.quartiles import Quartiles
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.sap.sap import ATTRIBUTES, CLASS
from mixbayes.local_methods.tables import Nominal
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.peters import (
    DEVIATIONS,
    IN_THE_ORDER_OF_ROWS,
    MEASURES,
    PAPER,
    QUICK,
    Case,
    Change,
    found,
    suppressing,
)

NOISE = 0.1
OTHER_DRAWS = 1
LARGEST_SHARE = 0.3
METHODS: Mapping[str, Change] = {
    "original": partial(suppressing, 0.0, CLASS),
    f"attributes suppressed, p = {LARGEST_SHARE}": partial(suppressing, LARGEST_SHARE, ATTRIBUTES),
    f"classes suppressed, p = {LARGEST_SHARE}": partial(suppressing, LARGEST_SHARE, CLASS),
}


def noisy(rows: Labelled, seed: int) -> Labelled:
    """The rows, of which one in ten has another class, any other as likely.

    From the seed alone SAP would draw the same rows again and suppress just the classes that are changed here.
    """
    random = np.random.default_rng([OTHER_DRAWS, seed])
    codes, classes = rows.labels.codes.copy(), len(rows.labels.values)
    changed = random.permutation(len(codes))[: round(NOISE * len(codes))]
    codes[changed] = (codes[changed] + random.integers(1, classes, len(changed))) % classes
    return Labelled(rows.table, Nominal(codes, rows.labels.values))


def after_noise(change: Change, rows: Labelled, seed: int) -> Labelled:
    return change(noisy(rows, seed), seed)


def class_noise(case: Case, lab: Laboratory) -> Iterator[Row]:
    """Medians, in percent, from training rows as they are and from noisy ones."""
    rows = case.read(lab)
    for at, (name, change) in enumerate(METHODS.items()):
        for kind, changed in (("clean", change), ("noisy", partial(after_noise, change))):
            samples = found(case, rows, changed, lab.times(5, 1))
            yield Row(f"{name}, {kind}", {}, {short: 100 * Quartiles.of(samples[short]).median for short in MEASURES})
        lab.progress("methods", at + 1, len(METHODS))


EXPERIMENTS = (
    Experiment(
        "sap-class-noise",
        "Section 4.4: 1-NN where 10 % of the training rows have another class; medians in percent",
        PAPER,
        [Part(case.title, [case.table], partial(class_noise, case)) for case in IN_THE_ORDER_OF_ROWS],
        "the thesis describes this for another method and has no readable figures",
        DEVIATIONS,
        QUICK,
    ),
)
