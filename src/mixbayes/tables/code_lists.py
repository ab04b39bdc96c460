"""The dictionary's values of a column whose cells hold several, as a list of diagnoses."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.attributes.cells import MISSING, Texts, in_order
from mixbayes.protocol.attributes.several import MOST_VALUES, NONE, SEPARATOR, entries_of
from mixbayes.protocol.errors import BadData


def listed_values(name: str, cells: Texts, separator: str = SEPARATOR, none: str = NONE) -> list[str]:
    """What the cells of the column of this name list, in the dictionary's order. Each different cell is enough, once.

    `none` is no value: a column in which nobody has any gives an empty list.
    """
    entries, _ = entries_of(cells, separator)
    values: list[str] = in_order(np.array(list({*entries} - {*MISSING, none}), np.str_)).tolist()
    if len(values) > MOST_VALUES:
        raise BadData(
            f"Column {name!r} has {len(values)} different values between {separator!r}; at most {MOST_VALUES} are "
            "possible. Keep the first characters of codes (I10 for I10.90), or the values that most patients have; a "
            f"patient with none of these has {none!r}."
        )
    return values
