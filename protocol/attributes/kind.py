"""What every kind of attribute answers: the one interface between an attribute and the rest of the protocol.

An attribute is a column of the table and an entry of the dictionary. Its kind fixes:

1. **codes**: how a cell is read, as an integer below `codes`;
2. **counts**: what is summed up of the codes, in `rows` rows of the layout with one cell for each class;
3. **validity**: which counts no table has;
4. **training**: the logarithms that are taken, and the table of words that they become;
5. **a question**: how the hospital asks for its row of that table;
6. **the reference**: the same probabilities in float64.

Nothing outside this folder asks which kind an attribute is. A new kind is one class here and one line in `registry.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import SerializerFunctionWrapHandler, model_serializer

from mixbayes.protocol.arrays import Bits, Values, Words
from mixbayes.protocol.attributes.asking import Asking
from mixbayes.protocol.attributes.by_class import ByClass
from mixbayes.protocol.attributes.cells import Numbers, Texts, spelled
from mixbayes.protocol.attributes.elsewhere import Arithmetic, Expression, Summands
from mixbayes.protocol.attributes.entry import Entry
from mixbayes.protocol.attributes.fields import Frozen, Label, Text
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import LocalError

IMAGINED = 6
"""Patients that a kind may imagine in a class for each one of the noise's standard deviation, at most."""
LABELS = frozenset({"title", "unit", "meanings"})
"""Fields of attributes that are for people alone."""
SUM_BITS = 10
"""Bits that sums of counters may have beyond those of a counter."""

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Reading(NamedTuple):
    """Cells of a column, read."""

    codes: Values
    """(columns, n)."""
    foreign: Flags
    """Which cells say something that does not fit the attribute. Training refuses them; for questions their codes are
    those of what fits, or of missing cells where nothing does."""
    beyond: Flags
    """Which cells are numbers beyond the bounds, with the codes of the bounds, or have more values than count."""


class Learned(NamedTuple):
    """What training knows of one attribute: its joint counts (rows, K), and the logarithms it asked for."""

    attribute: Kind
    block: Words
    logs: Words
    some: Bits
    """Which of the arguments of these logarithms are not zero, XOR-shared."""


class Reach(NamedTuple):
    """What one attribute adds to the width of counts and scores. A score's unit is the bit: a log2 of a probability."""

    argument: int
    """No argument of a logarithm is larger."""
    fall: Fraction
    """A value lowers the probability of a class by this factor at most, apart from `spread`."""
    values: int
    """A class without patients gives every value at least the probability 1/values."""
    error: float
    """How far the fixed-point words of one class lie from real logarithms, in bits."""
    spread: int = 0
    """Bits between the largest and the smallest log-density."""
    slack: int = 0
    """Bits by which rounding may exceed all that."""
    fraction: int = 0
    """Fraction bits that its words have beyond a logarithm's."""


Positive = Callable[[Words], Words]


class Kind(Frozen):
    """An attribute of any kind."""

    name: Text
    title: Label = ""
    """What a person calls the column, where forms should not show its name."""
    # Each class adds the field `kind`, a Literal with the word by which dictionaries name it.

    numeric: ClassVar[bool] = False
    """Cells are numbers within public bounds, as those of Gaussian and of binned attributes are."""
    exact: ClassVar[bool] = False
    """It is `Discrete`: a cell is one of finitely many values, which is all that the Paillier protocol takes."""
    in_its_place: ClassVar[str] = "nominal attributes"
    """What to agree on for the Paillier protocol, where it is not exact."""
    most_rows: ClassVar[int | None] = None
    """The most rows over which it can be counted, where that is less than what a dictionary allows."""

    # Codes.

    @property
    def columns(self) -> int:
        """The number of integers that a cell becomes. All of them are below `codes`."""
        return 1

    @property
    def listed(self) -> int:
        """How many texts of patients' cells stand in the dictionary, which everybody gets."""
        return 0

    @property
    @abstractmethod
    def codes(self) -> int:
        """Every code is below it. The last one, `codes` - 1, means a missing cell."""

    @abstractmethod
    def read(self, cells: Texts) -> Reading:
        """Cells as codes."""

    def read_numbers(self, values: Numbers) -> Reading:
        """Cells that are numbers already, not-a-number where there is none, as `read` reads their texts."""
        return self.read(spelled(values))

    def shown(self, foreign: Texts) -> Texts:
        """What a message shows of cells that do not fit."""
        return foreign

    @abstractmethod
    def misfit(self, foreign: Texts) -> str:
        """Why cells do not fit, and what to do about it, for the hospital whose table it is."""

    @property
    @abstractmethod
    def entry(self) -> Entry:
        """How a person says what is known of a patient."""

    @property
    def heading(self) -> str:
        """What a person calls the column."""
        return self.title or self.name

    @model_serializer(mode="wrap")
    def _without_empty_labels(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """A dictionary that has no words for people keeps the digest that it had before there were such fields."""
        found: dict[str, object] = content(self)
        return {key: value for key, value in found.items() if value or key not in LABELS}

    @abstractmethod
    def described(self) -> str:
        """Its values or bounds, for people."""

    def cut_at(self, begins: Sequence[int]) -> Self:
        """With bins that begin at these of its cells, numbered from zero. Only of numeric kinds that are exact."""
        raise LocalError(f"{self.name!r} has no cells to cut at.")

    def absent(self, codes: Values) -> NDArray[np.bool_]:
        """Where codes (columns, n) say nothing of the patient."""
        return (codes == self.codes - 1).all(axis=0)

    # Counts.

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rows of its block in the layout, each with a cell for every class."""

    @property
    def most_each(self) -> Sequence[float]:
        """What one patient adds to each row of the block, at most; infinite where that says nothing by itself, as of
        the lower digits of a sum."""
        return [1.0] * self.rows

    @abstractmethod
    def count(self, block: Words, codes: Values, labels: Integers, times: Integers | None = None) -> None:
        """Add patients to the block (rows, K): their codes (columns, n) and the positions of their classes.

        `times` says how many patients each column of codes stands for. Without it each stands for one, and there are
        at most 2^15 of them.
        """

    def count_numbers(self, block: Words, values: Numbers, patients: ByClass) -> int:
        """Add patients by their numbers, as `read_numbers` and `count` do; how many of these lay beyond the bounds."""
        reading = self.read_numbers(values[patients.order])
        self.count(block, reading.codes, patients.labels)
        return int(np.count_nonzero(reading.beyond))

    def summands(self, value: Expression, by: Arithmetic) -> Summands:
        """The same as expressions that a database can sum up. Only numeric kinds have them."""
        raise LocalError(f"{self.name!r} has no numbers to sum up.")

    # Validity. `block` is a mixer's share of the counts of several hospitals, (hospitals, rows, K).

    @abstractmethod
    def counters(self, block: Words) -> Words:
        """The cells that count patients, (hospitals, m): each is at most the agreed maximum of rows."""

    @abstractmethod
    def surplus(self, block: Words, of_class: Words) -> Words:
        """What is zero in every honest contribution, by linear conditions, (hospitals, m); of_class is n_c."""

    def room(self, block: Words) -> Words:
        """Differences that are not negative in any honest contribution, (hospitals, m).

        Each is between sums of counters, below 2^SUM_BITS times as large as one counter can be.
        """
        return np.empty((len(block), 0), np.uint64)

    @classmethod
    def further_statements(cls, me: ComputingParty, blocks: Sequence[Words], rows: int) -> list[Words]:
        """Other conditions, of all attributes of this kind: words that A and B hold alike exactly where one holds."""
        return []

    extra_bits: ClassVar[int] = 0
    """Bits that its sums have beyond those of a count."""

    # Noise. It is added to sums over the joint rows, which a patient changes by one unit at most, up or down.

    @property
    @abstractmethod
    def touched(self) -> int:
        """How many of these sums one patient changes."""

    @property
    @abstractmethod
    def units(self) -> Sequence[int]:
        """For each row of sums its unit, as a power of two. Every row has a cell for each class."""

    @abstractmethod
    def blurred(self, block: Words, noise: Words) -> Words:
        """The block (rows, K) with noise (sums, K) on its sums. What no table of probabilities needs becomes zero."""

    @classmethod
    @abstractmethod
    def clamped(cls, blocks: Sequence[Words], positive: Positive, one: int, spread: int) -> list[Words]:
        """All blocks of this kind as counts that training can take, in the clear or on shares.

        `positive` gives max(0, x) of signed words, and `one` is this party's share of the number one. `spread` is the
        standard deviation of the noise, by which a kind may add imagined patients.
        """

    # Training.

    @abstractmethod
    def reach(self, smoothing: Fraction, rows: int, noise: int) -> Reach:
        """What it adds to the width of counts and scores, over at most this many rows with noise up to this."""

    @abstractmethod
    def log_arguments(self, block: Words, smoothing: Fraction, one: int) -> Words:
        """The numbers whose logarithms its table is made of, flat. `one` is this party's share of the number one."""

    @classmethod
    @abstractmethod
    def fixed_tables(cls, learned: Sequence[Learned]) -> list[Words]:
        """The tables (words, K) of all attributes of this kind, from counts and logarithms."""

    @classmethod
    def shared_tables(
        cls, me: ComputingParty, learned: Sequence[Learned], most: int, width: int, *, noisy: bool
    ) -> list[Words]:
        """Additive shares of these tables modulo 2^width, from shares of the counts and of the logarithms.

        No count is above `most`. Noisy counts are clamped, which need not make them those of a table.

        Where a table is a linear function of logarithms, the same function of shares is a share of the table. A kind
        whose table is not linear overrides this.
        """
        return cls.fixed_tables(learned)

    # Questions.

    @property
    @abstractmethod
    def asking(self) -> Asking:
        """How a hospital asks for its entry, or sum of entries, of the table."""

    # The reference.

    @abstractmethod
    def real_scores(self, block: Words, codes: Values, smoothing: float) -> NDArray[np.float64]:
        """log2 P(value | class) in float64, (K, n), up to what all classes share; 0 where the cell is missing."""
