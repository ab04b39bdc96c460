"""What a page says of an evaluation in plain words: whether joining is worth it, for whom, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.errors import Unsupported
from mixbayes.report.evaluation_document import Difference, Evaluated, Result, Shares
from mixbayes.report.figures import UNKNOWN, many, share
from mixbayes.report.markup import Markup, element, escaped

MOST_CLASSES = 6
"""Of which the first lines speak one by one."""
_LONGEST_WHOLE = 14
_PRIORS = {
    "joint": "how common the classes are among all patients",
    "own": "how common the classes are among the own patients",
    "mixed": "how common the classes are in the counts so weighted",
}
INTERVALS = (
    "The line through a mark is its 95 % interval (Wilson's). Of a hundred evaluations on other patients of the same "
    "kind, about 95 have an interval that holds the true share. It says how far chance reaches in so few patients, and "
    "nothing of patients of another kind or another time. That two intervals overlap does not mean that there is no "
    "difference: all recipes labelled the same patients, and p compares them patient by patient."
)


def breakable(recipe: str) -> Markup:
    """The text of a recipe, with ends of lines behind its colons."""
    parts = recipe.replace(":", ":\0").split("\0")
    return Markup(
        "<wbr/>".join(element("span", part) if len(part) <= _LONGEST_WHOLE else escaped(part) for part in parts)
    )


def verdict(found: Evaluated) -> str:
    """The recommendation, in the first line."""
    if found.recommended is None:
        return f"{found.hospital}: these patients do not show that joining is worth it. No recipe is recommended."
    if read(found.recommended, "own"):
        return f"{found.hospital}: joining is not worth it here. Recommended is to keep the own classifier."
    return f"{found.hospital}: joining is worth it. Recommended is {found.recommended}."


def read(recipe: str, base: str) -> bool:
    """Whether it is a recipe of this kind."""
    return recipe.partition(":")[0] == base


def why(found: Evaluated) -> list[str]:
    return [found.why] if found.why else []


def compared(found: Evaluated) -> Iterator[str]:
    """How far apart the own classifier and the recipe are, and how likely chance alone does that."""
    one = found.compared
    if one is None:
        yield f"The own classifier {rightly(found.own, found.rows)}. No other recipe was asked for."
        return
    yield f"{one.recipe} {rightly(one, found.rows)}; the own classifier {rightly(found.own, found.rows)}."
    if one.difference is not None:
        yield chance(one.difference)


def rightly(one: Result, rows: int) -> str:
    return f"labels {share(one.accuracy)} of {many(rows, 'patient')} rightly{_between(one.interval)}"


def _between(interval: Shares) -> str:
    return "" if interval is None else f" (95 % interval {span(interval)})"


def span(interval: Shares) -> str:
    return UNKNOWN if interval is None else f"{share(interval[0])} to {share(interval[1])}"


def chance(difference: Difference) -> str:
    """The difference in points, the patients whom only one of both labels rightly, and p."""
    return (
        f"The difference is {points(difference.points)} percentage points: {many(difference.only_this, 'patient')} "
        f"only the recipe labels rightly, {many(difference.only_own, 'patient')} only the own classifier. If the two "
        f"were equally good, a difference of this size or larger would come with probability p = "
        f"{probability(difference.p)} (McNemar's exact test on these {many(_discordant(difference), 'patient')})."
    )


def _discordant(difference: Difference) -> int:
    return difference.only_this + difference.only_own


def points(value: float | None) -> str:
    """With a sign of its own for less."""
    return UNKNOWN if value is None else f"{value:+.2f}".replace("-", "−")


def probability(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2g}"


def for_whom(found: Evaluated) -> list[str]:
    """What is found of each class, by the recipe and by the own classifier."""
    one = found.compared
    if one is None or len(found.classes) > MOST_CLASSES:
        return []
    told = "; ".join(
        f"of {name}, {_found(one, at)} instead of {_found(found.own, at)}" for at, name in enumerate(found.classes)
    )
    return [f"For which patients: with {one.recipe} instead of the own classifier there are found {told}."]


def _found(one: Result, at: int) -> str:
    total = sum(one.confusion[at])
    return f"{one.confusion[at][at]:,} of {total:,}" if total else "nobody (there is none)"


def predicted(found: Evaluated) -> str:
    """The column that is predicted, its classes, what it is predicted from, and how far one answer for all goes."""
    return (
        f"Predicted is the column {found.class_column} ({', '.join(found.classes)}), from "
        f"{many(len(found.columns), 'column')}: {', '.join(found.columns)}. Whoever always answered "
        f"{found.commonest}, the commonest class, would be right about {share(found.commonest_share)}."
    )


def about_folds(found: Evaluated) -> str:
    if found.folds > 1:
        return (
            f"The patients were dealt into {found.folds} folds, and each was labelled by classifiers that were trained "
            "without the patient's fold: no patient helped to train what labelled him or her."
        )
    return "The patients were kept aside: no classifier that is compared here was trained with them."


def about_many(found: Evaluated) -> list[str]:
    """That luck has more chances the more is compared."""
    if len(found.recipes) < 2:
        return []
    return [
        f"{len(found.recipes)} recipes were compared with the own classifier. Each p is of one comparison alone; the "
        "more are made, the easier one of them looks better by chance."
    ]


def meaning(recipe: str) -> str:
    """What a recipe is, for somebody who has not read how they are written."""
    try:
        found = read_recipe(recipe)
    except Unsupported:
        return "a recipe that this version does not know"
    return "; ".join([_base(found), *_costs(found), *_unsure(found)])


def _base(found: Recipe) -> str:
    if found.base == "own":
        return "the hospital's own classifier, from its own patients alone"
    if found.base == "joint":
        return "the classifier of all hospitals together"
    return (
        f"the counts of all hospitals, to which the own patients are added {found.weight} times more; prior: "
        f"{_PRIORS[found.prior]}"
    )


def _costs(found: Recipe) -> list[str]:
    return [f"missing {name} counts {float(cost):g} times" for name, cost in found.costs]


def _unsure(found: Recipe) -> list[str]:
    return (
        [] if found.unsure is None else [f"unsure where the best score leads by less than {float(found.unsure):g} bits"]
    )


def opened(several: Sequence[Evaluated], joint: bool) -> list[str]:
    """What left the computation, and what did not."""
    if joint:
        whose = "They are sums over all hospitals, the same for each of them, and not one hospital's own."
    else:
        whose = "Each hospital's totals were opened to that hospital alone."
    scores = any(one.scores for found in several for one in found.results)
    also = ", and, for two classes, how many patients of each class have a score between two public thresholds" * scores
    return [
        "Opened were only totals: for each recipe, how many patients of each true class got each label, apart for "
        f"those whom the own classifier labels rightly and wrongly{also}. {whose} No label of a patient left the "
        "computation, and neither did a score, a row, or a count of another hospital. All other figures of the "
        "evaluation were computed from these totals.",
        "Small totals can point at a person who is known to be among the patients. Whoever may not know how many "
        "patients of a class this hospital has should not get this page.",
    ]
