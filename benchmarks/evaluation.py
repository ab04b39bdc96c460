"""What folds and evaluations cost: a hospital's contribution in folds, and classifiers judged on its patients.

    python benchmarks/evaluation.py [hospitals]

Everything runs in memory, both mixers and the hospital in threads of one process, so the seconds are those of the
arithmetic. Four hospitals of 230 patients, 13 attributes of five bins, two classes, as the four hospitals of the UCI
heart disease table have them. `mixbayes simulate --evaluate` measures the same with processes and TLS.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import Sheet, run_evaluation
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.validity import run_validation
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.protocol.shares import split

HOSPITALS, PATIENTS, ATTRIBUTES, BINS = 4, 230, 13, 5
FOLDS = (1, 2, 5, 10)
JUDGED = 5
RECIPES = ("joint", "personal:weight=0:prior=own", "personal:weight=10:prior=own")


def main(hospitals: int = HOSPITALS, patients: int = PATIENTS, folds: tuple[int, ...] = FOLDS) -> None:
    for number in folds:
        _contributions(hospitals, patients, number)
    _evaluations(hospitals, patients)


def _contributions(hospitals: int, patients: int, folds: int) -> None:
    """The bytes of a contribution, and the check of all of them."""
    layout = _layout(hospitals, patients, folds)
    shares = [split(_folds(layout, patients, at).reshape(-1), _seed()) for at in range(hospitals)]
    begun = time.perf_counter()
    verdicts, _, _ = run_validation(layout, shares, (_seed(), _seed()))
    seconds = time.perf_counter() - begun
    if not all(verdicts):
        raise SystemExit("an honest contribution was refused")
    size = SEED_BYTES + shares[0].masked.nbytes
    print(f"{folds} folds, {size} bytes a contribution, {hospitals} checked in {seconds:.2f} s")


def _evaluations(hospitals: int, patients: int) -> None:
    """All hospitals one after the other, all recipes but the own one, for which nobody is asked."""
    layout, total = _layout(hospitals, patients, JUDGED), 0.0
    folds = [_folds(layout, patients, at) for at in range(hospitals)]
    joint = np.concatenate(folds).sum(axis=0, dtype=np.uint64)
    for text in RECIPES:
        sheet = Sheet(layout, read_recipe(text), -(-patients // JUDGED))
        begun = time.perf_counter()
        for at, own in enumerate(folds):
            codes, labels = _patients(layout, sheet.rows * JUDGED, at)
            groups = sheet.split * labels.astype(np.int64)
            run_evaluation(sheet, _shares(joint, own), codes, groups, (_seed(), _seed(), _seed()))
        seconds = time.perf_counter() - begun
        total += seconds
        print(f"{text}, {hospitals} hospitals of {patients} patients in {JUDGED} folds, {seconds:.2f} s")
    print(f"all of them, {total:.2f} s")


def _layout(hospitals: int, patients: int, folds: int) -> Layout:
    values = tuple(f"bin {at}" for at in range(BINS))
    attributes = tuple(Nominal(name=f"attribute {at}", values=values) for at in range(ATTRIBUTES))
    dictionary = Dictionary(class_column="class", classes=("well", "ill"), attributes=attributes, max_rows=1 << 12)
    return Layout(dictionary, replace(Terms(hospitals), folds=folds, max_rows_each=max(400, patients)))


def _patients(layout: Layout, rows: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(number)
    codes = [rng.integers(0, attribute.codes, rows) for attribute in layout.dictionary.attributes]
    return np.stack(codes).astype(np.int32), rng.integers(0, layout.classes, rows).astype(np.int32)


def _folds(layout: Layout, patients: int, number: int) -> Words:
    codes, labels = _patients(layout, patients, number)
    number = layout.terms.folds
    return np.stack([count(layout, Codes(codes[:, at::number], labels[at::number])) for at in range(number)])


def _shares(joint: Words, folds: Words) -> tuple[tuple[Words, Words], tuple[Words, Words]]:
    random = Randomness.from_system()
    of_joint, of_folds = random.words(joint.size), random.words(folds.size).reshape(folds.shape)
    return (of_joint, of_folds), (joint - of_joint, folds - of_folds)


def _seed() -> bytes:
    return Randomness.from_system().bytes(SEED_BYTES)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else HOSPITALS)
