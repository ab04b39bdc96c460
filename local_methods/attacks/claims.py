"""What an attack claims, how much of it is right, and how much of it guessing would have got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats, Indices

CONFIDENCE = 1.959963984540054
"""Normal deviations of a 95 % interval."""

GUESSES = 20
"""Guessing is repeated so often that its share is known more precisely than the attack's."""

MOST_GUESSES = 20_000


@dataclass(frozen=True, eq=False)
class Claims:
    """Patients who are said to be in the original, in units of the columns; not-a-number claims nothing of a cell."""

    cells: Floats = field(repr=False)
    places: Indices | None = None
    """Which row of the original each is said to be; None where it may be any. With places every cell counts by itself:
    a claim is right as far as its cells are."""
    cut_off: bool = False
    """Whether the attack stopped before its end, because it would have taken too long."""

    def __len__(self) -> int:
        return len(self.cells)

    @staticmethod
    def none(seen: AttackersView, cut_off: bool = False) -> Claims:
        return Claims(np.empty((0, seen.cells.shape[1])), None, cut_off)


FEW = 3
"""Units by which a number nearby is off."""

Guess = Callable[[AttackersView, Claims, np.random.Generator], Claims]
"""As many claims of the same kind by somebody who has the release and does not attack it."""


@dataclass(frozen=True)
class ShareInterval:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float

    @staticmethod
    def of(right: float, of: int) -> ShareInterval:
        """Of so many; a share of nothing may be any."""
        return ShareInterval.around(right / of, of) if of else ShareInterval(0.0, 0.0, 1.0)

    @staticmethod
    def around(share: float, of: int) -> ShareInterval:
        """Wilson's interval: of use for few too, and never beyond 0 or 1."""
        square = CONFIDENCE**2
        centre = (share + square / (2 * of)) / (1 + square / of)
        half = CONFIDENCE * sqrt(share * (1 - share) / of + square / (4 * of**2)) / (1 + square / of)
        return ShareInterval(share, max(0.0, centre - half), min(1.0, centre + half))


@dataclass(frozen=True)
class ClaimScore:
    """How many claims were made and how many were right, beside as many guesses."""

    claims: int
    right: float
    share: ShareInterval
    """Of the claims, how many are right."""
    guessed: ShareInterval
    """Of guesses of the same kind, how many are."""
    patients: float
    """Of the original, how many were given back in every cell."""
    guessed_patients: float
    """How many as many guesses gave back, on average."""
    cut_off: bool

    @property
    def beats_guessing(self) -> bool:
        """Whether the intervals of both are apart."""
        return self.claims > 0 and self.share.low > self.guessed.high


def score(claims: Claims, guess: Guess, seen: AttackersView, original: Floats, seed: int) -> ClaimScore:
    """Compare claims and guesses with the original, which is in units as they are."""
    random = np.random.default_rng(seed)
    right, patients = _right(claims, original)
    times = max(1, min(GUESSES, MOST_GUESSES // max(1, len(claims)))) if len(claims) else 0
    guesses = np.array([_right(guess(seen, claims, random), original) for _ in range(times)]).reshape(-1, 2)
    made = times * len(claims)
    return ClaimScore(
        len(claims),
        right,
        ShareInterval.of(right, len(claims)),
        ShareInterval.of(float(guesses[:, 0].sum()), made),
        patients,
        float(guesses[:, 1].mean()) if times else 0.0,
        claims.cut_off,
    )


def _right(claims: Claims, original: Floats) -> tuple[float, float]:
    """How many claims are right, and how many of these are of every cell of a patient."""
    return float(right_claims(claims, original).sum()), float(given_back(claims, original))


def given_back(claims: Claims, original: Floats) -> int:
    """How many patients are claimed in every cell that they have, and in no other. Each is found once."""
    claimed, cells = _known(claims.cells), _known(original)
    if claims.places is not None:
        return int((claimed == cells[claims.places]).all(axis=1).sum())
    return (Counter(map(bytes, claimed)) & Counter(map(bytes, cells))).total()


def _known(cells: Floats) -> Floats:
    """Gaps as infinity, so that two of them are alike."""
    return np.where(np.isnan(cells), np.inf, np.rint(cells)) + 0.0


def right_claims(claims: Claims, original: Floats) -> Floats:
    """Of each claim 1 if it is true. Each patient is found once: of two equal claims one is right, if one is so."""
    if claims.places is not None:
        claimed = ~np.isnan(claims.cells)
        agree = np.rint(claims.cells) == np.rint(original[claims.places])
        return (agree & claimed).sum(axis=1) / np.maximum(claimed.sum(axis=1), 1)
    found = np.zeros(len(claims))
    for columns, at in _by_columns(claims.cells):
        left = Counter(map(bytes, np.rint(original[:, columns]) + 0.0))
        for claim in at:
            key = bytes(np.rint(claims.cells[claim, columns]) + 0.0)
            found[claim] = left[key] > 0
            left[key] -= 1
    return found


def _by_columns(cells: Floats) -> list[tuple[Indices, Indices]]:
    """The claims that are about the same columns, together."""
    about, which = np.unique(~np.isnan(cells), axis=0, return_inverse=True)
    return [(np.flatnonzero(mask), np.flatnonzero(which.ravel() == at)) for at, mask in enumerate(about)]


def drawn(seen: AttackersView, claims: Claims, random: np.random.Generator) -> Claims:
    """Rows whose cells are drawn from the released columns, each by itself, within a class as frequent as released."""
    like = random.integers(seen.rows, size=len(claims))
    rounded = seen.rounded()
    guessed = np.empty_like(claims.cells)
    for pool in seen.pools():
        into = np.flatnonzero(np.isin(like, pool))
        for column in range(seen.cells.shape[1]):
            guessed[into, column] = random.choice(rounded[pool, column], len(into))
    return _alike(claims, guessed)


def released_rows(seen: AttackersView, claims: Claims, random: np.random.Generator) -> Claims:
    """Released rows themselves, taken at random."""
    return _alike(claims, seen.rounded()[random.integers(seen.rows, size=len(claims))])


def of_their_class(seen: AttackersView, claims: Claims, random: np.random.Generator) -> Claims:
    """In the place of each row another released row of its class."""
    chosen = np.arange(seen.rows)
    for pool in seen.pools():
        chosen[pool] = random.choice(pool, len(pool))
    places = np.arange(seen.rows) if claims.places is None else claims.places
    return _alike(claims, seen.rounded()[chosen[places]])


def nearby(seen: AttackersView, claims: Claims, random: np.random.Generator) -> Claims:
    """Numbers that are a few units off what is claimed. Names stay."""
    steps = random.integers(1, FEW + 1, claims.cells.shape) * random.choice([-1, 1], claims.cells.shape)
    return Claims(claims.cells + np.where(seen.nominal, 0, steps), claims.places)


def _alike(claims: Claims, cells: Floats) -> Claims:
    """These cells, where the claims have any."""
    return Claims(np.where(np.isnan(claims.cells), np.nan, cells), claims.places)
