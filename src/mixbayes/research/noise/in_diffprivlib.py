"""Runs where diffprivlib is installed, with an interpreter of its own: python in_diffprivlib.py FILE

FILE (.npz) holds numbers between −1 and 1, classes, the fold of each patient in every repetition, and ε. Prints, as
JSON, for each ε the accuracy in each repetition.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from typing import Any

import numpy as np


def accuracies(given: Any, epsilon: float) -> list[float]:
    """In each repetition, of GaussianNB trained on all but one fold."""
    classifier = import_module("diffprivlib.models").GaussianNB
    random = np.random.RandomState(0)
    found = []
    for fold in given["folds"]:
        right = 0
        for one in range(fold.max() + 1):
            asked = fold == one
            made = classifier(epsilon=epsilon, bounds=(-1, 1), random_state=random)
            made.fit(given["numbers"][~asked], given["labels"][~asked])
            right += (made.predict(given["numbers"][asked]) == given["labels"][asked]).sum()
        found.append(float(right / fold.size))
    return found


def main(file: str) -> None:
    given = np.load(file)
    warnings.simplefilter("ignore")
    json.dump([accuracies(given, float(epsilon)) for epsilon in given["epsilons"]], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
