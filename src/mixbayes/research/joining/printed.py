"""The tables that `benchmarks/joining.py` prints, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mixbayes.evaluation.recommendation import COMPARED, OWN
from mixbayes.research.joining.chosen import Judged
from mixbayes.research.joining.compared import BEST, RECOMMENDED, Compared
from mixbayes.research.study.words import percent, points, signed, table

JOINT, PRIOR, PERSONAL = COMPARED
SHORT = {OWN: "own", JOINT: "joint", PRIOR: "weight 0", PERSONAL: "weight 10", BEST: "best", RECOMMENDED: "recommended"}
"""Personal recipes by their weight, as all have the hospital's own prior."""


def by_hospital(found: Sequence[Compared]) -> str:
    """Accuracy by recipe, and what the hospital takes, of one table."""
    recipes = (OWN, *COMPARED)
    head = (
        "patients of",
        "number",
        *(SHORT[way] for way in (*recipes, RECOMMENDED, BEST)),
        "best less own, points",
        "taken: " + ", ".join(SHORT[recipe] for recipe in recipes),
    )
    return table(head, [_row(one, recipes) for one in found])


def _row(one: Compared, recipes: Sequence[str]) -> tuple[str, ...]:
    return (
        one.hospital,
        f"{one.patients:,}",
        *(percent(one.accuracy[way].value) for way in (*recipes, RECOMMENDED, BEST)),
        points(one.gain[BEST]),
        ", ".join(f"{100 * one.taken[recipe]:.0f}" for recipe in recipes) + " %",
    )


def found_of_classes(found: Sequence[Compared]) -> str:
    """What is found of every class, of one table."""
    ways = (OWN, *COMPARED, BEST)
    head = ("patients of", "class", *(SHORT[way] for way in ways))
    rows = [
        (one.hospital, label, *(percent(one.recall[way][label]) for way in ways))
        for one in found
        for label in one.recall[OWN]
    ]
    return table(head, rows)


def in_one_line(by_table: Mapping[str, Mapping[str, Sequence[Compared]]]) -> str:
    """By table and noise: what joining brings the whole, and the hospital that is furthest behind."""
    noises = list(next(iter(by_table.values())))
    head = ("best less own, points", *(f"{noise}: {what}" for noise in noises for what in ("all", "furthest behind")))
    rows = []
    for name, by_noise in by_table.items():
        cells = []
        for noise in noises:
            *hospitals, everybody = by_noise[noise]
            last = min(hospitals, key=lambda one: one.gain[BEST].value)
            cells += [signed(everybody.gain[BEST].value), f"{last.hospital} {signed(last.gain[BEST].value)}"]
        rows.append((name, *cells))
    return table(head, rows)


def beginning(by_size: Mapping[int, Sequence[Compared]]) -> str:
    """Hospitals that have only so many patients to learn from: own, best, and the difference."""
    hospitals = [one.hospital for one in next(iter(by_size.values()))]
    head = ("patients of", *(f"{size} of its own: own, joint, best" for size in by_size))
    rows = [(name, *(_begun(found[at]) for found in by_size.values())) for at, name in enumerate(hospitals)]
    return table(head, rows)


def _begun(one: Compared) -> str:
    own, joint, best = (percent(one.accuracy[way].value) for way in (OWN, JOINT, BEST))
    return f"{own}, {joint}, {best}: {signed(one.gain[BEST].value)}"


def rules(judged: Mapping[str, Mapping[str, Judged]]) -> str:
    """Every rule on the tables by which one was chosen."""
    columns = list(next(iter(judged.values())))
    head = ("rule", *(f"{column}: gain, worst, behind" for column in columns))
    return table(head, [(name, *(_judged(by[column]) for column in columns)) for name, by in judged.items()])


def _judged(one: Judged) -> str:
    gains = np.array(one.gains)
    return f"{signed(float(gains.mean()))}, {signed(float(gains.min()))}, {int((gains < -0.01).sum())} of {gains.size}"
