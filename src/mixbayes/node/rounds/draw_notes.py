"""What a computing party writes down during a draw of noise, in its state folder."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.node.disk.datastore import Datastore, RoundTables
from mixbayes.transport.errors import RoundOver


@dataclass(frozen=True)
class NotesOnDisk:
    """The notes of the draw for one set of contributions; a value that was assigned is on disk."""

    datastore: Datastore[RoundTables]
    agreement: str
    number: int
    contributions: str

    def get(self, name: str) -> bytes | None:
        with self.datastore.read() as tables:
            return tables.draw(self.agreement, self.number, self.contributions).get(name)

    def __setitem__(self, name: str, value: bytes) -> None:
        with self.datastore.write() as tables:
            if tables.coin_seed(self.agreement, self.number, self.contributions) is None:
                # The notes are deleted too. What goes on without them would toss by an order that was shown.
                raise RoundOver(f"Round {self.number} went on while its noise was drawn. This draw ends.")
            tables.draw(self.agreement, self.number, self.contributions).put(name, value)
