"""Attributes with several values in a cell, as a list of diagnoses: each value is present or absent.

This is Bernoulli naive Bayes. With smoothing α = p/q, P(v present | c) = (n_vc + α) / (n_c + 2α) and P(v absent | c) =
(n_c − n_vc + α) / (n_c + 2α), where n_c counts the patients of class c with a cell. The arguments of the logarithms are
the integers q·n_vc + p, q·(n_c − n_vc) + p and q·n_c + 2p; log2 q cancels.

At most `most` values of a cell count, the first in the dictionary's order. So one patient changes at most that many
counts of present values, and a patient is at most that many codes, however many values the dictionary lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, field_validator, model_validator

from mixbayes.protocol.arrays import Values, Words, slices
from mixbayes.protocol.attributes.asking import SumOfFew
from mixbayes.protocol.attributes.cells import MISSING, Texts
from mixbayes.protocol.attributes.entry import SomeOptions, options
from mixbayes.protocol.attributes.fields import Label, Text, Value, all_different, refuse_other_number
from mixbayes.protocol.attributes.kind import Integers, Kind, Learned, Positive, Reach, Reading
from mixbayes.protocol.attributes.totals import occurrences
from mixbayes.protocol.circuits.logarithm import ERROR

MOST_VALUES = 1000
"""An attribute lists at most so many: sums of as many counts have `SUM_BITS` more than one."""
SEPARATOR, NONE, USUAL_MOST = ";", "none", 20

_CELLS = 1 << 16
"""Cells that are read at a time."""
_DESCRIBED = 20
"""Values that a summary names."""
_REMEDY = (
    "Correct the spelling, agree on the value, or remove it from the cell; a patient without any listed value has {!r}"
)


def _one_sign(text: str) -> str:
    if len(text) != 1 or text.isalnum() or text.isspace() or not text.isprintable():
        raise ValueError(f"{text!r} cannot separate values: give one visible character that is no letter and no digit")
    return text


class Several(Kind):
    """The block has, for every class, the patients with each value, then those with a cell, and those without one."""

    kind: Literal["several"] = "several"
    values: tuple[Value, ...] = Field(min_length=1, max_length=MOST_VALUES)
    meanings: tuple[Label, ...] = ()
    """What a person calls the values, in their order; without them, the values themselves."""
    separator: Annotated[Text, AfterValidator(_one_sign)] = SEPARATOR
    most: Annotated[int, Field(strict=True, ge=1, le=MOST_VALUES)] = USUAL_MOST
    none: Value = NONE

    in_its_place: ClassVar[str] = "a nominal attribute for every value that matters, in a column of its own"

    @field_validator("values")
    @classmethod
    def _different(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        all_different(values)
        return values

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        refuse_other_number(self.meanings, self.values)
        if self.none in self.values:
            raise ValueError(f"{self.none!r} means no value at all and cannot be one of them; set none")
        for text in (*self.values, self.none):
            if self.separator in text:
                raise ValueError(f"{text!r} contains the separator {self.separator!r}")
            if text != text.strip():
                raise ValueError(f"{text!r} has a blank at an end; in cells the blanks around values are not read")
        return self

    # Codes: the positions of the values that count, in rising order. What is left of the columns is `_nothing`. Listing
    # what is present, instead of a flag for each value, keeps a patient small where there are a thousand values.

    @property
    def entry(self) -> SomeOptions:
        return SomeOptions(options(self.values, self.meanings), self.separator, self.none, self.most)

    @property
    def columns(self) -> int:
        return min(self.most, len(self.values))

    @property
    def listed(self) -> int:
        return len(self.values)

    @property
    def _nothing(self) -> int:
        return len(self.values)

    @property
    def codes(self) -> int:
        return self._nothing + 2

    def read(self, cells: Texts) -> Reading:
        """Cells as codes. What is not listed makes a cell foreign, and the rest of the cell still counts.

        A value that the dictionary lacks does not change what the others say of a patient, and to drop the cell would
        lose them. If no listed value is left, the cell is missing, and not "no value": else a hospital that spells all
        its codes in another way would ask about patients without any.
        """
        pieces = slices(max(1, cells.size), _CELLS)  # no cells are one piece
        codes, foreign, beyond = zip(*(self._read(cells[piece]) for piece in pieces), strict=True)
        return Reading(np.concatenate(codes, axis=1), np.concatenate(foreign), np.concatenate(beyond))

    def _read(self, cells: Texts) -> Reading:
        nothing, unlisted, silent = self._nothing, self._nothing + 1, self._nothing + 2
        known = {**dict.fromkeys(MISSING, silent), self.none: nothing, **{v: i for i, v in enumerate(self.values)}}
        entries, row = entries_of(cells, self.separator)
        at = np.fromiter(map(known.get, entries, repeat(unlisted)), np.int64, len(entries))
        foreign, says, beyond = np.zeros((3, cells.size), np.bool_)
        foreign[row[at == unlisted]] = True
        says[row[at <= nothing]] = True
        codes = np.full((self.columns, cells.size), nothing, np.int32)
        codes[:, ~says] = self.codes - 1
        present = at < nothing
        # Sorted by cell and then by position, each only once: the dictionary's order.
        keys = np.sort(row[present] * nothing + at[present])
        cell, value = np.divmod(keys[np.diff(keys, prepend=-1) > 0], nothing)
        rank = np.arange(cell.size) - np.searchsorted(cell, cell)
        counted = rank < self.columns
        codes[rank[counted], cell[counted]] = value[counted]
        beyond[cell[~counted]] = True
        return Reading(codes, foreign, beyond)

    def shown(self, foreign: Texts) -> Texts:
        """The values that are not listed; the rest of a patient's cell is nobody's business."""
        known = {*MISSING, *self.values, self.none}
        entries, _ = entries_of(foreign, self.separator)
        return np.array([entry for entry in entries if entry not in known], np.str_)

    def misfit(self, foreign: Texts) -> str:
        return f"not in the list of values. {_REMEDY.format(self.none)}"

    def described(self) -> str:
        more = len(self.values) - _DESCRIBED
        return (
            f"{', '.join(self.values[:_DESCRIBED])}{f' and {more} more' if more > 0 else ''} (between "
            f"{self.separator!r}; of a cell at most {self.columns} count; {self.none!r} is none of them)"
        )

    # Counts.

    @property
    def rows(self) -> int:
        return len(self.values) + 2

    def count(self, block: Words, codes: Values, labels: Integers, times: Integers | None = None) -> None:
        classes, listed = block.shape[1], len(self.values)
        missing = codes[0] == self.codes - 1
        answers = occurrences(missing * classes + labels, 2 * classes, times)
        block[listed:] += answers.reshape(2, classes)
        for column in self._rising(codes):
            here = np.flatnonzero(column < listed)
            cells = column[here].astype(np.int64) * classes + labels[here]
            present = occurrences(cells, listed * classes, times[here] if times is not None else None)
            block[:listed] += present.reshape(listed, classes)

    def _rising(self, codes: Values) -> Iterator[Values]:
        """The columns of codes as far as they name values, without what does not rise: each value once.

        `read` writes no others, but rows that a hospital shows could hold a value twice, and it must not add twice.
        """
        highest = np.full(codes.shape[1], -1, np.int32)
        for column in codes:
            yield np.where(column > highest, column, self._nothing)
            highest = np.maximum(highest, column)
            if (highest >= self._nothing).all():
                return

    # Validity.

    def counters(self, block: Words) -> Words:
        """Present and absent values, and missing cells. No value is present more often than there are cells."""
        present, answered, missing = _parts(block)
        return np.concatenate([present, answered - present, missing], axis=1).reshape(len(block), -1)

    def surplus(self, block: Words, of_class: Words) -> Words:
        """Present and missing cells add up to n_c."""
        return block[:, -2] + block[:, -1] - of_class

    def room(self, block: Words) -> Words:
        """In every class the values of all cells are at most `most` for each cell.

        With this, counts are exactly those of some table. Let every n_vc ≤ n_c, and Σ n_vc ≤ most·n_c. Deal the values
        out to the cells in turn, value after value: no cell gets one twice, or more than ⌈Σ n_vc / n_c⌉ ≤ most.
        """
        present, answered, _ = _parts(block)
        if self.most >= len(self.values):
            return super().room(block)
        return answered[:, 0] * np.uint64(self.most) - present.sum(axis=1, dtype=np.uint64)

    # Training.

    @property
    def touched(self) -> int:
        """The cells of the values that count, and the number of those who have a cell."""
        return self.columns + 1

    @property
    def units(self) -> Sequence[int]:
        return [0] * (len(self.values) + 1)

    def blurred(self, block: Words, noise: Words) -> Words:
        return np.append(block[:-1] + noise, np.zeros_like(block[-1:]), axis=0)

    @classmethod
    def clamped(cls, blocks: Sequence[Words], positive: Positive, one: int, spread: int) -> list[Words]:
        """No value is present, and none is absent, in fewer than no cells."""
        sizes = np.array([len(block) for block in blocks])
        cells = positive(np.concatenate(blocks))
        # The last row of a block, for missing cells, is zero; the row above it has those with a cell.
        answered = np.repeat(cells[np.cumsum(sizes) - 2], sizes, axis=0)
        present = answered - positive(answered - cells)
        return [
            np.concatenate([block[:-1], np.zeros_like(block[-1:])])
            for block in np.split(present, np.cumsum(sizes)[:-1])
        ]

    def reach(self, smoothing: Fraction, rows: int, noise: int) -> Reach:
        """That of so many attributes with two values each: `most` is not used, though it limits how many are common."""
        p, q, many = smoothing.numerator, smoothing.denominator, len(self.values)
        largest = q * (rows + noise) + 2 * p
        return Reach(largest, Fraction(largest, p) ** many, 2**many, 2 * many * ERROR)

    def log_arguments(self, block: Words, smoothing: Fraction, one: int) -> Words:
        """Value by value those with it, those without it, and once the denominators of both."""
        p, q = np.uint64(smoothing.numerator * one), np.uint64(smoothing.denominator)
        present, answered = block[:-2] * q + p, block[-2:-1] * q + p + p
        return np.concatenate([present, answered - present, answered]).reshape(-1)

    @classmethod
    def fixed_tables(cls, learned: Sequence[Learned]) -> list[Words]:
        return [_table(one.logs.reshape(-1, one.block.shape[1])) for one in learned]

    # Questions.

    @property
    def asking(self) -> SumOfFew:
        """A feature for "there is a cell", which adds all absent values, and one for each value."""
        return SumOfFew(len(self.values) + 1, self._features)

    def _features(self, codes: Values) -> Values:
        """(columns + 1, n): the features that are set; the number of all features where there is none."""
        listed = len(self.values)
        named = np.full((self.columns + 1, codes.shape[1]), listed + 1, np.int32)
        named[0, codes[0] != self.codes - 1] = 0
        for i, column in enumerate(self._rising(codes), start=1):
            named[i] = np.minimum(column, listed) + 1
        return named

    # The reference.

    def real_scores(self, block: Words, codes: Values, smoothing: float) -> NDArray[np.float64]:
        all_ = block[-2] + 2 * smoothing
        present, absent = np.log2((block[:-2] + smoothing) / all_), np.log2((block[-2] - block[:-2] + smoothing) / all_)
        nothing = np.zeros((1, block.shape[1]))
        table = np.concatenate([absent.sum(axis=0, keepdims=True), present - absent, nothing])
        scores = np.zeros((block.shape[1], codes.shape[1]))
        for feature in self._features(codes):
            scores += table[feature].T
        return scores


def entries_of(cells: Texts, separator: str) -> tuple[list[str], Integers]:
    """What stands between the separators, without the blanks around it, and the cell of each."""
    texts: list[str] = cells.tolist()
    entries = list(map(str.strip, separator.join(texts).split(separator))) if texts else []
    return entries, np.repeat(np.arange(cells.size), [text.count(separator) + 1 for text in texts])


def _parts(block: Words) -> tuple[Words, Words, Words]:
    """Of blocks (hospitals, rows, K): values present, cells answered, cells missing."""
    return block[:, :-2], block[:, -2:-1], block[:, -1:]


def _table(logs: Words) -> Words:
    """(V + 1, K): a cell without any value, then what each value changes."""
    values = len(logs) // 2
    present, absent, answered = logs[:values], logs[values:-1], logs[-1]
    nothing = absent.sum(axis=0, dtype=np.uint64) - np.uint64(values) * answered
    return np.concatenate([nothing[None], present - absent])
