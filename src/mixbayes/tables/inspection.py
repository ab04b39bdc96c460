"""A table column by column: what each counts as, what is in it, and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mixbayes.protocol.attributes.cells import MISSING
from mixbayes.protocol.attributes.several import entries_of
from mixbayes.tables.doubts import column_doubts, doubts_of_lists, is_constant, is_empty, predicted
from mixbayes.tables.inference import (
    DEFAULT_CLASS_COLUMN,
    NO_LISTS,
    class_of,
    looks_numeric,
    refuse_both,
    refuse_unknown,
)
from mixbayes.tables.profile import ColumnProfile, Profile

MOST_SHOWN = 5
NO_ROWS = "there are no rows below the header"
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
    doubts: list[str]
    """About the table as a whole."""


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
    refuse_unknown([name for name in profile.names if name != label], [*nominal, *numeric, *several])
    refuse_both({"nominal": nominal, "numeric": numeric, "of several values": several})
    guessed = class_column is None and label != DEFAULT_CLASS_COLUMN
    of_numbers = BINNED if bins else NUMERIC
    kinds = {
        **dict.fromkeys(nominal, NOMINAL),
        **dict.fromkeys(numeric, of_numbers),
        **dict.fromkeys(several, SEVERAL),
        label: CLASS,
    }
    columns = [
        _of_lists(one, several[one.name])
        if one.name in several
        else _column(one, kinds.get(one.name), of_numbers, guessed)
        for one in profile.columns.values()
    ]
    return Inspected(profile.rows, label, guessed, columns, [] if profile.rows else [NO_ROWS])


def _column(one: ColumnProfile, said: str | None, of_numbers: str, guessed: bool) -> InspectedColumn:
    """`said` is the kind, if anybody has said it."""
    kind = said or _kind(one, of_numbers)
    doubts = list(column_doubts([one], said in (NOMINAL, CLASS), said == of_numbers))
    doubts += _doubts_of_class(one, guessed) if kind == CLASS else _without_information(one)
    low, high = one.range or (None, None)
    return InspectedColumn(
        one.name, kind, one.values.size, one.complete, one.missing, low, high, _most_frequent(one), doubts
    )


def _of_lists(one: ColumnProfile, separator: str) -> InspectedColumn:
    """A column whose cells hold several values: each of them counts in the rows that list it."""
    single = _taken_apart(one, separator)
    doubts = [*_without_information(one), *doubts_of_lists(single.values)]
    return InspectedColumn(
        one.name, SEVERAL, single.values.size, one.complete, one.missing, None, None, _most_frequent(single), doubts
    )


def _taken_apart(one: ColumnProfile, separator: str) -> ColumnProfile:
    """The single values, each with the rows that have it."""
    entries, cells = entries_of(one.values, separator)
    listed = {(entry, cell) for entry, cell in zip(entries, cells.tolist(), strict=True) if entry not in MISSING}
    found = dict.fromkeys(sorted({entry for entry, _ in listed}), 0)
    for entry, cell in listed:
        found[entry] += int(one.counts[cell])
    return replace(one, values=np.array(list(found), np.str_), counts=np.array(list(found.values()), np.int64))


def _kind(one: ColumnProfile, of_numbers: str) -> str:
    """What a column counts as if nothing is said of it."""
    if not one.present:
        return EMPTY
    if looks_numeric(one):
        return of_numbers
    return NOMINAL if one.complete else TEXT


def _without_information(one: ColumnProfile) -> Iterator[str]:
    if is_empty(one):
        yield "is empty, and left out"
    if is_constant(one):
        yield "is the same in every row, and tells nothing"


def _doubts_of_class(one: ColumnProfile, guessed: bool) -> Iterator[str]:
    if one.missing:
        many = one.missing > 1
        first = "" if one.first_missing is None else f" ({'first ' * many}row {one.first_missing + 1} below the header)"
        yield f"has no class in {one.missing} row{'s' * many}{first}, which nobody can count"
    if one.values.size == 1:
        yield (
            "is the same in every row, and a classifier needs two classes: is it the class? `--class-column` names "
            "another"
        )
    if guessed and predicted(one):
        yield predicted(one)


def _most_frequent(one: ColumnProfile) -> list[tuple[str, int]]:
    if not one.complete:
        return []
    order = np.lexsort((one.values, -one.counts))[:MOST_SHOWN]
    return [(str(one.values[at]), int(one.counts[at])) for at in order if one.counts[at] > 1]
