"""Both computing parties answer a recipe by the model of one training, which both have named."""

from __future__ import annotations

from mixbayes.node.recipes import of_one_training
from mixbayes.protocol.computing_party import A, ComputingParty
from tests.protocol.pairs import both

Kept = tuple[bytes, str]


def asked(at_a: Kept | None, at_b: Kept | None, trained: str) -> tuple[Kept, Kept]:
    """What both have after a question, if this is what they had before, and what they would train."""

    def party(me: ComputingParty) -> Kept:
        kept = at_a if me.role == A else at_b
        now = [kept]
        model = of_one_training(me, kept, lambda: trained, lambda run, model: now.append((run, model)))
        assert now[-1]
        assert now[-1][1] == model
        return now[-1]

    return both(party, ())


def test_a_model_that_both_have_is_not_trained_again() -> None:
    first = asked(None, None, "first")
    assert first[0] == first[1]
    assert asked(*first, "second") == first


def test_every_training_has_another_name_so_models_of_two_are_told_apart() -> None:
    """One has lost its model, or a conversation broke off before it had written it down."""
    first, second = asked(None, None, "first"), asked(None, None, "second")
    assert first[0][0] != second[0][0]
    pairs: list[tuple[Kept | None, Kept | None]] = [(first[0], second[1]), (None, first[1]), (first[0], None)]
    for at_a, at_b in pairs:
        third = asked(at_a, at_b, "third")
        assert third[0] == third[1]
        assert third[0][1] == "third"
        assert third[0][0] not in {first[0][0], second[0][0]}
