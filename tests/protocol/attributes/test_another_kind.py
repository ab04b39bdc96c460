"""A kind of attribute that the program does not have: a date, of which the month counts, missing or not.

One class is enough to read it, count it, check it, train with it and ask about it. Labels equal those of scikit-learn's
CategoricalNB.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.cells import Texts, missing
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.discrete import Discrete
from mixbayes.protocol.attributes.entry import OneOption, Option
from mixbayes.protocol.attributes.kind import Reading
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.bayes.validity import run_validation
from mixbayes.protocol.shares import split

SEEDS = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d{2}")


class Month(Discrete):
    """Dates as 2024-03-15, of which only the month counts: whether an illness keeps to a season."""

    kind: Literal["month"] = "month"

    @property
    def size(self) -> int:
        return 12

    def read(self, cells: Texts) -> Reading:
        found = [DATE.fullmatch(cell) for cell in cells.tolist()]
        codes = np.array([int(date[1]) - 1 if date else self.size for date in found], np.int32)
        foreign = (codes == self.size) & ~missing(cells)
        return Reading(codes[None], foreign, np.zeros_like(foreign))

    @property
    def entry(self) -> OneOption:
        return OneOption(tuple(Option(f"2024-{month:02}-01", f"month {month}") for month in range(1, 13)))

    def misfit(self, foreign: Texts) -> str:
        return "not a date. Write dates as 2024-03-15"

    def described(self) -> str:
        return "the month of a date"


def layout(*attributes: Nominal | Month) -> Layout:
    """A dictionary that no file can name: the registry does not have this kind."""
    return Layout(
        Dictionary.model_construct(
            class_column="class",
            classes=("a", "b", "c"),
            attributes=attributes,  # pyright: ignore[reportArgumentType]
            smoothing=Fraction(1),
            max_rows=2**20,
        )
    )


BOTH = layout(Nominal(name="sex", values=("f", "m")), Month(name="first seen"))


def patients(rng: np.random.Generator, rows: int) -> tuple[Values, NDArray[np.int32]]:
    """Codes of both attributes; some cells are missing, and later classes come later in the year."""
    labels = rng.integers(0, 3, rows).astype(np.int32)
    months = np.where(rng.random(rows) < 0.1, 12, np.minimum(rng.integers(0, 8, rows) + 2 * labels, 11))
    return np.stack([rng.integers(0, 3, rows), months]).astype(np.int32), labels


@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
def test_labels_are_those_of_the_reference(private: bool) -> None:
    rng = np.random.default_rng(1)
    tables = [count(BOTH, Codes(*patients(rng, rows))) for rows in (200, 90, 40)]
    asked, _ = patients(rng, 60)
    models = run_training(BOTH, tables, SEEDS)
    labels = run_classification(BOTH, models, asked, SEEDS, private=private)
    joint = tables[0] + tables[1] + tables[2]
    np.testing.assert_array_equal(labels, fixed_labels(BOTH, fixed_model(BOTH, joint), asked))
    np.testing.assert_array_equal(labels, real_scores(BOTH, joint, asked).argmax(axis=0))


def test_labels_are_those_of_scikit_learn() -> None:
    rng, agreed = np.random.default_rng(2), layout(Month(name="first seen"))
    codes, labels = patients(rng, 300)
    here = codes[1] < 12
    codes, labels = codes[1:, here], labels[here]
    theirs = CategoricalNB(alpha=1.0, min_categories=12).fit(codes.T, labels).predict(codes.T)
    ours = fixed_labels(agreed, fixed_model(agreed, count(agreed, Codes(codes, labels))), codes)
    np.testing.assert_array_equal(ours, theirs)


def test_contributions_that_cannot_be_are_refused() -> None:
    honest = count(BOTH, Codes(*patients(np.random.default_rng(3), 100)))
    more, moved = honest.copy(), honest.copy()
    BOTH.block(more, 1)[3, 0] += np.uint64(1)
    BOTH.block(moved, 1)[3, :2] += np.array([1, 2**64 - 1], np.uint64)
    shares = [split(vector, bytes([i]) * 32) for i, vector in enumerate((honest, more, moved))]
    verdicts, _, _ = run_validation(BOTH, shares, SEEDS[:2])
    assert verdicts == [True, False, False]


def test_cells_are_read_as_months() -> None:
    reading = Month(name="first seen").read(np.array(["2024-03-15", "1999-12-01", "", "15.3.2024"]))
    assert reading.codes.tolist() == [[2, 11, 12, 12]]
    assert reading.foreign.tolist() == [False, False, False, True]
