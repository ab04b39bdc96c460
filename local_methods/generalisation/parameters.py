"""The parameters of generalisation that are more than a number or a word, also as people write them in commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils._param_validation import HasMethods

from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.tables import Table


class SetsOfNames(HasMethods):  # type: ignore[misc]  # scikit-learn publishes no types
    """Names of columns, or several lists of them. In a text, commas are between names and semicolons between lists."""

    def __init__(self) -> None:
        super().__init__("__len__")

    def is_satisfied_by(self, val: Any) -> bool:
        return _listed(val) and (_all_names(val) or all(_listed(part) and _all_names(part) for part in val))

    def read(self, text: str) -> list[Any]:
        sets = [[name.strip() for name in part.split(",") if name.strip()] for part in text.split(";")]
        return sets if len(sets) > 1 else sets[0]

    def __str__(self) -> str:
        return "a list of names of columns or a list of such lists"


class Taxonomies(HasMethods):  # type: ignore[misc]  # scikit-learn publishes no types
    """A mapping from columns to their taxonomies; a text has it in JSON."""

    def __init__(self) -> None:
        super().__init__("items")

    def is_satisfied_by(self, val: object) -> bool:
        return isinstance(val, Mapping)

    def read(self, text: str) -> Any:
        return json.loads(text)

    def __str__(self) -> str:
        return "a mapping from the names of columns to {root: [child, ...]}"


def sets_of(table: Table, names: Sequence[Any] | None) -> list[list[int]]:
    """Where the quasi-identifiers of each set stand; one set of all columns, if nothing is said."""
    if names is None:
        return [list(range(len(table.names)))]
    listed = [names] if _all_names(names) else names
    if not listed or not all(listed):
        raise BadParameter("quasi_identifiers has a list without a column. Name some, or leave it out: then all are.")
    return [table.positions(dict.fromkeys(each)) for each in listed]


def _listed(val: Any) -> bool:
    return isinstance(val, (list, tuple))


def _all_names(val: Any) -> bool:
    return all(isinstance(part, str) for part in val)
