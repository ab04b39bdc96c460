"""Re-identification (S1) and attribute disclosure (S2) by random queries: Peters, section 4.2.

Here a table is an array of codes with a row for each column, and MISSING is a cell that says nothing. Queries have a
row each, in which MISSING stands for a column that the attacker knows nothing of.

A row with a missing cell in a column that is asked about can be read in two ways: as a candidate, because the cell may
hold the value (`Unknown.WILDCARD`), or as none (`Unknown.NO_MATCH`). Suppressing cells makes more candidates in the
first reading and fewer in the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Nominal, Table

BINS = 10
PATIENCE = 100
MOST_QUERIES = 1000


class Unknown(StrEnum):
    """What a missing cell is to a query that asks about it."""

    WILDCARD = "wildcard"
    NO_MATCH = "no-match"


def codes_of(table: Table, cuts: Sequence[Floats]) -> Codes:
    """What an attacker can ask of a table: values of nominal columns, bins of numeric ones, as `cuts_of` has them."""
    coded = [_codes(column, cut) for column, cut in zip(table.columns, cuts, strict=True)]
    return np.array(coded, np.int64).reshape(len(coded), table.rows)


def cuts_of(table: Table) -> list[Floats]:
    """The cuts between the bins of each numeric column: as many rows in each of ten, or a bin for each of few values.

    The paper's data are discrete. Asked for the very number, a release that moves every number a little would never
    answer, although it tells nearly all.
    """
    return [np.empty(0) if isinstance(column, Nominal) else _cuts(column.numbers) for column in table.columns]


def _cuts(numbers: Floats) -> Floats:
    present = numbers[~np.isnan(numbers)]
    distinct = np.unique(present)
    if len(distinct) <= BINS:
        return distinct[1:]
    return np.unique(np.quantile(present, np.arange(1, BINS) / BINS))


def _codes(column: Column, cuts: Floats) -> Codes:
    if isinstance(column, Nominal):
        return column.codes
    return np.where(column.missing, MISSING, np.searchsorted(cuts, column.numbers, side="right"))


def draw_queries(
    table: Codes, random: np.random.Generator, *, patience: int = PATIENCE, most: int = MOST_QUERIES
) -> Codes:
    """What attackers may know: some values of somebody in the table, no two of them the same.

    The drawing stops as the paper says, after `patience` queries in a row that add nothing, and also at `most`:
    a wide table has more combinations than anybody waits for.
    """
    found: dict[tuple[int, ...], None] = {(MISSING,) * len(table): None}  # who is all missing is nobody to ask about
    idle = 0
    while table.size and idle < patience and len(found) <= most:
        before = len(found)
        found.setdefault(_draw_query(table, random))
        idle = 0 if len(found) > before else idle + 1
    return np.array(list(found), np.int64)[1:]


def _draw_query(table: Codes, random: np.random.Generator) -> tuple[int, ...]:
    somebody = table[:, random.integers(table.shape[1])]
    known = np.flatnonzero(somebody != MISSING)
    query = np.full(len(table), MISSING)
    if len(known):
        asked = random.permutation(known)[: random.integers(1, len(known) + 1)]
        query[asked] = somebody[asked]
    return tuple(query.tolist())


def reidentification(table: Codes, queries: Codes, unknown: Unknown) -> float:
    """The mean over queries of one over the number of rows that match; nobody is found where none does."""
    return _mean([1 / len(rows) if len(rows) else 0.0 for rows in _answers(table, queries, unknown)])


def attribute_disclosure(table: Codes, sensitive: Codes, queries: Codes, unknown: Unknown) -> float:
    """The mean over queries of the share that the commonest sensitive value has among the rows that match.

    The paper gives a probability for each value, P(S2|a); an attacker bets on the largest. A missing sensitive value
    counts among the rows that match and speaks for no value, whatever it is to the query. No row, no disclosure.
    """
    return _mean([_largest_share(sensitive[rows]) for rows in _answers(table, queries, unknown)])


def _answers(table: Codes, queries: Codes, unknown: Unknown) -> Iterator[NDArray[np.intp]]:
    """For each query the rows that match; one query at a time, so that the work needs a column's memory."""
    for query in queries:
        rows = np.arange(table.shape[1])
        for column in np.flatnonzero(query != MISSING):
            cells = table[column, rows]
            match = cells == query[column]
            rows = rows[match | (cells == MISSING) if unknown is Unknown.WILDCARD else match]
        yield rows


def _largest_share(values: Codes) -> float:
    present = values[values != MISSING]
    return float(np.bincount(present).max() / len(values)) if len(present) else 0.0


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else np.nan
