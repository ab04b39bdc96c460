"""A small federation to lie in: three hospitals with 40 patients each, two nominal attributes and a Gaussian one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import Integers, Sheet
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.randomness import Randomness

HOSPITALS = "north", "south", "west"
ROWS = 40
_AGES = Gaussian(name="age", low=0.0, high=100.0)


def seed(number: int) -> bytes:
    return number.to_bytes(32, "little")


@dataclass(frozen=True)
class Scene:
    """What is agreed, what the hospitals have, and what an honest federation answers."""

    classes: int = 2
    asked: int = 40
    """Rows to classify."""

    @cached_property
    def dictionary(self) -> Dictionary:
        nominal = (
            Nominal(name="sex", values=("f", "m")),
            Nominal(name="tumour", values=("none", "small", "large")),
        )
        names = ("ill", "well", "doubtful")[: self.classes]
        return Dictionary(class_column="class", classes=names, attributes=(*nominal, _AGES), max_rows=200)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.dictionary)

    @cached_property
    def vectors(self) -> dict[str, Words]:
        """Counts of every hospital."""
        return {name: count(self.layout, self._patients(number)) for number, name in enumerate(HOSPITALS)}

    @cached_property
    def rows(self) -> Values:
        """The rows that are asked about."""
        return self._patients(len(HOSPITALS), self.asked).codes

    @cached_property
    def model(self) -> Model:
        """In the clear."""
        return fixed_model(self.layout, np.stack(list(self.vectors.values())).sum(axis=0, dtype=np.uint64))

    @cached_property
    def shares(self) -> tuple[Model, Model]:
        """Of the model, as the mixers hold them."""
        random, low, whole = Randomness(seed(1)), mask(self.model.width), self.model
        prior = random.words(*whole.prior.shape) & low
        tables = tuple(random.words(*table.shape) & low for table in whole.tables)
        rest = tuple((table - part) & low for table, part in zip(whole.tables, tables, strict=True))
        return Model(whole.width, prior, tables), Model(whole.width, (whole.prior - prior) & low, rest)

    @property
    def sheet(self) -> Sheet:
        """An evaluation of the joint classifier on the rows."""
        return Sheet(self.layout, JOINT, self.asked, split=1, kept_aside=True)

    @cached_property
    def groups(self) -> Integers:
        """The true classes of the rows."""
        labels = self._patients(len(HOSPITALS), self.asked).labels
        assert labels is not None
        return labels.astype(np.int64)

    def labels_by(self, model: Model) -> list[int]:
        """Of the rows that are asked about."""
        return [int(label) for label in fixed_labels(self.layout, model, self.rows)]

    def _patients(self, number: int, rows: int = ROWS) -> Codes:
        """The ill are older, and mostly have a large tumour."""
        random = np.random.default_rng(number)
        labels = random.integers(0, self.classes, rows).astype(np.int32)
        sex = random.integers(0, 2, rows)
        tumour = np.where(random.random(rows) < 0.6, 2 - labels, random.integers(0, 3, rows))
        age = _AGES.read_numbers(np.clip(70 - 15 * labels + 10 * random.standard_normal(rows), 1, 99)).codes[0]
        return Codes(np.stack([sex, tumour, age]).astype(np.int32), labels)
