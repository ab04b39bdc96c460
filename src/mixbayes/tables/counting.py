"""A hospital's table against the agreed dictionary: its counts, or every column and value that does not fit."""

from __future__ import annotations

from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.source import InMemory, Progress, Source, no_progress
from mixbayes.tables.tallying import Counted, Counting


def counted(layout: Layout, table: Source | Columns, progress: Progress = no_progress) -> Counted:
    """The table's counts in the dictionary's layout."""
    source = InMemory(table) if isinstance(table, Columns) else table
    counting = Counting(layout)
    with source.named_in_errors():
        source.count(counting, progress)
        return counting.done()


def refuse_empty(rows: int, source: str) -> None:
    """A hospital without patients would count among those that the others require."""
    if not rows:
        raise BadData(f"{source or 'The table'}: there are no rows below the header.")


def refuse_too_few(rows: int, least: int, source: str) -> None:
    """The others want to know that nobody is nearly alone in the sum."""
    if rows < least:
        raise BadData(
            f"{source}: there are {rows} rows, and the agreement wants {least} of every hospital (policy, min_rows)."
        )
