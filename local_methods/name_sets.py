"""Names of columns in one list, or in several: what one outsider knows, or what each of several does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sklearn.utils._param_validation import HasMethods

Names = Sequence[str]
NameSets = Names | Sequence[Names]

BETWEEN_SETS = re.compile("(?<!/)/(?!/)")
"""One slash; two are a slash in a name."""


class ListsOfNames(HasMethods):  # type: ignore[misc]  # scikit-learn publishes no types, and takes only its own
    """A parameter that is a list of names, or a list of such lists."""

    def __init__(self) -> None:
        super().__init__(["__len__"])

    def is_satisfied_by(self, val: Any) -> bool:
        return _is_list(val) and (_are_names(val) or all(_is_list(part) and _are_names(part) for part in val))

    def __str__(self) -> str:
        return "a list of names or a list of such lists"


def read_name_sets(text: str) -> list[str] | list[list[str]]:
    """The names between commas, in a list for each part between slashes: `age,sex/zip`."""
    sets = [[_name(part) for part in names.split(",") if part.strip()] for names in BETWEEN_SETS.split(text)]
    return sets if len(sets) > 1 else sets[0]


def name_sets(names: NameSets) -> list[list[str]]:
    """Every list by itself; one list of names is one set."""
    flat = [name for name in names if isinstance(name, str)]
    return [flat] if flat or not names else [list(part) for part in names]


def _name(part: str) -> str:
    return part.strip().replace("//", "/")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _are_names(values: Any) -> bool:
    return all(isinstance(name, str) for name in values)
