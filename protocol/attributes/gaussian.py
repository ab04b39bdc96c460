"""Gaussian attributes: numbers with a normal distribution in every class.

`gaussian_moments.py` has what is counted and `gaussian_validity.py` which moments there can be. In
`gaussian_density.py` moments become the words of binary features, in the clear and on shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes import gaussian_density
from mixbayes.protocol.attributes.asking import SumOf
from mixbayes.protocol.attributes.by_class import ByClass
from mixbayes.protocol.attributes.cells import Numbers, Texts
from mixbayes.protocol.attributes.elsewhere import Arithmetic, Expression, Summands, outside
from mixbayes.protocol.attributes.entry import Measurement
from mixbayes.protocol.attributes.fields import Finite, Label
from mixbayes.protocol.attributes.gaussian_moments import (
    ABSENT,
    ABSENT_CODE,
    MOMENTS,
    MOST_EACH,
    NUMERIC_BITS,
    PRESENT,
    add_moments,
    add_numbers,
    moments_of,
    scaled,
    scaled_elsewhere,
    whole_moments,
)
from mixbayes.protocol.attributes.gaussian_noise import UNITS, blurred_moments, clamped_moments
from mixbayes.protocol.attributes.gaussian_validity import moment_checks
from mixbayes.protocol.attributes.kind import Integers, Kind, Learned, Positive, Reach, Reading
from mixbayes.protocol.attributes.numbers import not_numbers, read_as_numbers
from mixbayes.protocol.computing_party import ComputingParty

_MOMENTS_AT_ONCE = 1 << 11
"""Moments checked at a time: their words are wide, and each takes many transfers."""


class Gaussian(Kind):
    """A numeric attribute without cut points.

    `low` and `high` must differ, because what is added to the variance is a share of their distance
    (`gaussian_density.py`).
    """

    kind: Literal["numeric"] = "numeric"
    low: Finite
    high: Finite
    unit: Label = ""
    """Of the numbers, for people."""

    numeric: ClassVar[bool] = True
    in_its_place: ClassVar[str] = "a binned attribute (--bins N)"
    most_rows: ClassVar[int | None] = 2**38
    extra_bits: ClassVar[int] = NUMERIC_BITS + 1

    @model_validator(mode="after")
    def _has_width(self) -> Self:
        if not 0 < self.high - self.low < math.inf:
            raise ValueError(f"low {self.low!r} must lie below high {self.high!r}, a finite distance apart")
        return self

    @property
    def codes(self) -> int:
        return ABSENT_CODE + 1

    def read(self, cells: Texts) -> Reading:
        return read_as_numbers(self, cells)

    def read_numbers(self, values: Numbers) -> Reading:
        beyond = (values < self.low) | (values > self.high)
        return Reading(scaled(values, self.low, self.high)[None], np.zeros_like(beyond), beyond)

    @property
    def entry(self) -> Measurement:
        return Measurement(self.low, self.high, self.unit)

    def misfit(self, foreign: Texts) -> str:
        return not_numbers(foreign)

    def described(self) -> str:
        return f"{self.low!r} to {self.high!r}"

    @property
    def rows(self) -> int:
        return ABSENT + 1

    @property
    def most_each(self) -> Sequence[float]:
        return MOST_EACH

    def count(self, block: Words, codes: Values, labels: Integers, times: Integers | None = None) -> None:
        add_moments(block, codes[0].astype(np.int64), labels, times)

    def count_numbers(self, block: Words, values: Numbers, patients: ByClass) -> int:
        return add_numbers(block, values, patients, self.low, self.high)

    def summands(self, value: Expression, by: Arithmetic) -> Summands:
        rows = moments_of(by.absent(value), scaled_elsewhere(value, self.low, self.high, by), by)
        return Summands(rows, outside(value, self.low, self.high, by))

    def counters(self, block: Words) -> Words:
        """The missing cells; `moment_checks` has the range of those that are present."""
        return block[:, ABSENT]

    def surplus(self, block: Words, of_class: Words) -> Words:
        """Present and missing cells add up to n_c."""
        return block[:, PRESENT] + block[:, ABSENT] - of_class

    @classmethod
    def further_statements(cls, me: ComputingParty, blocks: Sequence[Words], rows: int) -> list[Words]:
        """The moments of every hospital, attribute and class are possible ones."""
        cells = np.concatenate([block[:, MOMENTS].transpose(1, 0, 2) for block in blocks], axis=2)
        flat = cells.reshape(len(MOMENTS), -1)
        pieces = [flat[:, start : start + _MOMENTS_AT_ONCE] for start in range(0, flat.shape[1], _MOMENTS_AT_ONCE)]
        checked = np.concatenate([moment_checks(me, piece, rows) for piece in pieces], axis=1)
        return list(checked.reshape(-1, *cells.shape[1:]))

    @property
    def touched(self) -> int:
        return len(UNITS)

    @property
    def units(self) -> Sequence[int]:
        return UNITS

    def blurred(self, block: Words, noise: Words) -> Words:
        return blurred_moments(block, noise)

    @classmethod
    def clamped(cls, blocks: Sequence[Words], positive: Positive, one: int, spread: int) -> list[Words]:
        clamped = clamped_moments(np.concatenate(blocks, axis=1), positive, one, spread)
        return np.split(clamped, len(blocks), axis=1)

    def reach(self, smoothing: Fraction, rows: int, noise: int) -> Reach:
        return Reach(0, Fraction(1), 1, gaussian_density.ERROR, gaussian_density.SPREAD, slack=1, fraction=1)

    def log_arguments(self, block: Words, smoothing: Fraction, one: int) -> Words:
        """n; the other logarithm is that of D, which `gaussian_density` computes first."""
        return block[PRESENT]

    @classmethod
    def fixed_tables(cls, learned: Sequence[Learned]) -> list[Words]:
        return [gaussian_density.fixed_table(one.block) for one in learned]

    @classmethod
    def shared_tables(
        cls, me: ComputingParty, learned: Sequence[Learned], most: int, width: int, *, noisy: bool
    ) -> list[Words]:
        return gaussian_density.shared_tables(me, learned, most, width, noisy=noisy)

    @property
    def asking(self) -> SumOf:
        return SumOf(gaussian_density.FEATURES, lambda codes: gaussian_density.features(codes[0]))

    def real_scores(self, block: Words, codes: Values, smoothing: float) -> NDArray[np.float64]:
        classes = range(block.shape[1])
        return np.stack([gaussian_density.real_density(whole_moments(block, c), codes[0]) for c in classes])
