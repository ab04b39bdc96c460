"""A method is tried on a part of the table, so that there are people of the same kind who were not in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.attacks.attribute_inference import attribute_inference
from mixbayes.local_methods.attacks.membership import membership
from mixbayes.local_methods.attacks.people import Measured, People, pooled
from mixbayes.local_methods.tables import Nominal, Table

Protect = Callable[[Table, Nominal | None], tuple[Table, Nominal | None]]
"""The method with its settings: the released table and its classes."""

TIMES = 4
"""The table is halved so often; either half is protected once."""


@dataclass(frozen=True)
class OfPeople:
    """What a release tells about those who were in the table."""

    membership: Measured
    attribute_inference: Measured
    anybody: Measured
    """The share of attributes that the release tells of people who were not in the table."""

    @staticmethod
    def of(people: People) -> OfPeople:
        gain, anybody = attribute_inference(people)
        return OfPeople(membership(people), gain, anybody)


def rehearsed(table: Table, labels: Nominal | None, protect: Protect, seed: int, times: int = TIMES) -> OfPeople:
    """The mean over halvings of the table, each half protected with the other held out."""
    random, found = np.random.default_rng(seed), []
    for _ in range(times):
        order = random.permutation(table.rows)
        for inside, outside in _halves(order):
            inside.sort()
            released = with_class(*protect(table.take(inside), labels.take(inside) if labels else None))
            whole = with_class(table, labels)
            found.append(OfPeople.of(People.of(whole.take(inside), whole.take(outside), released, seed)))
    names = ("membership", "attribute_inference", "anybody")
    return OfPeople(*(pooled([getattr(each, name) for each in found]) for name in names))


def _halves(order: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    one, other = order[: len(order) // 2].copy(), order[len(order) // 2 :].copy()
    return [(one, other), (other.copy(), one.copy())]


def with_class(table: Table, labels: Nominal | None) -> Table:
    """The class as one more column, if there is one."""
    if labels is None:
        return table
    return Table((*table.names, "class"), (*table.columns, labels), table.rows)
