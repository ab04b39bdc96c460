"""What somebody does to a trail who has the file and stops the node for a moment."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from mixbayes.node.disk import audit
from mixbayes.node.disk.heads import FOUND_CUT, GIVES


def cut(folder: Path, entries: int) -> None:
    """Delete the last entries. The chain by itself shows nothing then."""
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection, connection:
        ((trigger,),) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'audit_keeps'")
        connection.execute("DROP TRIGGER audit_keeps")
        (last,) = connection.execute("SELECT MAX(number) FROM audit").fetchone()
        connection.execute("DELETE FROM audit WHERE number > ?", (last - entries,))
        connection.execute(trigger)
    assert audit.verify(folder).sound


def behind_the_head(folder: Path) -> int:
    """How many entries must go so that the head that was given goes too."""
    verbs = [one.entry.verb for one in audit.entries(folder)]
    return len(verbs) - max(at for at, verb in enumerate(verbs) if verb == GIVES)


def found_cut(folder: Path) -> list[str]:
    """Whose trails this node found cut, by its own trail."""
    return [one.entry.subject for one in audit.entries(folder) if one.entry.verb == FOUND_CUT]
