"""What attributes of numbers share: how their cells are read."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.attributes.cells import Texts, missing, numbers
from mixbayes.protocol.attributes.kind import Kind, Reading


def read_as_numbers(attribute: Kind, cells: Texts) -> Reading:
    """Texts as the attribute reads the numbers in them; a text that says something else is foreign."""
    values = numbers(cells)
    codes, _, beyond = attribute.read_numbers(values)
    return Reading(codes, np.isnan(values) & ~missing(cells), beyond)


def not_numbers(foreign: Texts) -> str:
    """Why these cells do not fit, and what to write instead."""
    with_comma = ~np.isnan(numbers(np.char.replace(foreign, ",", ".")))
    remedies = [
        *(["Write decimal points, not commas"] if with_comma.any() else []),
        *(["Write numbers without units, and leave missing cells empty"] if not with_comma.all() else []),
    ]
    return ". ".join(["not a number", *remedies])
