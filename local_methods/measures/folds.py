"""The values of single folds of a cross-validation: quartiles, and a test of the release against the original.

As in Peters, section 4.2: classifiers are tested on each of five folds, the folds are drawn anew several times, and a
sample has the values of all folds and all classes. These values are not independent, because the folds have the same
rows, and with two classes the values of one mirror those of the other. So the test finds too many differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mixbayes.local_methods.measures.detection import HIGH_IS_GOOD, MEASURES, Detection
from mixbayes.local_methods.measures.quartiles import Quartiles
from mixbayes.local_methods.measures.ranking import MannWhitney, Verdict
from mixbayes.local_methods.measures.utility import Answers
from mixbayes.local_methods.tables import Codes, Floats


@dataclass(frozen=True)
class Side:
    """The values of one table, None where a fold has none, and the quartiles of those that are there."""

    values: Sequence[float | None] = field(repr=False)
    quartiles: Quartiles | None

    @staticmethod
    def of(values: Floats) -> Side:
        """Not-a-number is no value."""
        known = [None if value != value else value for value in values.tolist()]
        return Side(known, None if known.count(None) == len(known) else Quartiles.of(values))


@dataclass(frozen=True)
class Sides:
    """One measure after learning from the original and from the release, and which of them is better."""

    original: Side
    released: Side
    test: MannWhitney | None
    """None where one of them has no value in any fold."""

    @staticmethod
    def of(original: Floats, released: Floats, high_is_good: bool) -> Sides:
        """Of these values."""
        test = MannWhitney.of(original, released, high_is_good=high_is_good)
        return Sides(Side.of(original), Side.of(released), test)


@dataclass(frozen=True)
class Spread:
    """A measure in all folds and classes, and in all folds for each class."""

    of_all: Sides
    of_class: Mapping[str, Sides]


@dataclass(frozen=True)
class Folds:
    """The measures of each classifier, by their names."""

    repeats: int
    of_classifier: Mapping[str, Mapping[str, Spread]]

    @staticmethod
    def of(answers: Mapping[str, Answers], classes: Sequence[str], repeats: int) -> Folds:
        """Of classifiers that were asked about each fold."""
        found = {
            name: _spreads(each.original, each.released, classes)
            for name, each in answers.items()
            if each.original is not None and each.released is not None
        }
        return Folds(repeats, found)

    def count(self, verdict: Verdict) -> int:
        """Of how many measures of all classes the test says this."""
        return sum(test.verdict is verdict for test in self._tests())

    def _tests(self) -> Iterator[MannWhitney]:
        for spreads in self.of_classifier.values():
            yield from (test for each in spreads.values() if (test := each.of_all.test))


def _spreads(original: Codes, released: Codes, classes: Sequence[str]) -> dict[str, Spread]:
    """By measure; of the confusion matrices of each fold."""
    before, after = Detection.of(original), Detection.of(released)
    return {
        name: _spread(getattr(before, name), getattr(after, name), HIGH_IS_GOOD[name], classes) for name in MEASURES
    }


def _spread(original: Floats, released: Floats, high_is_good: bool, classes: Sequence[str]) -> Spread:
    """Of values in folds × classes."""
    columns = zip(classes, original.T, released.T, strict=True)
    return Spread(
        Sides.of(original.ravel(), released.ravel(), high_is_good),
        {name: Sides.of(before, after, high_is_good) for name, before, after in columns},
    )
