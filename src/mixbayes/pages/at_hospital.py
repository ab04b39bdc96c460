"""What the page asks of a hospital's node: everything goes the way that the hospital's own commands go.

So the node checks, charges and writes down what is asked on the page as it does all else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from mixbayes.node.identity import Identity
from mixbayes.pages.job import Job, Progress
from mixbayes.pages.known import Known
from mixbayes.pages.node import PageNode
from mixbayes.parties.desk import AtOwnNode, at_own_node
from mixbayes.parties.evaluating import compared, evaluated
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.entry import Measurement, OneOption, SomeOptions
from mixbayes.protocol.bayes.evaluation import Sheet
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import OWN, Recipe, read_recipe
from mixbayes.tables.columns import Columns
from mixbayes.tables.inspection import Inspected, inspected
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table


def no_progress(count: int) -> None:
    """The page shows labels once all are there."""


@dataclass(frozen=True)
class AtHospital(PageNode):
    """A hospital's node."""

    identity: Identity = field(repr=False, kw_only=True)
    data: str = field(kw_only=True)
    how: How = field(kw_only=True)
    known: Known = field(kw_only=True)
    looking: Job[Inspected] = field(kw_only=True)
    evaluating: Job[dict[str, Any]] = field(kw_only=True)
    reading: Lock = field(kw_only=True, default_factory=Lock)
    """Whoever has it reads a file of patients."""

    @contextmanager
    def own_node(self) -> Iterator[AtOwnNode]:
        with at_own_node(self.federation, self.identity, self.keys) as own:
            yield own

    def labels(self, codes: Values, rows: Columns, recipe: Recipe, id: bytes) -> Labels:
        """The answers to these rows, which only this hospital sees. Rows under an id that was answered cost nothing."""
        with self.own_node() as own:
            if recipe.base != "own":
                own.refuse_over_budget(rows.rows)
            return own.labels(codes, rows, private=True, progress=no_progress, id=id, recipe=str(recipe))

    def best(self) -> Recipe | None:
        with self.own_node() as own:
            found = own.best()
        return read_recipe(found) if found else None

    def remember_best(self, recipe: Recipe) -> None:
        with self.own_node() as own:
            own.remember_best(recipe)

    def recipes(self) -> list[Recipe]:
        """The own classifier and all others that may be asked for and are usual or agreed."""
        return [OWN, *compared(self.federation, [])]

    @property
    def how_of_files(self) -> How:
        """How a file of new patients is read: numbers and missing cells as in the hospital's own table."""
        names = self.federation.dictionary.names
        missing = tuple(text for text in self.how.missing if "=" not in text or text.partition("=")[0] in names)
        return How(missing=missing, decimal=self.how.decimal)

    @property
    def evaluation_takes(self) -> int:
        """How much of the budget an evaluation takes: every number that is opened counts as a row."""
        asked = [recipe for recipe in self.recipes() if recipe.base != "own"]
        return sum(Sheet(self.federation.layout, recipe, 1).opened for recipe in asked)

    def look_at_table(self) -> None:
        self.looking.begin(self._inspected)

    def _inspected(self, progress: Progress) -> Inspected:
        source = open_table(self.data, self.how)
        with source.named_in_errors():
            profile = source.profile(source.names, lambda what, done, total: progress(done, total))
            return inspected(profile, self.federation.dictionary.class_column, *self._kinds(source.names))

    def _kinds(self, there: Sequence[str]) -> tuple[list[str], list[str], None, dict[str, str]]:
        """The columns of names, those of numbers, and those of lists with what separates them, as agreed."""
        entries = {one.name: one.entry for one in self.federation.dictionary.attributes if one.name in there}
        nominal = [name for name, entry in entries.items() if isinstance(entry, OneOption)]
        numeric = [name for name, entry in entries.items() if isinstance(entry, Measurement)]
        several = {name: entry.separator for name, entry in entries.items() if isinstance(entry, SomeOptions)}
        return nominal, numeric, None, several

    def evaluate(self) -> None:
        self.evaluating.begin(self._evaluated)

    def _evaluated(self, progress: Progress) -> dict[str, Any]:
        recipes = compared(self.federation, [])
        with self.own_node() as own:
            number = own.status().round
            found = evaluated(self.federation, self.name, own, recipes, progress).as_json()
        self.known.keep(found, number, self.clock())
        return found
