"""Agreed terms that change counts and are not in the dictionary: the rows of each hospital, and noise."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.privacy.coins import Coins


@dataclass(frozen=True)
class Terms:
    """With the usual terms one hospital may have all the rows that the dictionary allows, and there is no noise."""

    hospitals: int = 1
    min_rows: int = 0
    """Of each hospital."""
    max_rows_each: int | None = None
    """The dictionary's `max_rows` if it is not agreed."""
    coins: Coins | None = None
    """The noise on a count."""
    folds: int = 1
    """Into how many parts a hospital divides its rows, so that it can be judged by rows that did not count."""
    weight: int = 0
    """How often one hospital's rows count beyond once, in a classifier of its own."""


USUAL = Terms()
