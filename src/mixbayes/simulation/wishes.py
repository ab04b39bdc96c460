"""What a simulation is asked to do with recipes: which are judged, which answer, and so which must be agreed on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mixbayes.agreement.agreement import MOST_ASIDE, MOST_FOLDS, MOST_PERSONAL
from mixbayes.evaluation.recommendation import COMPARED
from mixbayes.parties.applications import BEST
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import JOINT, OWN, Recipe, read_recipe
from mixbayes.protocol.errors import Unsupported
from mixbayes.protocol.paillier.exact import USUAL_BITS, fitting_bits

PAILLIER = "paillier"
USUAL_FOLDS = 5


@dataclass(frozen=True)
class Wishes:
    """With the usual ones nobody evaluates, and the first hospital asks about all rows by the joint classifier."""

    folds: int = 1
    """Of more than one, hospitals evaluate."""
    test_share: float = 0.0
    compared: tuple[Recipe, ...] = ()
    """With the own classifier, where hospitals evaluate."""
    recipe: str = ""
    """Every hospital asks by it: a recipe or `best`; nothing if only the first one asks, as usual."""
    noise: bool = False

    @property
    def evaluate(self) -> bool:
        return self.folds > 1

    @property
    def everybody_asks(self) -> bool:
        """Whether there is an application of every hospital, and not of the first one alone."""
        return self.evaluate or bool(self.recipe)

    @property
    def asked(self) -> Recipe | None:
        """The recipe by which every hospital asks, if it is the same for all."""
        return None if self.recipe in ("", BEST) else read_recipe(self.recipe)

    @property
    def agreed(self) -> tuple[str, ...]:
        """The recipes that the agreement has to list: without noise all, with noise those with costs or a margin."""
        foreign = [recipe for recipe in dict.fromkeys(self._used) if recipe.base != "own" and recipe != JOINT]
        return tuple(str(recipe) for recipe in foreign if not self.noise or recipe != recipe.plain)

    @property
    def _used(self) -> list[Recipe]:
        asked = self.asked
        return [*self.compared, *([] if asked is None else [asked])]

    def refuse_unfit(self, layout: Layout, protocol: str) -> None:
        """Refuse costs of classes that there are not, and numbers that do not fit."""
        for recipe in self._used:
            recipe.refuse_unknown_classes(layout.dictionary.classes)
            if recipe.base == "own":
                continue
            if protocol == PAILLIER:
                fitting_bits(layout, USUAL_BITS, recipe)
            else:
                precision_for(layout, recipe)


USUAL = Wishes()


def wishes(
    *,
    evaluate: bool = False,
    folds: int | None = None,
    test_share: float = 0.0,
    recipe: str = "",
    compare: Sequence[str] = (),
    protocol: str = "shares",
    noise: bool = False,
) -> Wishes:
    """What is wished for, or a refusal of what does not go together."""
    asked = None if recipe in ("", BEST) else read_recipe(recipe)
    named = [read_recipe(text) for text in compare]
    if not 0 <= test_share <= MOST_ASIDE:
        raise Unsupported(f"--test-share {test_share:g}: a share from 0 to {MOST_ASIDE:g} can be kept aside.")
    if protocol == PAILLIER and asked and asked.base != "own" and asked.unsure is not None:
        raise Unsupported(f"--recipe {asked}: the Paillier protocol has no unsure answers. Use --protocol shares.")
    text = str(asked) if asked else recipe
    if not evaluate and recipe != BEST:
        _refuse_for_nobody(folds, named)
        return Wishes(test_share=test_share, recipe=text, noise=noise)
    option = "--evaluate" if evaluate else f"--recipe {BEST}"
    _refuse_no_judgement(option, protocol)
    return Wishes(_folds(option, folds), test_share, _compared(named, asked, noise), text, noise)


def _refuse_for_nobody(folds: int | None, named: Sequence[Recipe]) -> None:
    """What is about judging needs somebody who judges."""
    given = ["--folds"] * (folds not in (None, 1)) + ["--compare"] * bool(named)
    if given:
        raise Unsupported(f"{given[0]} is about evaluations, and nobody evaluates. Add --evaluate, or leave it out.")


def _refuse_no_judgement(option: str, protocol: str) -> None:
    if protocol == PAILLIER:
        raise Unsupported(
            f"{option} judges classifiers on shares, which the Paillier protocol has not: leave it out, or use "
            "--protocol shares."
        )


def _folds(option: str, folds: int | None) -> int:
    found = USUAL_FOLDS if folds is None else folds
    if not 1 < found <= MOST_FOLDS:
        raise Unsupported(
            f"{option} with --folds {found}: patients are dealt into 2 to {MOST_FOLDS} folds, and each is judged by "
            "classifiers that do not count its fold."
        )
    return found


def _compared(named: Sequence[Recipe], asked: Recipe | None, noise: bool) -> tuple[Recipe, ...]:
    """What is named, else the usual recipes as far as they may be agreed on beside the one that is asked by."""
    used = [asked] if asked else []
    if named:
        return _refuse_too_many([*named, *used], noise)
    usual = list(map(read_recipe, COMPARED))
    while not noise and _personal([*usual, *used]) > MOST_PERSONAL:
        usual.pop()
    return _others([*usual, *used])


def _refuse_too_many(wanted: Sequence[Recipe], noise: bool) -> tuple[Recipe, ...]:
    if not noise and (number := _personal(wanted)) > MOST_PERSONAL:
        raise Unsupported(
            f"Without noise at most {MOST_PERSONAL} personal recipes can be agreed on, and these are {number}. Name "
            "fewer, or add --epsilon E."
        )
    return _others(wanted)


def _personal(recipes: Iterable[Recipe]) -> int:
    """How many personal recipes an agreement would list, as it counts them."""
    return len({recipe.plain for recipe in recipes if recipe.personal})


def _others(recipes: Iterable[Recipe]) -> tuple[Recipe, ...]:
    """Each once, without the own classifier, with which all are compared."""
    return tuple(recipe for recipe in dict.fromkeys(recipes) if recipe != OWN)
