"""Which numeric columns a method replaces."""

from __future__ import annotations

from collections.abc import Sequence

from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.tables import Table


def confidential_columns(table: Table, names: Sequence[str] | None) -> list[int]:
    """Where the columns of these names stand, or all numeric ones; a table or a list without any is refused."""
    at = table.numeric if names is None else table.positions(dict.fromkeys(names))
    if not at and names is None:
        raise UnfitTable("The table has no numeric column, and only numbers can be confidential here.")
    if not at:
        raise BadParameter("confidential names no column. Name one, or leave it out for all numeric ones.")
    return at
