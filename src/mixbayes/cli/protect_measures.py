"""What `protect` measures: the release beside its original, and the groups that the method formed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.dmpd.decomposition import DMPD
from mixbayes.local_methods.dmpd.projections import Projection
from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.measures.alike import Alike, combinations
from mixbayes.local_methods.measures.asked import NO_CELL
from mixbayes.local_methods.name_sets import name_sets
from mixbayes.local_methods.tables import Column, Table

DISTORTION = (measures.confidence_interval, measures.vd, measures.rp, measures.rk, measures.cp, measures.ck)
NO_SENSITIVE = "there is no column `class`, and no other was named as the sensitive one"
NO_GROUPS = "the method puts no people into groups"


@dataclass(frozen=True)
class Before:
    """The rows that took part, and which of their columns are the class and the sensitive one."""

    table: Table
    label: str | None
    sensitive: str | None

    def in_places_of(self, method: LocalMethod) -> Table | None:
        """The rows in whose places the released ones stand, for a release of as many rows; None if in nobody's."""
        if hasattr(method, "places_"):
            return self.table.take(method.places_)
        return self.table if method.KEEPS_ORDER else None


@dataclass(frozen=True)
class Measured:
    """Measures by their names, and for each that is None the reason."""

    values: dict[str, Any]
    why_not: dict[str, str]


def measured(
    method: LocalMethod, before: Before, released: Table, projections: Sequence[Projection] | None
) -> Measured:
    """Where rows are paired, each released one with the one in whose place it stands."""
    alike = (
        _of_release(method, before, released) if projections is None else _of_projections(method, before, projections)
    )
    found: dict[str, Any] = {
        "k_anonymity": alike.k,
        "l_diversity": alike.distinct_l,
        "entropy_l_diversity": alike.entropy_l,
        "t_closeness": alike.t,
        **({} if projections is not None else _distortion(before.in_places_of(method), released)),
    }
    found["groups"] = _groups(method, before)
    why_not = {name: _why_not(name, before) for name, value in found.items() if value is None}
    if found["groups"] and None in found["groups"].values():
        why_not["groups"] = _why_not("l_diversity", before)
    return Measured(found, why_not)


def _of_release(method: LocalMethod, before: Before, released: Table) -> Alike:
    """The worst over outsiders. Without others, one knows all columns but the class and the sensitive one."""
    sets: list[list[str]] = getattr(method, "quasi_identifiers_", [list(released.names)])
    return Alike.worst([_of_outsider(names, before, released) for names in sets])


def _of_outsider(names: Sequence[str], before: Before, released: Table) -> Alike:
    known = [name for name in names if name not in (before.label, before.sensitive)]
    groups = combinations([released.column(name) for name in known], released.rows)
    return Alike.of(groups, released.column(before.sensitive) if before.sensitive else None)


def _of_projections(method: LocalMethod, before: Before, projections: Sequence[Projection]) -> Alike:
    """The worst of all of them; all rows of one are alike where none of its columns is a quasi-identifier."""
    identifiers = cast("DMPD", method).quasi_identifiers
    sets = [None] if identifiers is None else name_sets(identifiers)
    return Alike.worst([_of_projection(one, before, names) for one in projections for names in sets])


def _of_projection(projection: Projection, before: Before, identifiers: Sequence[str] | None) -> Alike:
    table, sensitive = projection.table, before.sensitive
    known = [name for name in table.names if (identifiers is None or name in identifiers) and name != sensitive]
    column: Column | None = projection.labels if sensitive == before.label else None
    if sensitive in table.names:
        column = table.column(sensitive)
    return Alike.of(combinations([table.column(name) for name in known], table.rows), column)


def _distortion(original: Table | None, released: Table) -> dict[str, float | None]:
    if original is None or released.rows != original.rows:
        return {}
    numbers = [at for at in original.numeric if not original.columns[at].missing.all()]
    if not numbers:
        return {}
    pair = original.numbers(numbers), released.numbers(numbers)
    found = {measure.__name__: measure(*pair) for measure in DISTORTION}
    return {name: value if isfinite(value) else None for name, value in found.items()}


def _groups(method: LocalMethod, before: Before) -> dict[str, float | None] | None:
    """Of the people as they were: each group by itself where a method has other groups for each column."""
    groups = getattr(method, "groups_", None)
    if groups is None:
        return None
    column = before.table.column(before.sensitive) if before.sensitive else None
    parts = groups.T if groups.ndim > 1 else [groups]
    alike = Alike.worst([Alike.of(part, column) for part in parts])
    return {"k": alike.k, "l": alike.distinct_l, "entropy_l": alike.entropy_l, "t": alike.t}


def _why_not(name: str, before: Before) -> str:
    if name == "groups":
        return NO_GROUPS
    return NO_SENSITIVE if before.sensitive is None and name in _OF_SENSITIVE else NO_CELL


_OF_SENSITIVE = ("l_diversity", "entropy_l_diversity", "t_closeness")
