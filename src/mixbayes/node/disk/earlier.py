"""The rounds of earlier agreements, as a state folder knows them: what the agreement in force does not count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mixbayes.node.disk.sqlite import looking

_ROUNDS = """
SELECT COUNT(*), COALESCE(SUM(run NOT NULL AND agreement NOT IN (SELECT agreement FROM noise)), 0)
FROM round WHERE sealed AND agreement <> ?
"""
_CONTRIBUTED = """
SELECT COUNT(*), COALESCE(SUM(agreement NOT IN (SELECT agreement FROM noise)), 0)
FROM (SELECT DISTINCT agreement, round FROM outbox WHERE sealed AND agreement <> ?)
"""
_NONE = (0, 0)


@dataclass(frozen=True)
class Earlier:
    """Of rounds under other agreements than the one in force."""

    sealed: int
    exact: int
    """Those that had no noise."""


def earlier_in(folder: Path, agreement: str) -> Earlier:
    """Read beside the node that may be running. `agreement` is the digest of the one in force."""
    with looking(folder) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not {"noise"} <= tables:  # of a version before there was noise
            return Earlier(*_NONE)
        query = _ROUNDS if "round" in tables else _CONTRIBUTED
        return Earlier(*connection.execute(query, (agreement,)).fetchone())
