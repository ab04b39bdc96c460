"""From a preliminary agreement and what its round found to the agreement that is to be signed."""

from __future__ import annotations

from collections.abc import Mapping

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.pinning import begun_anew
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.cuts import Cuts, begins


def final(preliminary: Federation, found: Cuts, folds: int = 1) -> Federation:
    """The same members, rules and noise, and the dictionary with the cut points.

    A preliminary agreement judges no classifier. This one may, by so many folds.
    """
    attributes = zip(preliminary.dictionary.attributes, found.positions, strict=True)
    cut = tuple(_cut(attribute, positions) for attribute, positions in attributes)
    dictionary = preliminary.dictionary.model_copy(update={"attributes": cut})
    policy = preliminary.policy.model_copy(update={"folds": folds})
    return begun_anew(preliminary).model_copy(update={"cuts": None, "policy": policy, "dictionary": dictionary})


def coarsest(preliminary: Dictionary, bins: int) -> Dictionary:
    """A dictionary with as many cells as the one that is to follow, or with more."""
    cut = (a.cut_at(range(1, min(bins, a.rows - 1))) if a.exact and a.numeric else a for a in preliminary.attributes)
    return preliminary.model_copy(update={"attributes": tuple(cut)})


def remarks(preliminary: Federation, found: Cuts) -> Mapping[str, str]:
    """By attribute what its rank is, for people who read the agreement."""
    ranked = sum(rank is not None for rank in found.ranks)
    names = preliminary.dictionary.names
    return {
        name: "not ranked" if rank is None else f"rank {rank} of {ranked} by what it tells of the class"
        for name, rank in zip(names, found.ranks, strict=True)
    }


def _cut(attribute: Attribute, positions: tuple[int, ...] | None) -> Attribute:
    if positions is None:
        return attribute
    return attribute.cut_at(begins(positions, attribute.rows - 1))
