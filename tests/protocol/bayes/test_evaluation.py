"""What an evaluation opens is what the reference counts, to the last patient; and a lie opens no more than totals."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes import evaluation
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import (
    PADDING,
    THRESHOLDS,
    Integers,
    Sheet,
    Totals,
    checked,
    packed,
    run_evaluation,
    totals_in_clear,
    without_each,
)
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.reference import fixed_models
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness
from tests.protocol.pairs import SEEDS, seed

ATTRIBUTES = (Nominal(name="n", values=("x", "y", "z")), Several(name="s", values=("p", "q"), most=2))
NUMBERS = Gaussian(name="g", low=0.0, high=1.0)
FOLDS = 3


def layout_of(attributes: Sequence[Attribute] = ATTRIBUTES, classes: int = 2, coins: Coins | None = None) -> Layout:
    labels = tuple(f"c{at}" for at in range(classes))
    dictionary = Dictionary(class_column="class", classes=labels, attributes=tuple(attributes), max_rows=2**10)
    return Layout(dictionary, Terms(hospitals=2, folds=FOLDS, coins=coins))


class Patients:
    """A hospital's rows in the order of their folds, and another hospital's counts."""

    def __init__(self, layout: Layout, number: int, each: int, split: int = 2) -> None:
        rng = np.random.default_rng(number)
        self.layout = layout
        self.codes, self.labels = self._some(rng, FOLDS * each)
        right = rng.integers(0, split, FOLDS * each)
        padding = rng.integers(0, 5, FOLDS * each) == 0
        self.groups: Integers = np.where(padding, PADDING, split * self.labels.astype(np.int64) + right)
        parts = [slice(at * each, (at + 1) * each) for at in range(FOLDS)]
        self.folds = np.stack([count(layout, Codes(self.codes[:, part], self.labels[part])) for part in parts])
        self.joint = self.folds.sum(axis=0, dtype=np.uint64) + count(layout, Codes(*self._some(rng, 40)))
        if layout.terms.coins:
            self.joint = blurred_in_clear(layout, self.joint, Randomness(seed(number)), Randomness(seed(number + 1)))

    def shares(self, number: int) -> tuple[tuple[Words, Words], tuple[Words, Words]]:
        random = Randomness(seed(number))
        of_joint = random.words(self.joint.size)
        of_folds = random.words(self.folds.size).reshape(self.folds.shape)
        return (of_joint, of_folds), (self.joint - of_joint, self.folds - of_folds)

    def expected(self, sheet: Sheet) -> Totals:
        models = fixed_models(self.layout, sheet.recipe, *without_each(self.layout, self.joint, self.folds))
        return totals_in_clear(sheet, models, self.codes, self.groups)

    def _some(self, rng: np.random.Generator, rows: int) -> tuple[Values, np.ndarray]:  # type: ignore[type-arg]
        attributes = self.layout.dictionary.attributes
        codes = [rng.integers(0, attribute.codes, (attribute.columns, rows)) for attribute in attributes]
        labels = rng.integers(0, self.layout.classes, rows).astype(np.int32)
        # The first attribute says something about the class, so that answers differ from chance.
        codes[0][0] = np.where(rng.integers(0, 3, rows) > 0, labels % 3, codes[0][0])
        return np.concatenate(codes).astype(np.int32), labels


SEVERAL = [
    ("joint", ATTRIBUTES, 2, None),
    ("personal:weight=4:prior=own", (NUMBERS, *ATTRIBUTES), 2, None),
    ("personal:weight=1:prior=joint:costs=c1=3:unsure=0.5", ATTRIBUTES, 3, None),
    ("personal:weight=9:prior=mixed:unsure=1", (*ATTRIBUTES, NUMBERS), 2, Coins((4, 2))),
]


@pytest.mark.parametrize(("text", "attributes", "classes", "coins"), SEVERAL)
@given(number=SEEDS, each=st.sampled_from([1, 7, 30]))
@settings(max_examples=3)
def test_what_is_opened_is_what_the_reference_counts(
    text: str, attributes: Sequence[Attribute], classes: int, coins: Coins | None, number: int, each: int
) -> None:
    layout = layout_of(attributes, classes, coins)
    sheet, patients = Sheet(layout, read_recipe(text), each), Patients(layout, number, each)
    seeds = seed(number + 2), seed(number + 3), seed(number + 4)
    found = run_evaluation(sheet, patients.shares(number), patients.codes, patients.groups, seeds)
    expected = patients.expected(sheet)
    assert found.answers.tolist() == expected.answers.tolist()
    assert found.above.tolist() == expected.above.tolist()
    assert found.answers.sum() == (patients.groups >= 0).sum()
    assert found.above.shape == (classes, len(THRESHOLDS) if classes == 2 else 0)


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of()
    sheet, patients = Sheet(layout, read_recipe("joint"), 20), Patients(layout, 1, 20)
    monkeypatch.setattr(evaluation, "_COMPARED", 7 * len(THRESHOLDS))
    monkeypatch.setattr("mixbayes.protocol.bayes.question._MOST_ROWS", 7)
    assert len(sheet.pieces()) > FOLDS
    found = run_evaluation(sheet, patients.shares(2), patients.codes, patients.groups, (seed(1), seed(2), seed(3)))
    assert found.answers.tolist() == patients.expected(sheet).answers.tolist()


def test_totals_of_many_classes_take_several_words() -> None:
    layout = layout_of(classes=12)
    sheet, patients = Sheet(layout, read_recipe("joint"), 30), Patients(layout, 3, 30)
    assert sheet.words(sheet.groups) > 1
    found = run_evaluation(sheet, patients.shares(2), patients.codes, patients.groups, (seed(1), seed(2), seed(3)))
    assert found.answers.tolist() == patients.expected(sheet).answers.tolist()


def test_a_row_is_judged_by_a_model_in_which_it_does_not_count() -> None:
    """A value that only one patient has tells nothing about that patient, if that patient does not count."""
    values = tuple(f"v{at}" for at in range(3 * FOLDS))
    layout = layout_of((Nominal(name="n", values=values),))
    codes = np.arange(3 * FOLDS, dtype=np.int32)[None]
    labels = np.array([0, 1, 1] * FOLDS, np.int32)
    folds = np.stack([count(layout, Codes(codes[:, at : at + 3], labels[at : at + 3])) for at in range(0, 9, 3)])
    sheet = Sheet(layout, read_recipe("joint"), 3, split=1)
    models = fixed_models(layout, sheet.recipe, *without_each(layout, folds.sum(axis=0, dtype=np.uint64), folds))
    found = totals_in_clear(sheet, models, codes, labels.astype(np.int64))
    assert found.answers.tolist() == [[0, FOLDS], [0, 2 * FOLDS]]  # everybody is in the larger class


@pytest.mark.parametrize("change", [1, 1 << 20, (1 << 64) - 1])
def test_totals_that_cannot_be_are_refused(change: int) -> None:
    layout = layout_of()
    sheet, patients = Sheet(layout, read_recipe("joint"), 9), Patients(layout, 5, 9)
    words = np.zeros(sheet.size, np.uint64)
    with pytest.raises(OutOfRange, match="not the totals of the rows"):
        checked(sheet, words + np.uint64(change), patients.groups, "mixer a or mixer b")


@pytest.mark.parametrize(("first", "last", "refused"), [(0, 0, False), (0, 1, True), (31, 31, True)])
def test_scores_that_cannot_be_are_refused(first: int, last: int, refused: bool) -> None:
    """More rows above a higher threshold than above a lower one, or more than there are."""
    layout = layout_of()
    sheet, patients = Sheet(layout, read_recipe("joint"), 9), Patients(layout, 5, 9)
    above = np.zeros((2, len(THRESHOLDS)), np.uint64)
    above[0], above[0, -1] = first, last
    answers = packed(sheet, patients.expected(sheet).answers.astype(np.uint64))
    words = np.concatenate([answers, packed(sheet, above)])
    with pytest.raises(OutOfRange, match="not the totals of the rows") if refused else nullcontext():
        checked(sheet, words, patients.groups, "mixer a or mixer b")


def test_a_lie_about_groups_opens_totals_of_other_rows_and_no_word_more() -> None:
    """Rows in all groups at once, and in none: the totals do not run into each other."""
    layout = layout_of()
    sheet, patients = Sheet(layout, read_recipe("joint"), 15), Patients(layout, 6, 15)
    honest = patients.expected(sheet)

    def every_group(sheet: Sheet, groups: Integers) -> np.ndarray:  # type: ignore[type-arg]
        return np.ones((sheet.groups, groups.size), np.uint8)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "group_bits", every_group)
        patch.setattr(evaluation, "checked", lambda sheet, words, groups, senders: evaluation.totals_of(sheet, words))
        found = run_evaluation(sheet, patients.shares(2), patients.codes, patients.groups, (seed(1), seed(2), seed(3)))
    assert (found.answers == found.answers[0]).all()
    assert found.answers[0].sum() == FOLDS * 15
    assert (found.answers[0] >= honest.answers.sum(axis=0)).all()


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("text", ["joint", "joint:costs=c0=1000,c1=0.001", "joint:costs=c0=0.001,c1=1000"])
def test_thresholds_fit_where_a_class_is_empty_without_a_fold(values: int, text: str) -> None:
    """The only patient of a class is in one fold: without it scores are as far apart as they can be."""
    layout = layout_of((Nominal(name="n", values=tuple("xyz"[:values])),))
    codes, labels = np.zeros((1, FOLDS), np.int32), np.array([1, 0, 0], np.int32)
    folds = np.stack([count(layout, Codes(codes[:, [at]], labels[[at]])) for at in range(FOLDS)])
    joint = folds.sum(axis=0, dtype=np.uint64)
    sheet, groups = Sheet(layout, read_recipe(text), 1), labels.astype(np.int64) * 2
    zeros = np.zeros_like(joint), np.zeros_like(folds)
    found = run_evaluation(sheet, ((joint, folds), zeros), codes, groups, (seed(1), seed(2), seed(3)))
    models = fixed_models(layout, sheet.recipe, *without_each(layout, joint, folds))
    assert found.above.tolist() == totals_in_clear(sheet, models, codes, groups).above.tolist()


def test_the_histogram_is_of_scores_without_costs() -> None:
    layout = layout_of()
    patients = Patients(layout, 8, 30)
    plain, costly = (Sheet(layout, read_recipe(text), 30) for text in ("joint", "joint:costs=c1=8"))
    assert patients.expected(plain).above.tolist() == patients.expected(costly).above.tolist()
    assert patients.expected(plain).answers.tolist() != patients.expected(costly).answers.tolist()
