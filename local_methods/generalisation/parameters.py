"""The structured parameters of generalisation, and how they are written in commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sklearn.utils._param_validation import HasMethods

from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.name_sets import NameSets, name_sets
from mixbayes.local_methods.tables import Table


class ByColumn(HasMethods):  # type: ignore[misc]  # scikit-learn publishes no types
    """A mapping from columns to what is said of each; a text has it in JSON."""

    def __init__(self, said: str) -> None:
        super().__init__("items")
        self.said = said

    def is_satisfied_by(self, val: object) -> bool:
        return isinstance(val, Mapping)

    def read(self, text: str) -> Any:
        return json.loads(text)

    def __str__(self) -> str:
        return f"a mapping from the names of columns to {self.said}"


TAXONOMIES = ByColumn("{root: [child, ...]}")


def sets_of(table: Table, names: NameSets | None) -> list[list[int]]:
    """Where the quasi-identifiers of each set stand; one set of all columns, if nothing is said."""
    if names is None:
        return [list(range(len(table.names)))]
    listed = name_sets(names)
    if not all(listed):
        raise BadParameter("quasi_identifiers has a list without a column. Name some, or leave it out: then all are.")
    return [table.positions(dict.fromkeys(each)) for each in listed]
