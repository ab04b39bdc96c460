"""Cross-validation: nobody is asked about who was learned from, and everybody is asked about."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.research.study.arms import Record, asked
from mixbayes.research.study.splits import Split, splits

CLASSES = {"north": np.array(list("aabbbababbaabbbbb")), "south": np.array(list("abbbbbbbbbb"))}
FOLDS = 4


def dealt(seed: int = 0, repeats: int = 3) -> list[Split]:
    return splits(CLASSES, repeats, FOLDS, seed)


def test_a_row_is_learned_from_or_asked_about() -> None:
    for split in dealt():
        for name, labels in CLASSES.items():
            assert sorted([*split.asked[name], *split.learned[name]]) == list(range(len(labels)))


@pytest.mark.parametrize("name", CLASSES)
def test_every_row_is_asked_about_once_in_each_repetition(name: str) -> None:
    for repeat in range(3):
        rows = np.concatenate([split.asked[name] for split in dealt() if split.repeat == repeat])
        assert sorted(rows) == list(range(len(CLASSES[name])))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("label", ["a", "b"])
def test_every_fold_has_its_share_of_each_class(name: str, label: str) -> None:
    sizes = [int((CLASSES[name][split.asked[name]] == label).sum()) for split in dealt()]
    assert max(sizes) - min(sizes) <= 1


def folds(some: list[Split]) -> list[list[int]]:
    return [split.asked["north"].tolist() for split in some]


def test_repetitions_differ_and_a_seed_repeats() -> None:
    all_folds = folds(dealt())
    assert all_folds == folds(dealt())
    assert all_folds != folds(dealt(seed=1))
    assert all_folds[:FOLDS] != all_folds[FOLDS : 2 * FOLDS]


def test_what_is_noted_comes_back_to_its_patient() -> None:
    """A label is right where the row's number is even; of the south, in the first repetition only."""
    record = Record({name: len(labels) for name, labels in CLASSES.items()}, 2)
    for split in dealt(repeats=2):
        right = [rows % 2 == 0 for rows in (split.asked["north"], split.asked["south"])]
        record.note("arm", split, np.concatenate([right[0], right[1] & (split.repeat == 0)]))
    assert record.of("arm", "north").tolist() == [1.0, 0.0] * 8 + [1.0]
    assert record.of("arm", "south").tolist() == [0.5, 0.0] * 5 + [0.5]
    assert record.of("arm").tolist() == [*record.of("arm", "north"), *record.of("arm", "south")]


def test_those_asked_about_stand_hospital_after_hospital() -> None:
    codes = {name: np.arange(len(labels), dtype=np.int32)[None, :] for name, labels in CLASSES.items()}
    truth = {name: np.arange(len(labels)) for name, labels in CLASSES.items()}
    for split in dealt():
        patients = asked(codes, truth, split)
        for name in CLASSES:
            assert patients.of(name)[0].tolist() == split.asked[name].tolist()
        assert patients.truth.tolist() == patients.codes[0].tolist()
