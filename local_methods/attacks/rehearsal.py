"""A method is tried on a part of the table, so that there are people of the same kind who were not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.attacks.attribute_inference import attribute_inference
from mixbayes.local_methods.attacks.membership import membership
from mixbayes.local_methods.attacks.people import Estimate, People, pooled
from mixbayes.local_methods.tables import Codes, Indices, Mask, Nominal, Table

Protect = Callable[[Table, Nominal | None], tuple[Table, Nominal | None]]
"""The method with its settings: the released table and its classes."""

TIMES = 4
"""The table is halved so often; either half is protected once."""

CLASS = "class"


@dataclass(frozen=True)
class OfPeople:
    """What a release tells about those who were in the table."""

    membership: Estimate
    attribute_inference: Estimate
    anybody: Estimate
    """The share of attributes that the release tells of people who were not in the table."""

    @staticmethod
    def of(people: People) -> OfPeople:
        gain, anybody = attribute_inference(people)
        return OfPeople(membership(people), gain, anybody)

    @staticmethod
    def mean(found: list[OfPeople]) -> OfPeople:
        names = ("membership", "attribute_inference", "anybody")
        return OfPeople(*(pooled([getattr(each, name) for each in found]) for name in names))


def rehearsed(table: Table, labels: Nominal | None, protect: Protect, seed: int, times: int = TIMES) -> OfPeople:
    """The mean over halvings of the table, each half protected with the other held out.

    A half has fewer rows than the table, so that the method hides its people a little less than those of the table.
    """
    found, whole = [], with_class(table, labels)
    for inside, outside in halves(table.rows, labels, seed, times):
        released = with_class(*protect(table.take(inside), labels.take(inside) if labels else None))
        found.append(OfPeople.of(People.of(whole.take(inside), whole.take(outside), released, seed)))
    return OfPeople.mean(found)


def halves(rows: int, labels: Nominal | None, seed: int, times: int) -> Iterator[tuple[Indices, Indices]]:
    """The rows that are protected and those that are held out; each half is both once."""
    random = np.random.default_rng(seed)
    for _ in range(times):
        half = _half(labels.codes if labels else np.zeros(rows, np.int64), random)
        one, other = np.flatnonzero(half), np.flatnonzero(~half)
        yield one, other
        yield other, one


def _half(codes: Codes, random: np.random.Generator) -> Mask:
    """A random half of the rows, and of every class."""
    order = np.lexsort((random.random(len(codes)), codes))
    half: Mask = np.zeros(len(codes), bool)
    half[order[::2]] = True
    return half


def with_class(table: Table, labels: Nominal | None) -> Table:
    """The class as one more column, if there is one."""
    if labels is None:
        return table
    return Table((*table.names, CLASS), (*table.columns, labels), table.rows)
