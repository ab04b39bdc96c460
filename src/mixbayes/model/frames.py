"""Tables as scientific libraries hold them, as the texts of a CSV file."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.tables import Column, Numeric
from mixbayes.protocol.attributes.cells import Texts, spelled


def texts_of(column: Column) -> Texts:
    """The cells of a column, as a hospital's file would hold them."""
    if isinstance(column, Numeric):
        texts = spelled(column.numbers)
    else:
        texts = np.array([str(value) for value in column.cells().tolist()], np.str_)
    return np.where(column.missing, "?", texts)
