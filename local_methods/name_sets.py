"""Names of columns in one list, or in several: what one outsider knows, or what each of several does."""

from __future__ import annotations

import re
from collections.abc import Sequence

Names = Sequence[str]
NameSets = Names | Sequence[Names]

BETWEEN_SETS = re.compile("(?<!/)/(?!/)")
"""One slash; two are a slash in a name."""


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
