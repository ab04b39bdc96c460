"""Peters, section 2.5: a score that combines information loss and disclosure risk by their average (after Torra).

The thesis does not use it. Here loss is the share of 1-NN's accuracy that is lost, and risk is S1 where attributes are
suppressed and S2 where classes are, with "?" a wildcard. A smaller score is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.local_methods.sap.sap import ATTRIBUTES, CLASS
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.peters import (
    DEVIATIONS,
    IN_THE_ORDER_OF_ROWS,
    PAPER,
    QUICK,
    SHARES,
    Asked,
    Case,
    by_share,
    found,
    suppressing,
)


def averaged(losses: Sequence[float], risks: Sequence[float]) -> list[float]:
    return [(loss + risk) / 2 for loss, risk in zip(losses, risks, strict=True)]


def scores(case: Case, lab: Laboratory) -> Iterator[Row]:
    rows = case.read(lab)
    for target in (ATTRIBUTES, CLASS):
        samples = [found(case, rows, partial(suppressing, share, target), lab.times(5, 1))["acc"] for share in SHARES]
        accuracies = [float(np.mean(sample)) for sample in samples]
        losses = [1 - accuracy / accuracies[0] for accuracy in accuracies]
        risks = Asked.of(rows, target).certainty(Unknown.WILDCARD)
        for what, figures in (("loss", losses), ("risk", risks), ("score", averaged(losses, risks))):
            yield Row(f"{target} suppressed, {what}", {}, by_share(figures))


EXPERIMENTS = (
    Experiment(
        "sap-score",
        "Section 2.5: the average of information loss and disclosure risk",
        PAPER,
        [Part(case.title, [case.table], partial(scores, case)) for case in IN_THE_ORDER_OF_ROWS],
        "the thesis names the score and does not compute it",
        DEVIATIONS,
        QUICK,
    ),
)
