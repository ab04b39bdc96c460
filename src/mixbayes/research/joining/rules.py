"""Rules by which a hospital could choose, beside those of `evaluation/recommendation.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mixbayes.evaluation.recommendation import CHANCE, COMPARED, OWN, USUAL, Difference, Usual, likely, recommend
from mixbayes.research.joining.nested import Choice

JOINT, PRIOR, PERSONAL = COMPARED


def best(found: Sequence[Difference]) -> str:
    """What the node takes."""
    return recommend(found).best


def recommended(found: Sequence[Difference]) -> str:
    """What is recommended, else the own classifier."""
    return recommend(found).recipe or OWN


def always(recipe: str) -> Choice:
    return lambda found: recipe


def by_errors(errors: float) -> Choice:
    """The largest gain, if it is more than so many standard errors."""
    return lambda found: _largest([one for one in found if one.gain > errors * one.error])


def by_test(found: Sequence[Difference]) -> str:
    """The largest gain that McNemar's test shows, however many recipes were compared."""
    return _largest([one for one in found if one.gain > 0 and one.p < CHANCE])


def unless_behind(recipe: str, errors: float = 0.0) -> Choice:
    """A usual recipe, unless it is behind by more than so many standard errors."""

    def choice(found: Sequence[Difference]) -> str:
        one = next(one for one in found if one.recipe == recipe)
        return OWN if one.gain < -errors * one.error else recipe

    return choice


def by_odds(sure: float, usual: Usual = USUAL) -> Choice:
    """As the node does if nothing is shown, with other numbers."""
    return lambda found: (likely([one for one in found if one.recipe != OWN], sure, usual) or _OWN).recipe


_OWN = Difference(OWN, 1, 0, 0)


def _largest(found: Sequence[Difference]) -> str:
    return max(found, key=lambda one: one.gain, default=_OWN).recipe


RULES: Mapping[str, Choice] = {
    f"always {JOINT}": always(JOINT),
    f"always {PRIOR}": always(PRIOR),
    f"always {PERSONAL}": always(PERSONAL),
    f"{PERSONAL} unless behind": unless_behind(PERSONAL),
    f"{PERSONAL} unless behind by a standard error": unless_behind(PERSONAL, 1.0),
    "the largest gain": by_errors(0.0),
    "the largest gain above a standard error": by_errors(1.0),
    "McNemar's test at 5 %": by_test,
    "McNemar's test at 5 % over the number compared": recommended,
    **{
        f"odds of {odds} to 1, {100 * usual.deviation:g} points, {usual.patients:g} patients": by_odds(sure, usual)
        for odds, sure in ((2, 2 / 3), (3, 0.75), (4, 0.8))
        for usual in (Usual(0.02, 0.0), Usual(0.02, 0.25), Usual(0.02, 0.5), Usual(0.01, 0.25), Usual(0.04, 0.25))
    },
    "the rule": best,
}
