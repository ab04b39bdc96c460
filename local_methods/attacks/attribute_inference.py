"""What the release tells of a member beyond what it tells of anybody: an attribute is guessed from all others.

The guess is the cell of the released row that is nearest in the other attributes. Statistics of the population help
with members and with others alike; the difference is what the release tells about those who were in it.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from mixbayes.local_methods.attacks.people import Estimate, People, difference
from mixbayes.local_methods.measures.disclosure import codes_of, cuts_of
from mixbayes.local_methods.tables import MISSING, Codes, Floats


def attribute_inference(people: People) -> tuple[Estimate, Estimate]:
    """The gain, and the share that is guessed rightly of people who were not in the table.

    Numbers are guessed to their tenth, or exactly where there are at most ten.
    """
    inside, outside = guessed(people)
    return difference(inside, outside), difference(outside, np.zeros(2))


def guessed(people: People) -> tuple[Floats, Floats]:
    """Of each member and of each of the others, the share of the attributes that is guessed rightly."""
    members, others, released, columns = people.points()
    cuts = cuts_of(people.members)
    of_members, of_others, of_released = (
        codes_of(table, cuts) for table in (people.members, people.others, people.released)
    )
    return (
        _right(members, of_members, released, of_released, columns),
        _right(others, of_others, released, of_released, columns),
    )


def _right(people: Floats, cells: Codes, released: Floats, guesses: Codes, columns: Codes) -> Floats:
    """Of each person, the share of the attributes that is guessed rightly."""
    whole = cdist(people, released, "sqeuclidean")
    right = np.full(cells.shape, np.nan)
    for column in range(len(cells)):
        own = columns == column
        near = (whole - cdist(people[:, own], released[:, own], "sqeuclidean")).argmin(axis=1)
        known = cells[column] != MISSING
        right[column, known] = (guesses[column][near] == cells[column])[known]
    return np.nansum(right, axis=0) / np.maximum(np.count_nonzero(~np.isnan(right), axis=0), 1)
