"""A hospital's table against the agreed dictionary: its counts, or every column and value that does not fit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.counts import count
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_training
from mixbayes.tables.protecting import Progress, Protection, protect


@dataclass(frozen=True)
class Counted:
    """What a hospital contributes, and what there is to say about how it came about."""

    vector: Words = field(repr=False)
    rows: int
    clipped: dict[str, int]
    """By column, how many values lay beyond the agreed bounds and count as the bound."""
    unlabelled: int = 0
    """Rows that protection left without a class; they are not counted."""
    protection: str = ""
    """Which method, with its settings."""
    guarantee: str = ""
    """What its release was found to keep."""
    coarsened: int = 0
    """Cells that count as missing, because the release says less of them than any value of the dictionary."""


def refuse_empty(table: Columns) -> None:
    """A hospital without patients would count among those that the others require."""
    if not table.rows:
        raise BadData(f"{table.source or 'The table'}: there are no rows below the header.")


def counted(layout: Layout, table: Columns) -> Counted:
    """The table's counts in the dictionary's layout."""
    with table.named_in_errors():
        codes, clipped = encode_training(layout.dictionary, table)
    beyond = {name: times for name, times in zip(layout.dictionary.names, clipped, strict=True) if times}
    return Counted(count(layout, codes), table.rows, beyond)


def protected(
    layout: Layout, table: Columns, protection: Protection, seed: int, progress: Progress | None = None
) -> Counted:
    """The counts of the table as a local method releases it. The table itself must fit the dictionary too."""
    counted(layout, table)
    done = protect(table, layout.dictionary, protection, seed, progress)
    found = counted(layout, done.table)
    return replace(
        found,
        unlabelled=done.unlabelled,
        protection=str(protection),
        guarantee=done.guarantee,
        coarsened=done.coarsened,
    )


def seed_for(secret: bytes, protection: str) -> int:
    """The same for the same hospital and method, for ever: several releases of one table could be averaged."""
    digest = hashlib.sha256(b"mixbayes protection" + secret + protection.encode()).digest()
    return int.from_bytes(digest[:4], "little")
