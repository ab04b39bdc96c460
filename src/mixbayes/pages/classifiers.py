"""What a page says of a recipe: whose classifier it is, and how often it is right for this hospital's patients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixbayes.pages.known import Evaluated
from mixbayes.pages.parts import moment, paragraphs
from mixbayes.pages.texts import Texts
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.report.markup import Markup, element


def in_words(texts: Texts, recipe: Recipe) -> str:
    """What a person calls the recipe."""
    said = texts(f"recipe.{recipe.base}")
    if recipe.base == "personal":
        said = texts("recipe.personal_of", weight=recipe.weight, prior=texts(f"recipe.prior_{recipe.prior}"))
    for name, cost in recipe.costs:
        said += texts("recipe.cost", name=name, cost=f"{float(cost):g}")
    if recipe.unsure is not None:
        said += texts("recipe.unsure", bits=f"{float(recipe.unsure):g}")
    return said


def short_accuracy(texts: Texts, found: Evaluated | None, recipe: str) -> str:
    """In a list of recipes."""
    one = found.of(recipe) if found else None
    if one is None or one["accuracy"] is None:
        return texts("recipe.not_known")
    return texts("recipe.right", share=_percent(one["accuracy"]))


def accuracy(texts: Texts, found: Evaluated | None, recipe: str, round: int) -> Markup:
    """How often the recipe is right, on how many patients, by which evaluation; or that nobody has looked."""
    one = found.of(recipe) if found else None
    if found is None or one is None or one["accuracy"] is None:
        return paragraphs(texts("recipe.nobody_evaluated"))
    low, high = map(_percent, one["interval"])
    rows = f"{found.document['rows']:,}"
    said = texts("recipe.was_right", share=_percent(one["accuracy"]), low=low, high=high, rows=rows)
    made = element("p", texts("recipe.evaluated_at"), " ", moment(found.time), class_="hint")
    older = paragraphs(texts("recipe.of_another_round", round=found.round)) if found.round != round else Markup()
    return Markup(paragraphs(said) + older + made)


def of_label(texts: Texts, found: Evaluated | None, recipe: str, position: int, meaning: str) -> Markup:
    """Of the hospital's own patients who got this label, how many it was right for."""
    one = found.of(recipe) if found else None
    if one is None:
        return Markup()
    got, right = _got(one, position)
    if not got:
        return paragraphs(texts("recipe.label_never", label=meaning))
    words = texts("recipe.label_right", label=meaning, got=f"{got:,}", right=f"{right:,}", share=_percent(right / got))
    return paragraphs(words)


def _got(one: Mapping[str, Any], position: int) -> tuple[int, int]:
    """How many patients got the label, and how many of them rightly. Rows of the matrix are true classes."""
    matrix = one["confusion"]
    return sum(row[position] for row in matrix), matrix[position][position] if position < len(matrix) else 0


def _percent(share: float) -> str:
    return f"{share:.1%}"
