"""Whether a classifier keeps its accuracy when it learns from a release: ΔR of Li and Xi, section 3.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mixbayes.local_methods.classifiers import NEAREST_NEIGHBOUR, SVM, TREE
from mixbayes.local_methods.measures.utility import Accuracy

TOLERANCE = 0.02
"""The paper's ε: the share of its accuracy that a classifier may lose. Differential privacy calls another number so."""

ASKED = (TREE, NEAREST_NEIGHBOUR, SVM)
"""The classifiers of the paper, all of which must keep their utility; naive Bayes is not among them."""

DIGITS = 12
"""A loss of just the tolerance is no loss, whatever the last digits of a product say."""


@dataclass(frozen=True)
class KeptUtility:
    """ΔR of each classifier, None where a table has no accuracy."""

    tolerance: float
    delta_r: Mapping[str, float | None]

    @staticmethod
    def of(utility: Mapping[str, Accuracy], tolerance: float = TOLERANCE) -> KeptUtility:
        """By the accuracies of each classifier."""
        return KeptUtility(tolerance, {name: _delta_r(each, tolerance) for name, each in utility.items()})

    @property
    def kept(self) -> dict[str, bool | None]:
        """Whether each keeps its utility."""
        return {name: None if delta is None else round(delta, DIGITS) >= 0 for name, delta in self.delta_r.items()}

    @property
    def by_all(self) -> bool | None:
        """The paper's verdict: whether all of its three do; None where one of them has no ΔR."""
        verdicts = [self.kept[name] for name in ASKED]
        return None if None in verdicts else all(verdicts)


def _delta_r(accuracy: Accuracy, tolerance: float) -> float | None:
    if accuracy.original is None or accuracy.released is None:
        return None
    return delta_r(accuracy.original, accuracy.released, tolerance)


def delta_r(original: float, released: float, tolerance: float = TOLERANCE) -> float:
    """R_p − (1 − ε) R_o: not below zero where utility is kept."""
    return released - (1 - tolerance) * original
