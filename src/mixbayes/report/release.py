"""A release and its measures, and what all sections of its page say of them in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mixbayes.report.figures import exact, share
from mixbayes.report.page import Table
from mixbayes.report.pairs import Two

if TYPE_CHECKING:
    from mixbayes.local_methods.measures.comparison import Comparison

_CLASSIFIERS = {
    "nearest-neighbour": "nearest neighbour",
    "naive-bayes": "naive Bayes",
    "tree": "decision tree",
    "svm": "support vector machine",
}


@dataclass(frozen=True)
class Release:
    """A comparison, and the sizes that its measures are seen against."""

    found: Comparison
    rows: tuple[int, int]
    """Of the original and of the release."""
    attributes: int
    """Those that were measured."""
    notes: Sequence[str] = ()
    """What the figures are about."""

    def why(self, key: str) -> str:
        """Why there is no such measure; empty if there is one."""
        return self.found.why_not.get(key, "")


def plain(classifier: str) -> str:
    """Its name in words."""
    return _CLASSIFIERS.get(classifier, classifier)


def shares_table(caption: str, what: str, both: Sequence[Two]) -> Table:
    """Shares before and after."""
    rows = [(two.name, *(exact(value, share(value)) for value in (two.before, two.after))) for two in both]
    return Table(caption, [what, "original", "released"], rows)


def told(both: Sequence[Two]) -> str:
    """The same for who cannot see the picture."""
    return "; ".join(f"{two.name}: {share(two.before)} before, {share(two.after)} after" for two in both)
