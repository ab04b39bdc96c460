"""Rows dealt out to folds, each class evenly."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.tables import Codes


def fold_of_rows(labels: Codes, folds: int, random: np.random.Generator) -> Codes:
    """The fold of each row; no more folds than rows."""
    order = random.permutation(len(labels))
    order = order[labels[order].argsort(kind="stable")]
    fold = np.empty(len(labels), np.int64)
    fold[order] = np.arange(len(labels)) % min(folds, len(labels))
    return fold
