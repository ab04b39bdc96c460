"""l-diversity: how many sensitive values people who look alike have between them.

A. Machanavajjhala, J. Gehrke, D. Kifer and M. Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, ACM
Transactions on Knowledge Discovery from Data 1(1), 2007.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.arithmetic.logarithms import log
from mixbayes.local_methods.measures.sensitive import Sensitive


def distinct_l(sensitive: Sensitive) -> int | None:
    """The fewest different values that a group has. With 1, who is known to be in that group has no secret."""
    return None if sensitive.empty else int(np.bincount(sensitive.groups).min())


def entropy_l(sensitive: Sensitive) -> float | None:
    """The exponential of the smallest entropy of a group: this number of equally frequent values has the same entropy.

    At most `distinct_l`, and less if some values of a group are rare.
    """
    if sensitive.empty:
        return None
    shares = sensitive.shares()
    return float(np.exp(np.bincount(sensitive.groups, -shares * log(shares)).min()))
