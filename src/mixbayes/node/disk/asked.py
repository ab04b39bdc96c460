"""The tables of questions: what was charged, what was written down of each answer, and which question was the last one.

At a computing party they hold the questions of those who ask it. At a hospital's node the last question is its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from mixbayes.node.disk.sealing import Seal, place

BROKEN_QUESTIONS = """
ALTER TABLE question ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
ALTER TABLE question ADD COLUMN released INTEGER NOT NULL DEFAULT 0;
ALTER TABLE question ADD COLUMN frozen INTEGER NOT NULL DEFAULT 0;
UPDATE question SET written = rows, released = rows;
"""
"""Of a question that was charged before these columns were there, all may have been released."""
LAST_QUESTION = """
CREATE TABLE last_question (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    round INTEGER NOT NULL,
    id BLOB NOT NULL
) STRICT;
"""


@dataclass(frozen=True)
class Charged:
    """A question that was charged, as it lies on disk."""

    hospital: str
    round: int
    kind: int
    rows: int
    """What it takes from the budget."""
    pieces: int
    """The messages of which its answer consists."""
    written: int = 0
    """The rows of those messages that were ever written down."""
    released: int = 0
    """The rows of those that may have left this node."""
    frozen: bool = False
    """No further message of its answer is written down, so none leaves this node."""


class AskedTables:
    """The queries of one transaction that concern questions."""

    def __init__(self, connection: Connection, seal: Seal) -> None:
        self._connection = connection
        self._seal = seal

    # What was charged

    def question(self, id: bytes) -> Charged | None:
        query = "SELECT hospital, round, kind, rows, pieces, written, released, frozen FROM question WHERE id = ?"
        if (row := self._one(query, id)) is None:
            return None
        hospital, number, kind, rows, pieces, written, released, frozen = row
        return Charged(hospital, number, kind, rows, pieces, written, released, bool(frozen))

    def add_question(self, id: bytes, ordinal: int, charged: Charged) -> None:
        """`ordinal` counts the hospital's questions in this round."""
        self._do(
            "INSERT INTO question VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            id,
            charged.round,
            charged.hospital,
            ordinal,
            charged.kind,
            charged.rows,
            charged.pieces,
            charged.written,
            charged.released,
            charged.frozen,
        )

    def put_written(self, id: bytes, rows: int) -> None:
        """How many rows of a question's answer were written down."""
        self._do("UPDATE question SET written = ? WHERE id = ?", rows, id)

    def put_released(self, id: bytes, rows: int) -> None:
        """How many rows of a question's answer may have left this node."""
        self._do("UPDATE question SET released = ? WHERE id = ?", rows, id)

    def freeze(self, id: bytes) -> None:
        """What was kept of its answer cannot be sent any more."""
        self._do("UPDATE question SET frozen = 1 WHERE id = ?", id)
        self._do("DELETE FROM answer WHERE question = ?", id)

    def frozen(self, number: int, hospital: str, *, charged: bool) -> int:
        """How many of a hospital's questions of this round are frozen, of those that were charged or never were."""
        query = "SELECT COUNT(*) FROM question WHERE round = ? AND hospital = ? AND frozen AND (pieces > 0) = ?"
        return int(self._one(query, number, hospital, charged)[0])

    def put_rows(self, id: bytes, rows: int) -> None:
        """What a question takes from the budget, once some of it was given back."""
        self._do("UPDATE question SET rows = ? WHERE id = ?", rows, id)

    def spent(self, number: int, hospital: str) -> tuple[int, int]:
        """The questions and the rows that a hospital was charged in this round."""
        row = self._one("SELECT questions, rows FROM spent WHERE round = ? AND hospital = ?", number, hospital)
        return row or (0, 0)

    def spent_by_all(self, number: int) -> tuple[int, int]:
        """The questions and the rows that all hospitals together were charged in this round."""
        query = "SELECT COALESCE(SUM(questions), 0), COALESCE(SUM(rows), 0) FROM spent WHERE round = ?"
        questions, rows = self._one(query, number)
        return int(questions), int(rows)

    def put_spent(self, number: int, hospital: str, questions: int, rows: int) -> None:
        self._do("INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)", number, hospital, questions, rows)

    # Answers

    def add_answer(self, id: bytes, piece: int, share: bytes) -> None:
        self._do("INSERT INTO answer VALUES (?, ?, ?)", id, piece, self._seal.close(share, _place_of_share(id, piece)))

    def answers(self, id: bytes) -> list[bytes]:
        """The pieces of a question's answer that are kept."""
        rows = self._connection.execute("SELECT piece, share FROM answer WHERE question = ? ORDER BY piece", (id,))
        return [self._seal.open(share, _place_of_share(id, piece)) for piece, share in rows.fetchall()]

    def answer_pieces(self, id: bytes) -> int:
        """The number of those pieces."""
        return int(self._one("SELECT COUNT(*) FROM answer WHERE question = ?", id)[0])

    def delete_answer(self, number: int, hospital: str, ordinal: int) -> None:
        """The answer to one of a hospital's questions in this round, by its ordinal."""
        self._do(
            "DELETE FROM answer WHERE question IN "
            "(SELECT id FROM question WHERE round = ? AND hospital = ? AND number = ?)",
            number,
            hospital,
            ordinal,
        )

    def delete_answers(self) -> None:
        """All answers of all rounds. The ids of questions stay."""
        self._do("DELETE FROM answer")

    # The last question of this node

    def put_last(self, number: int, id: bytes) -> None:
        """The question of this round that this node is about to ask, in the place of the one before."""
        self._do("INSERT OR REPLACE INTO last_question VALUES (1, ?, ?)", number, id)

    def last(self) -> tuple[int, bytes] | None:
        """The round of that question, and its id."""
        row: tuple[int, bytes] | None = self._one("SELECT round, id FROM last_question")
        return row

    def _one(self, query: str, *values: object) -> Any:
        """The first row, or None."""
        return self._connection.execute(query, values).fetchone()

    def _do(self, statement: str, *values: object) -> None:
        self._connection.execute(statement, values)


def _place_of_share(id: bytes, piece: int) -> str:
    return place("answer", "share", id.hex(), piece)
