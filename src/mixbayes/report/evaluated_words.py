"""What a page says of an evaluation in plain words: whether joining is worth it, for whom, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mixbayes.evaluation.recommendation import CHANCE
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.errors import Unsupported
from mixbayes.report.evaluation_document import Difference, Evaluated, Result, Shares
from mixbayes.report.figures import UNKNOWN, many, share
from mixbayes.report.markup import Markup, element, escaped

MOST_CLASSES = 6
"""Of which the first lines speak one by one."""
_LONGEST_WHOLE = 14
_PARTS = re.compile("[^:=]*[:=]|[^:=]+")
_SMALL = 0.0001
_PRIORS = {
    "joint": "how common the classes are among all patients",
    "own": "how common the classes are among the own patients",
    "mixed": "how common the classes are in the counts so weighted",
}
INTERVALS = (
    "The line through a mark is its 95% interval (Wilson's). Of a hundred evaluations on other patients of the same "
    "kind, about 95 have an interval that holds the true share. It says how far chance reaches in so few patients, and "
    "nothing of patients of another kind or another time. That two intervals overlap does not mean that there is no "
    "difference: all recipes labelled the same patients, and p compares them patient by patient. The intervals and p "
    "take the classifiers as they are: other patients would have trained others, so they are a little too sure. The "
    "own classifier was trained without a fold of the own patients and would be a little better with it, above all in "
    "a small hospital; the joint one hardly."
)


def breakable(recipe: str) -> Markup:
    """The text of a recipe, whose lines end behind a sign."""
    parts = _PARTS.findall(recipe)
    return Markup(
        "<wbr/>".join(element("span", part) if len(part) <= _LONGEST_WHOLE else escaped(part) for part in parts)
    )


def verdict(found: Evaluated) -> str:
    """The recommendation, in the first line."""
    if found.recommended is None:
        return f"{found.hospital}: these patients do not show that joining is worth it. {_left_to_choose(found.best)}"
    if is_own(found.recommended):
        return f"{found.hospital}: joining is not worth it here. The own classifier is recommended."
    return f"{found.hospital}: joining is worth it by accuracy. The recommended recipe is {found.recommended}."


def _left_to_choose(best: str | None) -> str:
    nothing = "No recipe is recommended"
    if best is None:
        return f"{nothing}."
    if is_own(best):
        return f"{nothing}; `best` is the own classifier."
    return f"{nothing}; `best` is {best}, which is probably better, but not shown to be."


def is_own(recipe: str) -> bool:
    """Whether nobody else is asked; costs may go with it."""
    return recipe.partition(":")[0] == "own"


def briefly(found: Evaluated) -> list[str]:
    """The same in a sentence, for one of many hospitals."""
    one = found.compared
    if one is None or one.difference is None:
        return []
    beside = one.difference
    named = f"The recipe {one.recipe}"
    return [
        f"{named} labels {share(one.accuracy)} rightly, the own classifier {share(found.own.accuracy)}: "
        f"{points(beside.points)} percentage points ({many(beside.only_this, 'patient')} labelled rightly by the "
        f"recipe alone, {beside.only_own:,} by the own classifier alone, {equals('p', beside.p)})."
    ]


def compared(found: Evaluated) -> str:
    """How far apart the own classifier and the recipe are, and how likely chance alone does that."""
    one, own = found.compared, found.own
    if one is None:
        return f"The own classifier labels {_rightly(own)} of {many(found.rows, 'patient')} rightly."
    said = (
        f"{_named(found, one)} labels {_rightly(one)} of {many(found.rows, 'patient')} rightly, the own classifier "
        f"{_rightly(own)}."
    )
    return said if one.difference is None else f"{said} {chance(one.difference)}"


def _named(found: Evaluated, one: Result) -> str:
    """At the beginning of a sentence."""
    return f"The recipe {one.recipe}"


def _rightly(one: Result) -> str:
    return share(one.accuracy) + (f" (95% interval {span(one.interval)})" if one.interval else "")


def span(interval: Shares) -> str:
    return UNKNOWN if interval is None else f"{share(interval[0])} to {share(interval[1])}"


def chance(difference: Difference) -> str:
    """The difference in points, the patients whom only one of both labels rightly, and p."""
    return (
        f"The difference is {points(difference.points)} percentage points{_between(difference.interval)}: the recipe "
        f"alone labels {many(difference.only_this, 'patient')} rightly, the own classifier alone "
        f"{difference.only_own:,}. If both were equally good, chance "
        f"alone would make a difference of this size or more with probability {equals('p', difference.p)} (McNemar's "
        f"exact test on these {many(difference.only_this + difference.only_own, 'patient')})."
    )


def _between(interval: Shares) -> str:
    return "" if interval is None else f" (95% interval {points(interval[0])} to {points(interval[1])})"


def points(value: float | None) -> str:
    """With a sign, also of more."""
    return UNKNOWN if value is None else f"{value:+.2f}".replace("-", "−")


def probability(value: float | None) -> str:
    """Two digits; nobody needs to know how small a very small one is."""
    if value is None:
        return UNKNOWN
    return f"{value:.2g}" if value >= _SMALL else f"< {_SMALL:g}"


def equals(name: str, value: float | None) -> str:
    said = probability(value)
    return f"{name} {said}" if said.startswith("<") else f"{name} = {said}"


def for_whom(found: Evaluated) -> list[str]:
    """What is found of each class, by the recipe and by the own classifier."""
    one = found.compared
    if one is None or len(found.classes) > MOST_CLASSES:
        return []
    told = "; ".join(
        f"{one.confusion[at][at]:,} of the {many(number, 'patient')} of class {quoted(name)} "
        f"(own classifier: {found.own.confusion[at][at]:,})"
        for at, (name, number) in enumerate(zip(found.classes, found.patients, strict=True))
    )
    return [f"For which patients? {_named(found, one)} finds {told}."]


def quoted(name: str) -> str:
    return f"“{name}”"


def predicted(class_column: str, classes: Sequence[str], columns: Sequence[str]) -> str:
    """The column that is predicted, its classes, and what it is predicted from."""
    of_what = f"The predicted column is {class_column} ({', '.join(map(quoted, classes))})"
    return of_what + (f", from {many(len(columns), 'column')}: {', '.join(columns)}." if columns else ".")


def of_hospital(found: Evaluated) -> str:
    return predicted(found.class_column, found.classes, found.columns)


def one_answer(found: Evaluated) -> str:
    """How far one answer for all goes."""
    return (
        f"Whoever always answered {quoted(found.commonest)}, the commonest class, would be right about "
        f"{share(found.commonest_share)}."
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
        "more are made, the easier one of them looks better by chance. So only a recipe with a p below "
        f"{CHANCE / len(found.recipes):.2g} ({CHANCE:g} divided by their number) is recommended."
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
    more = f", with the own patients counted {found.weight} times more" * (found.weight > 0)
    return f"the counts of all hospitals{more}; prior: {_PRIORS[found.prior]}"


def _costs(found: Recipe) -> list[str]:
    return [f"missing {name} counts {float(cost):g} times" for name, cost in found.costs]


def _unsure(found: Recipe) -> list[str]:
    return (
        [] if found.unsure is None else [f"unsure where the best score leads by less than {_bits(float(found.unsure))}"]
    )


def _bits(value: float) -> str:
    return f"{value:g} {'bit' if value == 1 else 'bits'}"


def opened(several: Sequence[Evaluated], joint: bool) -> list[str]:
    """What left the computation, and what did not."""
    if joint:
        whose = (
            "They are sums over all hospitals, the same for each of them, and not one hospital's own; the own "
            "classifier is that of each patient's hospital."
        )
    else:
        whose = "Each hospital's totals were opened to that hospital alone."
    scores = any(one.scores for found in several for one in found.results)
    also = ", and, for two classes, how many patients of each class have a score between two public thresholds" * scores
    return [
        "Only totals were opened: for each recipe, how many patients of each true class got each label, separately for "
        f"those whom the own classifier labels rightly and wrongly{also}. {whose} No label of a patient left the "
        "computation, and neither did a score, a row, or a count of another hospital. All other figures of the "
        "evaluation were computed from these totals.",
        "Small totals can point at a person who is known to be among the patients. Whoever may not know how many "
        "patients of a class this hospital has should not get this page.",
    ]
