"""The breast-cancer table that scikit-learn carries, for a first run without any file."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from mixbayes.tables.columns import Columns


def breast_cancer() -> Columns:
    """569 biopsies, 30 measurements and a `class` of malignant or benign (Wisconsin, 1995)."""
    from sklearn.datasets import load_breast_cancer  # slow to import, and only needed here

    bunch = cast("Any", load_breast_cancer())
    cells = (*bunch.data.astype(np.str_).T, bunch.target_names[bunch.target].astype(np.str_))
    return Columns.of((*map(str, bunch.feature_names), "class"), cells, len(bunch.target))
