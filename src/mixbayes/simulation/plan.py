"""What a simulation is asked to do: which hospital holds which rows, and which rows are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns, stacked
from mixbayes.tables.counting import refuse_empty

USUAL_HOLDOUT = 0.3
MOST_HELD_OUT = 20_000
MOST_CELLS_HELD_OUT = 600_000


@dataclass(frozen=True)
class Plan:
    """Training tables by hospital, and the rows to classify (with their classes, where the table has them)."""

    training: Mapping[str, Columns]
    questions: Columns
    asked: Mapping[str, int]
    """How many of these rows, one hospital after the other, are whose. A table to classify is the first hospital's."""


def split_at_random(table: Columns, hospitals: int, random: np.random.Generator) -> dict[str, Columns]:
    """One table over so many hospitals, every row to one of them."""
    refuse_empty(table.rows, table.source)
    if table.rows < hospitals:
        raise BadData(
            f"{table.source or 'The table'}: {table.rows} rows cannot be split over {hospitals} hospitals: "
            "give more rows or fewer hospitals."
        )
    parts = np.array_split(random.permutation(table.rows), hospitals)
    return {f"hospital-{i}": table.take(np.sort(rows)) for i, rows in enumerate(parts, start=1)}


def plan(
    tables: Mapping[str, Columns],
    *,
    hospitals: int | None,
    two_party: bool,
    classify: Columns | None,
    holdout: float | None,
    seed: int,
) -> Plan:
    """Who holds what and what is asked, reproducibly.

    Without `holdout` it is USUAL_HOLDOUT, of large tables fewer rows, so that a first try soon ends.
    """
    random = np.random.default_rng(seed)
    if two_party and hospitals not in (None, 2):
        raise Unsupported(f"--two-party is for two hospitals, and --hospitals says {hospitals}. Leave one of them out.")
    wanted = 2 if two_party else hospitals
    if len(tables) == 1:
        held = split_at_random(next(iter(tables.values())), wanted or 3, random)
    else:
        _check_number(len(tables), wanted, two_party)
        held = dict(tables)
    if classify is not None:
        return Plan(held, classify, {next(iter(held)): classify.rows})
    return _held_out(held, usual_share(held) if holdout is None else holdout, random)


def usual_share(held: Mapping[str, Columns]) -> float:
    """The share of these tables' rows that is kept back if nobody says how many."""
    rows = sum(table.rows for table in held.values())
    columns = len(next(iter(held.values())).names)
    return min(USUAL_HOLDOUT, min(MOST_HELD_OUT, MOST_CELLS_HELD_OUT // columns) / max(rows, 1))


def _check_number(tables: int, wanted: int | None, two_party: bool) -> None:
    if wanted is not None and wanted != tables:
        why = "--two-party takes two hospitals" if two_party else f"--hospitals says {wanted}"
        raise Unsupported(f"{tables} tables were given, one hospital each, and {why}.")


def _held_out(held: Mapping[str, Columns], share: float, random: np.random.Generator) -> Plan:
    """The same share of every hospital's rows is asked about, the others are trained on."""
    training, questions = {}, {}
    for name, table in held.items():
        order = random.permutation(table.rows)
        out = round(share * table.rows)
        questions[name] = table.take(np.sort(order[:out]))
        training[name] = table.take(np.sort(order[out:]))
    return Plan(training, stacked(list(questions.values())), {name: one.rows for name, one in questions.items()})
