"""The classifiers of several projections as one (the paper's Procedure 3).

The likeliest class has the largest Π_k P(y | projection k) / P(y)^(w−1), Laplace-corrected: (n_y + 1)/(n + classes).
The paper does not correct P(y); without it a class that a fold has no row of would be divided by zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from mixbayes.local_methods.arithmetic.logarithms import log
from mixbayes.local_methods.tables import Codes, Floats


def log_laplace(counts: Codes | Floats) -> Floats:
    """The logarithm of the corrected shares of the last axis."""
    classes = counts.shape[-1]
    return log(counts + 1) - log(counts.sum(axis=-1, keepdims=True) + classes)


def combined(log_posteriors: Sequence[Floats], log_prior: Floats) -> Floats:
    """The logarithm of the product, up to what all classes have in common. Without projections it is the prior."""
    return sum(log_posteriors, -(len(log_posteriors) - 1) * log_prior)
