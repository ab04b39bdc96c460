"""The ledger of questions at a computing party: ids, budgets, and answers that can be fetched again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from mixbayes.node.disk.sealing import place
from mixbayes.node.ledger import over_budget
from mixbayes.node.questions import Kind, Question, Verdict
from mixbayes.node.rounds.rounds import SERVING, Rounds, spent_by
from mixbayes.protocol.arrays import Bytes
from mixbayes.transport.errors import QuestionSpent

ANSWERS_KEPT = 256
"""Of so many of a hospital's latest questions the answers can be fetched again. Their ids are kept for ever."""

Model = TypeVar("Model")


class Page(Generic[Model]):
    """One asking hospital's page. `pieces` says how many messages an answer has, `trained` gives the model."""

    def __init__(
        self,
        rounds: Rounds,
        hospital: str,
        pieces: Callable[[Question], int],
        trained: Callable[[int], tuple[bytes, Model]],
    ) -> None:
        self._rounds = rounds
        self._hospital = hospital
        self._pieces = pieces
        self._trained = trained

    def verdict(self, question: Question) -> Verdict:
        now = self._rounds.current()
        if now.number != question.round or now.state != SERVING:
            return Verdict.NOT_SERVING
        with self._rounds.database.read() as connection:
            asked = connection.execute(
                "SELECT hospital, round, kind, rows, pieces FROM question WHERE id = ?", (question.id,)
            ).fetchone()
            there = connection.execute("SELECT COUNT(*) FROM answer WHERE question = ?", (question.id,)).fetchone()[0]
            spent = spent_by(connection, question.round, self._hospital)[1]
        if asked:
            same = asked[:4] == (self._hospital, question.round, question.kind, question.rows)
            return Verdict.STORED if same and there == asked[4] else Verdict.SPENT
        return Verdict.GO if spent + question.rows <= self._rounds.federation.policy.budget else Verdict.OVER_BUDGET

    def charge(self, question: Question) -> None:
        rounds, hospital = self._rounds, self._hospital
        with rounds.database.write() as connection:
            rounds.refuse_unless_serving(connection, question.round)
            number, spent = spent_by(connection, question.round, hospital)
            if spent + question.rows > rounds.federation.policy.budget:
                raise over_budget(rounds.federation.title(hospital), question)  # by another conversation meanwhile
            if connection.execute("SELECT 1 FROM question WHERE id = ?", (question.id,)).fetchone():
                raise QuestionSpent("The same question was asked in two conversations at once.")
            connection.execute(
                "INSERT INTO question VALUES (?, ?, ?, ?, ?, ?, ?)",
                (question.id, question.round, hospital, number, question.kind, question.rows, self._pieces(question)),
            )
            connection.execute(
                "INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)",
                (question.round, hospital, number + 1, spent + question.rows),
            )
            connection.execute(
                "DELETE FROM answer WHERE question IN "
                "(SELECT id FROM question WHERE round = ? AND hospital = ? AND number = ?)",
                (question.round, hospital, number - ANSWERS_KEPT),
            )
            how = "rows shown" if question.kind is Kind.PUBLIC else "rows hidden"
            about: dict[str, int | str] = {"round": question.round, how: question.rows, "question": question.id.hex()}
            rounds.note(connection, rounds.federation.title(hospital), "asked", rounds.me, about)

    def keep(self, question: Question, piece: int, share: Bytes) -> None:
        where = place("answer", "share", question.id.hex(), piece)
        with self._rounds.database.write() as connection:
            self._rounds.refuse_unless_serving(connection, question.round)
            connection.execute(
                "INSERT INTO answer VALUES (?, ?, ?)",
                (question.id, piece, self._rounds.database.seal.close(share.tobytes(), where)),
            )

    def kept(self, question: Question) -> list[bytes]:
        with self._rounds.database.read() as connection:
            rows = connection.execute(
                "SELECT piece, share FROM answer WHERE question = ? ORDER BY piece", (question.id,)
            ).fetchall()
        seal = self._rounds.database.seal
        return [seal.open(share, place("answer", "share", question.id.hex(), piece)) for piece, share in rows]

    def trained(self, number: int) -> tuple[bytes, Model]:
        return self._trained(number)
