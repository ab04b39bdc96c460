"""A table column by column: what each counts as, what is in it, and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mixbayes.tables.doubts import column_doubts, predicted
from mixbayes.tables.inference import DEFAULT_CLASS_COLUMN, NO_LISTS, class_of, looks_numeric
from mixbayes.tables.profile import ColumnProfile, Profile

MOST_SHOWN = 5
CLASS, EMPTY, TEXT = "class", "empty", "text"
NUMERIC, BINNED, NOMINAL, SEVERAL = "numeric", "binned", "nominal", "several"


@dataclass(frozen=True)
class InspectedColumn:
    """One column. Values are quoted: this is for whoever may see the table."""

    name: str
    kind: str
    """`class`, a kind of attribute, `empty`, or `text` for what has too many values to be counted."""
    distinct: int
    complete: bool
    """Whether `distinct` is all; else there are more."""
    missing: int
    low: float | None
    high: float | None
    most_frequent: list[tuple[str, int]] = field(repr=False)
    """Values that more than one row has, with the number of rows."""
    doubts: list[str]


@dataclass(frozen=True)
class Inspected:
    """The whole table."""

    rows: int
    class_column: str
    guessed: bool
    """Whether the class is the last column, because nobody named it and none is called `class`."""
    columns: list[InspectedColumn]


def inspected(
    profile: Profile,
    class_column: str | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    bins: int | None = None,
    several: Mapping[str, str] = NO_LISTS,
) -> Inspected:
    """The table as `infer` would take it."""
    label = class_of(profile.names, class_column)
    guessed = class_column is None and label != DEFAULT_CLASS_COLUMN
    of_numbers = BINNED if bins else NUMERIC
    kinds = {
        **dict.fromkeys(nominal, NOMINAL),
        **dict.fromkeys(numeric, of_numbers),
        **dict.fromkeys(several, SEVERAL),
        label: CLASS,
    }
    columns = [_column(one, kinds.get(one.name), of_numbers, guessed) for one in profile.columns.values()]
    return Inspected(profile.rows, label, guessed, columns)


def _column(one: ColumnProfile, said: str | None, of_numbers: str, guessed: bool) -> InspectedColumn:
    """`said` is the kind, if anybody has said it."""
    doubts = [] if said == SEVERAL else list(column_doubts([one], said in (NOMINAL, CLASS), said == of_numbers))
    kind = said or _kind(one, of_numbers)
    if kind == CLASS:
        doubts += _doubts_of_class(one, guessed)
    low, high = one.range or (None, None)
    return InspectedColumn(
        one.name, kind, one.values.size, one.complete, one.missing, low, high, _most_frequent(one), doubts
    )


def _kind(one: ColumnProfile, of_numbers: str) -> str:
    """What a column counts as if nothing is said of it."""
    if not one.present:
        return EMPTY
    if looks_numeric(one):
        return of_numbers
    return NOMINAL if one.complete else TEXT


def _doubts_of_class(one: ColumnProfile, guessed: bool) -> Sequence[str]:
    missing = [f"has no class in {one.missing} rows, which nobody can count"] if one.missing else []
    return [*missing, *([predicted(one)] if guessed and predicted(one) else [])]


def _most_frequent(one: ColumnProfile) -> list[tuple[str, int]]:
    if not one.complete:
        return []
    order = np.lexsort((one.values, -one.counts))[:MOST_SHOWN]
    return [(str(one.values[at]), int(one.counts[at])) for at in order if one.counts[at] > 1]
