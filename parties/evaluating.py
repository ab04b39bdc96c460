"""What each classifier would be worth to a hospital, asked of its own node and put into one document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mixbayes.agreement.agreement import Federation
from mixbayes.evaluation.document import Evaluation, Table, document
from mixbayes.evaluation.opened import Opened, of_totals
from mixbayes.evaluation.recommendation import COMPARED
from mixbayes.parties.applications import refuse_not_agreed
from mixbayes.parties.desk import AtOwnNode
from mixbayes.protocol.bayes.recipe import OWN, Recipe, read_recipe

Judged = Callable[[int, int], None]
"""Called with how many classifiers have been judged, of how many."""


def compared(agreed: Federation, named: Sequence[str]) -> list[Recipe]:
    """The recipes of these texts; if there are none, all that are agreed and usual."""
    if named:
        found = [read_recipe(text) for text in named]
        for recipe in found:
            refuse_not_agreed(agreed, recipe)
    else:
        found = [recipe for text in (*COMPARED, *agreed.recipes) if not agreed.why_not(recipe := read_recipe(text))]
    return [recipe for recipe in dict.fromkeys(found) if recipe != OWN]


def evaluated(
    agreed: Federation, name: str, behind: AtOwnNode, recipes: Sequence[Recipe], judged: Judged
) -> Evaluation:
    """The recipes beside the hospital's own classifier, on its own patients."""
    opened: list[Opened] = []
    for recipe, totals, _ in behind.evaluate(recipes):
        opened.append(of_totals(str(recipe), totals))
        judged(len(opened), len(recipes) + 1)
    return document(name, table_of(agreed), opened[0], opened[1:])


def table_of(agreed: Federation) -> Table:
    """What the agreement says of the tables."""
    dictionary = agreed.dictionary
    return Table(dictionary.classes, dictionary.class_column, dictionary.names, agreed.policy.folds)
