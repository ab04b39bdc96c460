"""The attacks that need nothing but a release and what is public of its columns, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mixbayes.local_methods.attacks.claims import (
    Claims,
    ClaimScore,
    Guess,
    ShareInterval,
    drawn,
    nearby,
    of_their_class,
    released_rows,
    score,
)
from mixbayes.local_methods.attacks.few_values import by_few_values
from mixbayes.local_methods.attacks.flat import in_flats
from mixbayes.local_methods.attacks.group_means import by_group_means
from mixbayes.local_methods.attacks.piles import by_piles
from mixbayes.local_methods.attacks.position import by_position
from mixbayes.local_methods.attacks.rare_values import by_rare_values
from mixbayes.local_methods.attacks.suppressed import by_suppressed_cells
from mixbayes.local_methods.attacks.view import AttackersView, known_of
from mixbayes.local_methods.attacks.whole_groups import by_fractions, by_lattice
from mixbayes.local_methods.domain import Domain
from mixbayes.local_methods.measures.pair import Pair

Attack = Callable[[AttackersView], Claims]


def as_it_stands(seen: AttackersView) -> Claims:
    """Claim every released row, in any place. No attack: it shows how much the release itself says."""
    return Claims(seen.rounded())


ATTACKS: Mapping[str, tuple[Attack, Guess]] = {
    "released rows themselves": (as_it_stands, drawn),
    "fractions of sums": (by_fractions, drawn),
    "lattice reduction": (by_lattice, drawn),
    "flat through a group": (in_flats, drawn),
    "position": (by_position, of_their_class),
    "group means": (by_group_means, of_their_class),
    "columns of few values": (by_few_values, drawn),
    "rare values": (by_rare_values, nearby),
    "piles at an end": (by_piles, nearby),
    "suppressed cells": (by_suppressed_cells, released_rows),
}
"""By name: what is claimed, and by what guesses it is measured."""


@dataclass(frozen=True)
class Reconstruction:
    """What each attack claimed, and the patients who were given back in every cell by the most successful one."""

    scores: Mapping[str, ClaimScore]
    attack: str
    patients: ShareInterval
    """Of the original, the share that this attack gave back."""
    guessed: float
    """The share that as many guesses gave back."""

    @property
    def cut_off(self) -> bool:
        return any(score.cut_off for score in self.scores.values())

    @staticmethod
    def of(scores: Mapping[str, ClaimScore], rows: int) -> Reconstruction:
        best = max(scores, key=lambda name: scores[name].patients - scores[name].guessed_patients)
        found = scores[best]
        return Reconstruction(scores, best, ShareInterval.of(found.patients, rows), found.guessed_patients / rows)


def reconstructed(seen: AttackersView, original: AttackersView, seed: int) -> Reconstruction:
    """Try all attacks on a release."""
    truth = original.rounded()
    scores = {
        name: score(attack(seen), guess, seen, truth, seed)
        for name, (attack, guess) in ATTACKS.items()
        if attack not in (by_position, by_group_means) or seen.rows == original.rows
    }
    return Reconstruction.of(scores, len(truth))


def of_pair(pair: Pair, domain: Domain | None, seed: int) -> Reconstruction:
    """Try all attacks on a release that has a row, with the domain, and what else is public of the columns."""
    known = known_of(pair.original, domain)
    before, after = pair.labels or (None, None)
    release = AttackersView.of(pair.released, after, known)
    return reconstructed(release, AttackersView.of(pair.original, before, known), seed)
