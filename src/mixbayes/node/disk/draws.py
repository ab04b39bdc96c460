"""The table of what a computing party writes down while noise is drawn: `protocol/bayes/tossing.py` says what, and why.

It is kept as long as the seeds of the coins are, because a draw that broke off must go on as it began.
"""

from __future__ import annotations

from sqlite3 import Connection

from mixbayes.node.disk.sealing import Seal, place

CHECKED_DRAWS = """
CREATE TABLE draw (
    agreement TEXT NOT NULL,
    round INTEGER NOT NULL,
    contributions TEXT NOT NULL,
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (agreement, round, contributions, name)
) STRICT;
UPDATE noise SET contributions = contributions || ' before coins were checked', seed = NULL WHERE seed IS NOT NULL;
"""
"""Noise whose coins nobody checked is never drawn again: the same set is charged anew."""


class DrawTables:
    """The queries of one transaction that concern the draw of one set's noise."""

    def __init__(self, connection: Connection, seal: Seal, agreement: str, number: int, contributions: str) -> None:
        self._connection = connection
        self._seal = seal
        self._set = agreement, number, contributions

    def get(self, name: str) -> bytes | None:
        query = "SELECT value FROM draw WHERE (agreement, round, contributions, name) = (?, ?, ?, ?)"
        row = self._connection.execute(query, (*self._set, name)).fetchone()
        return self._seal.open(row[0], self._place(name)) if row else None

    def put(self, name: str, value: bytes) -> None:
        sealed = self._seal.close(value, self._place(name))
        self._connection.execute("INSERT OR REPLACE INTO draw VALUES (?, ?, ?, ?, ?)", (*self._set, name, sealed))

    def _place(self, name: str) -> str:
        return place("draw", "value", *self._set, name)
