"""Recipes at a node: the model of one, of the same training at both computing parties, and which one is the best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mixbayes.node.disk.datastore import AnyTables, Datastore
from mixbayes.node.questions import RUN_BYTES
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.computing_party import ComputingParty

Model = TypeVar("Model")


def of_one_training(
    me: ComputingParty,
    kept: tuple[bytes, Model] | None,
    train: Callable[[], Model],
    keep: Callable[[bytes, Model], None],
) -> Model:
    """The model of a recipe that this party has kept, with its training, if the other party has that of the same one.

    If not, both train it: one of them has none, or a conversation broke off before both had written theirs down.
    """
    mine = kept[0] if kept else bytes(RUN_BYTES)
    theirs = me.channel.swap("training of the recipe", mine).tobytes()
    if kept and mine == theirs:
        return kept[1]
    model = train()
    keep(label.common_blinding(me)[:RUN_BYTES], model)  # drawn by both, once both have the model
    return model


def best_recipe(datastore: Datastore[AnyTables], agreement: str) -> Recipe | None:
    """What `best` stands for at this node."""
    with datastore.read() as tables:
        found = tables.best(agreement)
    return read_recipe(found) if found else None


def remember_best(datastore: Datastore[AnyTables], agreement: str, me: str, recipe: Recipe) -> None:
    """`best` stands for this recipe from now on."""
    with datastore.write() as tables:
        tables.put_best(agreement, str(recipe))
        tables.note(me, "chose", "best", {"recipe": str(recipe)})
