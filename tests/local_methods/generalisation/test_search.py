"""The search against brute force: every count that it keeps is counted again from the rows, and every score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isclose, isnan, log2
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.local_methods.generalisation.cut import CLOSED, Cut
from mixbayes.local_methods.generalisation.interval_cut import IntervalCut
from mixbayes.local_methods.generalisation.requirement import Requirement
from mixbayes.local_methods.generalisation.search import Search
from mixbayes.local_methods.generalisation.suppression_cut import SuppressionCut
from mixbayes.local_methods.generalisation.taxonomy import Taxonomy
from mixbayes.local_methods.generalisation.taxonomy_cut import TaxonomyCut
from mixbayes.local_methods.tables import Codes, Nominal, Numeric, nominal_from

TREE = Taxonomy.read(
    "job", {"any": [{"health": ["nurse", {"doctor": ["surgeon", "vet"]}]}, {"law": ["judge"]}, "cook"]}
)
JOBS = ["nurse", "surgeon", "vet", "judge", "cook"]
Cell = Any
Place = Any
"""What a cell is released as."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[Cell]], list[int]]:
    rows = draw(st.integers(6, 40))
    gaps = draw(st.booleans())

    def cells(values: list[Any]) -> list[Any]:
        found = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
        return [None if gaps and draw(st.integers(0, 9)) == 0 else cell for cell in found]

    columns = [cells(JOBS), cells(list("abc")), cells([1.0, 2.0, 2.5, 4.0, 7.0]), cells(["x", "y"])]
    columns[2][0] = 2.0  # a numeric column has a number
    return columns, draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))


def cuts_of(columns: list[list[Cell]], labels: Codes, requirement: Requirement) -> list[Cut]:
    tree, plain, numbers, other = columns
    return [
        TaxonomyCut(nominal(tree), TREE, labels, 3),
        SuppressionCut(nominal(plain), labels, 3, requirement),
        IntervalCut(Numeric(np.array([np.nan if cell is None else cell for cell in numbers])), labels, 3),
        SuppressionCut(nominal(other), labels, 3, requirement),
    ]


def nominal(cells: list[Cell]) -> Nominal:
    return nominal_from(np.array(cells, object), np.array([cell is None for cell in cells]))


def released(cut: Cut, cells: list[Cell]) -> list[Place]:
    """What the cut makes of the cells, hashable."""
    column = (
        Numeric(np.array([np.nan if c is None else c for c in cells]))
        if isinstance(cut, IntervalCut)
        else nominal(cells)
    )
    return [None if isinstance(c, float) and isnan(c) else c for c in cut.rule()(column).cells().tolist()]


def after(cut: Cut, cells: list[Cell], refinement: int) -> list[Place]:
    """The sides of a refinement as it is described in the paper, from the cells alone."""
    now = released(cut, cells)
    if isinstance(cut, SuppressionCut):
        value = cut._column.values[refinement]
        return [(place, cell == value) for place, cell in zip(now, cells, strict=True)]
    if isinstance(cut, TaxonomyCut):
        name = TREE.written[refinement]
        return [(place, child(cell, name) if place == name else "") for place, cell in zip(now, cells, strict=True)]
    assert isinstance(cut, IntervalCut)
    at = cut.values[cut._after[refinement]]
    rows = set(cut.rows[refinement].tolist())
    return [
        (place, ("gone" if cell is None else cell > at) if row in rows else "")
        for row, (place, cell) in enumerate(zip(now, cells, strict=True))
    ]


def child(cell: Cell, name: str) -> str:
    """The child of a node that a value is below, by the nested tree."""
    below = {
        "any": {"nurse": "health", "surgeon": "health", "vet": "health", "judge": "law", "cook": "cook"},
        "health": {"nurse": "nurse", "surgeon": "doctor", "vet": "doctor"},
        "doctor": {"surgeon": "surgeon", "vet": "vet"},
        "law": {"judge": "judge"},
    }
    return below[name].get(cell, "gone")


def entropy(labels: Sequence[int]) -> float:
    return -sum(n / len(labels) * log2(n / len(labels)) for n in Counter(labels).values())


def gain(labels: Sequence[int], sides: Sequence[Any]) -> float:
    parts = [[y for y, s in zip(labels, sides, strict=True) if s == side] for side in set(sides)]
    return entropy(labels) - sum(len(part) / len(labels) * entropy(part) for part in parts)


def least(places: list[list[Place]], labels: list[int]) -> tuple[int, int]:
    """The rows of the rarest combination, and the classes of the one with fewest."""
    combinations = list(zip(*places, strict=True))
    kinds = Counter(c for c, _ in set(zip(combinations, labels, strict=True)))
    return min(Counter(combinations).values()), min(kinds.values())


@settings(max_examples=40)
@given(tables(), st.integers(1, 6), st.integers(1, 2), st.booleans(), st.booleans())
def test_every_step_is_the_one_that_brute_force_would_make(
    table: tuple[list[list[Cell]], list[int]], k: int, diversity: int, elsewhere: bool, two_sets: bool
) -> None:
    columns, labels = table
    requirement = Requirement(k, min(diversity, len(set(labels))))
    sets = [[0, 2], [1, 2, 3]] if two_sets else [[0, 1, 2, 3]]
    codes = np.array(labels, np.int64)
    search = Search(cuts_of(columns, codes, requirement), sets, codes, 3, requirement, cut_elsewhere=elsewhere)
    for _ in range(100):
        scores = judged(search, columns, labels, sets, requirement)
        chosen = search.best()
        if chosen is None:
            assert not scores
            break
        assert isclose(scores[chosen], max(scores.values()), abs_tol=1e-8)
        for at, score in scores.items():
            assert isclose(search.scores(at[0])[at[1]], score, abs_tol=1e-8)
        search.refine(*chosen)
        for each, found in zip(sets, search.sets, strict=True):
            places = [released(search.cuts[at], columns[at]) for at in each]
            smallest, kinds = least(places, labels)
            assert found.smallest == smallest >= k
            assert kinds >= requirement.diversity
    else:
        raise AssertionError("it does not end")


def judged(
    search: Search, columns: list[list[Cell]], labels: list[int], sets: list[list[int]], requirement: Requirement
) -> dict[tuple[int, int], float]:
    """The score of every refinement that is valid and beneficial, counted from the rows."""
    places = [released(cut, cells) for cut, cells in zip(search.cuts, columns, strict=True)]
    found = {}
    for column, cut in enumerate(search.cuts):
        for refinement in possible(cut, columns[column]):
            sides = after(cut, columns[column], refinement)
            about = concerned(cut, columns[column], refinement)
            inside = [labels[row] for row in about]
            divides = isinstance(cut, IntervalCut) or len({sides[row] for row in about}) > 1
            if len(set(inside)) < 2 and divides:
                continue
            losses, valid = [], True
            for each in sets:
                if column in each:
                    now = least([places[at] for at in each], labels)
                    then = least([sides if at == column else places[at] for at in each], labels)
                    valid &= then[0] >= requirement.k and then[1] >= requirement.diversity
                    losses.append(now[0] - then[0])
            if valid:
                found[column, refinement] = gain(inside, [sides[row] for row in about]) / (
                    sum(losses) / len(losses) + 1
                )
    return found


def possible(cut: Cut, cells: list[Cell]) -> list[int]:
    """Refinements of the cut. Where an interval is cut is the search's choice, checked elsewhere."""
    if isinstance(cut, SuppressionCut):
        shown = set(released(cut, cells))
        return [code for code, value in enumerate(cut._column.values.tolist()) if value not in shown]
    if isinstance(cut, TaxonomyCut):
        return [TREE.written.index(name) for name in set(released(cut, cells)) - {None} if name not in (*JOBS,)]
    return np.flatnonzero(cut.gains > CLOSED).tolist()


def concerned(cut: Cut, cells: list[Cell], refinement: int) -> list[int]:
    """The rows that a refinement is about."""
    now = released(cut, cells)
    if isinstance(cut, SuppressionCut):
        return [row for row, place in enumerate(now) if place is None]
    if isinstance(cut, TaxonomyCut):
        return [row for row, place in enumerate(now) if place == TREE.written[refinement]]
    assert isinstance(cut, IntervalCut)
    return cut.rows[refinement].tolist()
