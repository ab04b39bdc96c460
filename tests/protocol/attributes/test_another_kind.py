"""A kind of attribute that the program does not have: a cell with several values, each present or absent.

One class is enough to count it, check it, train with it and ask about it. Labels equal those of scikit-learn's
BernoulliNB.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB

from mixbayes.protocol.arrays import Bits, Values, Words
from mixbayes.protocol.attributes.asking import SumOf
from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.kind import Integers, Kind, Learned, Reach, Reading
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.totals import occurrences
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.bayes.validity import run_validation
from mixbayes.protocol.circuits.logarithm import ERROR
from mixbayes.protocol.shares import split

MISSING = 2
SEEDS = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32
VALUES = "I10", "E11", "N18", "J44", "C50"


class Several(Kind):
    """The block has, for every class: the patients with each value, those with a cell, and those without one."""

    kind: Literal["several"] = "several"
    values: tuple[str, ...]

    @property
    def columns(self) -> int:
        return len(self.values)

    @property
    def codes(self) -> int:
        return MISSING + 1

    def read(self, cells: Texts) -> Reading:
        lists = [cell.split(";") for cell in cells.tolist()]
        codes = np.array(
            [[MISSING if row == [""] else value in row for row in lists] for value in self.values], np.int32
        )
        return Reading(codes, *np.zeros((2, cells.size), np.bool_))

    def misfit(self, foreign: Texts) -> str:
        return "never"

    def described(self) -> str:
        return ", ".join(self.values)

    @property
    def rows(self) -> int:
        return len(self.values) + 2

    def count(self, block: Words, codes: Values, labels: Integers, times: Integers | None = None) -> None:
        missing = codes[0] == MISSING
        for row, where in zip(block, [*(codes == 1), ~missing, missing], strict=True):
            row += occurrences(labels[where], len(row), times[where] if times is not None else None)

    def counters(self, block: Words) -> Words:
        present, answered, missing = block[:, :-2], block[:, -2:-1], block[:, -1:]
        return np.concatenate([present, answered - present, missing], axis=1).reshape(len(block), -1)

    def surplus(self, block: Words, of_class: Words) -> Words:
        return block[:, -2] + block[:, -1] - of_class

    def reach(self, smoothing: Fraction, rows: int) -> Reach:
        p, q, many = smoothing.numerator, smoothing.denominator, len(self.values)
        largest = q * rows + 2 * p
        return Reach(largest, Fraction(largest, p) ** many, 2**many, 2 * many * ERROR)

    def log_arguments(self, block: Words, smoothing: Fraction, one: int) -> Words:
        p, q = np.uint64(smoothing.numerator * one), np.uint64(smoothing.denominator)
        present, answered = block[:-2] * q + p, block[-2:-1] * q + p + p
        return np.concatenate([present, answered - present, answered]).reshape(-1)

    @classmethod
    def fixed_tables(cls, learned: Sequence[Learned]) -> list[Words]:
        return [_table(one.logs.reshape(-1, one.block.shape[1])) for one in learned]

    @property
    def asking(self) -> SumOf:
        return SumOf(len(self.values) + 1, _features)

    def real_scores(self, block: Words, codes: Values, smoothing: float) -> NDArray[np.float64]:
        share = (block[:-2] + smoothing) / (block[-2] + 2 * smoothing)
        score = np.log2(share).T @ (codes == 1) + np.log2(1 - share).T @ (codes == 0)
        return np.where(codes[0] == MISSING, 0.0, score)


def _table(logs: Words) -> Words:
    """(V + 1, K): a cell without any value, then what each value changes."""
    values = len(logs) // 2
    present, absent, answered = logs[:values], logs[values:-1], logs[-1]
    nothing = absent.sum(axis=0, dtype=np.uint64) - np.uint64(values) * answered
    return np.concatenate([nothing[None], present - absent])


def _features(codes: Values) -> Bits:
    return np.concatenate([codes[:1] != MISSING, codes == 1]).astype(np.uint8)


def layout() -> Layout:
    """A dictionary that no file can name: the registry does not have this kind."""
    attributes = (
        Nominal(name="sex", values=("f", "m")),
        Several(name="diagnoses", values=VALUES),
        Several(name="drugs", values=VALUES[:2]),
    )
    return Layout(
        Dictionary.model_construct(
            class_column="class",
            classes=("a", "b", "c"),
            attributes=attributes,  # pyright: ignore[reportArgumentType]
            smoothing=Fraction(1),
            max_rows=2**20,
        )
    )


def patients(rng: np.random.Generator, rows: int) -> tuple[Values, NDArray[np.int32]]:
    """Codes of each attribute, in their columns: 1, 5 and 2; some cells are missing as a whole."""
    labels = rng.integers(0, 3, rows).astype(np.int32)
    sex = rng.integers(0, 3, (1, rows))
    several = (rng.random((7, rows)) < 0.2 + 0.2 * labels).astype(np.int32)
    several[:5, rng.random(rows) < 0.1] = MISSING
    several[5:, rng.random(rows) < 0.1] = MISSING
    return np.concatenate([sex, several]).astype(np.int32), labels


@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
def test_labels_are_those_of_the_reference(private: bool) -> None:
    rng, agreed = np.random.default_rng(1), layout()
    tables = [count(agreed, Codes(*patients(rng, rows))) for rows in (200, 90, 40)]
    asked, _ = patients(rng, 60)
    models = run_training(agreed, tables, SEEDS)
    labels = run_classification(agreed, models, asked, SEEDS, private=private)
    joint = tables[0] + tables[1] + tables[2]
    np.testing.assert_array_equal(labels, fixed_labels(agreed, fixed_model(agreed, joint), asked))
    np.testing.assert_array_equal(labels, real_scores(agreed, joint, asked).argmax(axis=0))


def test_labels_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    agreed = Layout(
        Dictionary.model_construct(
            class_column="class",
            classes=("a", "b"),
            attributes=(Several(name="diagnoses", values=VALUES),),  # pyright: ignore[reportArgumentType]
            smoothing=Fraction(1),
            max_rows=2**20,
        )
    )
    labels = rng.integers(0, 2, 300).astype(np.int32)
    codes = (rng.random((5, 300)) < 0.2 + 0.4 * labels).astype(np.int32)
    theirs = BernoulliNB(alpha=1.0).fit(codes.T, labels).predict(codes.T)
    ours = fixed_labels(agreed, fixed_model(agreed, count(agreed, Codes(codes, labels))), codes)
    np.testing.assert_array_equal(ours, theirs)


def test_contributions_that_cannot_be_are_refused() -> None:
    rng, agreed = np.random.default_rng(3), layout()
    honest = count(agreed, Codes(*patients(rng, 100)))
    more_than_answered, nobody_missing = honest.copy(), honest.copy()
    block = agreed.block(more_than_answered, 1)
    block[0, 0] = block[-2, 0] + np.uint64(1)
    agreed.block(nobody_missing, 2)[-1, 1] += np.uint64(1)
    shares = [split(vector, bytes([i]) * 32) for i, vector in enumerate((honest, more_than_answered, nobody_missing))]
    verdicts, _, _ = run_validation(agreed, shares, SEEDS[:2])
    assert verdicts == [True, False, False]


def test_cells_are_read_as_one_code_for_each_value() -> None:
    codes = Several(name="diagnoses", values=VALUES[:3]).read(np.array(["I10;N18", "", "E11"])).codes
    assert codes.tolist() == [[1, MISSING, 0], [0, MISSING, 1], [1, MISSING, 0]]
