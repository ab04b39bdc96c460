"""Rows that lost a single cell are taken for rows that would have been a patient's: what is left of them is claimed."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView

FEW = 0.1
"""If more rows than this share have a gap, gaps are nothing special."""


def by_suppressed_cells(seen: AttackersView) -> Claims:
    """Claim the other cells of these rows."""
    gaps = np.isnan(seen.cells).sum(axis=1)
    rows = np.flatnonzero(gaps == 1) if (gaps > 0).mean() <= FEW else np.empty(0, np.intp)
    return Claims(seen.rounded()[rows])
