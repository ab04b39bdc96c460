"""Which rows of each hospital are learned from and which are asked about: repeated cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Split:
    """One fold of one repetition: the rows asked about, by hospital; all others are learned from."""

    repeat: int
    fold: int
    asked: Mapping[str, Rows]
    learned: Mapping[str, Rows]


def splits(classes: Mapping[str, Texts], repeats: int, folds: int, seed: int) -> list[Split]:
    """Every row of every hospital is asked about once in each repetition; each fold has its share of each class."""
    random = np.random.default_rng(seed)
    found = []
    for repeat in range(repeats):
        dealt = {name: _dealt(labels, folds, random) for name, labels in classes.items()}
        for fold in range(folds):
            asked = {name: np.flatnonzero(at == fold) for name, at in dealt.items()}
            learned = {name: np.flatnonzero(at != fold) for name, at in dealt.items()}
            found.append(Split(repeat, fold, asked, learned))
    return found


def _dealt(labels: Texts, folds: int, random: np.random.Generator) -> Rows:
    """The fold of each row, dealt class by class in random order."""
    order = np.lexsort((random.random(len(labels)), labels))
    dealt = np.empty(len(labels), np.intp)
    dealt[order] = np.arange(len(labels)) % folds
    return dealt
