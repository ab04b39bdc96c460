"""The contribution of a hospital whose table a local method releases whole."""

from __future__ import annotations

from dataclasses import replace

from mixbayes.protocol.attributes.layout import Layout
from mixbayes.tables.changed import changed_by
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.protecting import Chance, Protection, protect
from mixbayes.tables.sources.source import Progress
from mixbayes.tables.tallying import Counted


def protected(
    layout: Layout,
    table: Columns,
    protection: Protection,
    seed: Chance,
    progress: Progress | None = None,
) -> Counted:
    """The counts of the table as a local method releases it whole. The table itself must fit the dictionary too."""
    before = counted(layout, table)
    done = protect(table, layout.dictionary, protection, seed, progress)
    found = counted(layout, done.table)
    return replace(
        found,
        unlabelled=done.unlabelled,
        protection=str(protection),
        guarantee=done.guarantee,
        coarsened=done.coarsened,
        changed=changed_by(layout, before.vector, found.vector),
    )
