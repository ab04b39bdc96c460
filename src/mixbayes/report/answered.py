"""The section of a simulation's page on answers by recipes: what each hospital's recipe was worth on its own rows."""

from __future__ import annotations

from collections.abc import Iterator

from mixbayes.evaluation.intervals import wilson
from mixbayes.report.evaluated_words import breakable, meaning
from mixbayes.report.figures import exact, many, share
from mixbayes.report.page import Section, Table
from mixbayes.report.whiskers import Group, Kind, Whisker, whiskers
from mixbayes.simulation.by_recipe import JOINT, OWN, RECIPE, Answered, WithRecipe

BEST = "best"
_TOGETHER = "all hospitals"
_INTERVALS = (
    "The line through a mark is its 95% interval (Wilson's): how far chance reaches in so few rows. All three "
    "classifiers labelled the same rows."
)


def answered(found: WithRecipe) -> Section:
    """Own classifier, joint one and recipe side by side."""
    heading = "What a classifier of its own choice brings each hospital"
    everybody = list(_everybody(found))
    words = [_what_was_asked(found), *_unsure(found)]
    tables = _tables(found)
    if found.accuracy[RECIPE] is None:
        return Section(heading, [*words, "No row carries a known class, so nothing tells right from wrong."])
    told = "; ".join(
        f"{name}: " + ", ".join(f"{row.name} {row.written}" for row in _whiskers(one)) for name, one in everybody
    )
    return Section(
        heading,
        [*words, _INTERVALS],
        whiskers(
            [Group(name, _whiskers(one), None) for name, one in everybody],
            f"Shares of right labels by hospital, with intervals. {told}.",
        ),
        "The share of right labels of the rows that each hospital asked about.",
        tables,
    )


def _everybody(found: WithRecipe) -> Iterator[tuple[str, Answered]]:
    yield from found.hospitals.items()
    if len(found.hospitals) > 1:
        yield _TOGETHER, found


def _what_was_asked(found: WithRecipe) -> str:
    asked = f"{many(len(found.hospitals), 'hospital')} asked about {many(found.rows, 'row')} by {found.recipe}"
    if found.recipe == BEST:
        return f"{asked}: each by the recipe that did best in its own evaluation."
    return f"{asked}: {meaning(found.recipe)}."


def _unsure(found: WithRecipe) -> Iterator[str]:
    if found.unsure is not None:
        yield f"Of the answers {found.unsure:,} are unsure. An unsure answer does not count as right."


def _whiskers(one: Answered) -> list[Whisker]:
    kinds = ((OWN, "own classifier", Kind.OWN), (JOINT, JOINT, Kind.RECIPE), (RECIPE, one.recipe, Kind.RECIPE))
    return [_whisker(one, key, name, kind) for key, name, kind in kinds if key != RECIPE or one.recipe not in _PLAIN]


_PLAIN = (OWN, JOINT)
"""What is drawn already."""


def _whisker(one: Answered, key: str, name: str, kind: Kind) -> Whisker:
    accuracy, counts = one.accuracy[key], one.confusion[key]
    if accuracy is None or counts is None:
        return Whisker(name, None, None, share(None), kind)
    return Whisker(
        name,
        accuracy,
        wilson(sum(row[at] for at, row in enumerate(counts)), sum(map(sum, counts))),
        share(accuracy),
        kind,
    )


def _tables(found: WithRecipe) -> list[Table]:
    """Two, because one of all columns would be too wide for a phone."""
    everybody = list(_everybody(found))
    shares = [
        (name, *(exact(one.accuracy[key], share(one.accuracy[key])) for key in (OWN, JOINT, RECIPE)))
        for name, one in everybody
    ]
    unsure = found.unsure is not None
    asked = [
        (
            name,
            breakable(one.recipe),
            exact(one.rows, f"{one.rows:,}"),
            *([exact(one.unsure or 0, f"{one.unsure or 0:,}")] if unsure else []),
        )
        for name, one in everybody
    ]
    columns = ["hospital", "recipe", "rows", *(["unsure"] if unsure else [])]
    return [
        Table("Right labels of the rows asked about", ["hospital", "own", "joint", "as asked"], shares),
        Table("What was asked", columns, asked, numbers=len(columns) - 2),
    ]
