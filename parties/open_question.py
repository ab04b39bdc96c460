"""The one question of a hospital that may be charged and not answered: before another one it is given back.

Its id is on disk before it is announced: a node has it in its state folder, and commands have it beside the hospital's
key. So it is found again after a restart. To give back a question that was answered whole changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Generic, Protocol

from mixbayes.node.disk.datastore import AnyTables, Datastore
from mixbayes.node.questions import Kind, Question
from mixbayes.parties.asking import broken


class Note(Protocol):
    """Where the last question stands on disk."""

    def last(self) -> tuple[int, bytes] | None: ...
    def put(self, number: int, id: bytes) -> None: ...
    def clear(self) -> None: ...


class NoteOfNode(Generic[AnyTables]):
    """In the state folder of a node."""

    def __init__(self, datastore: Datastore[AnyTables]) -> None:
        self._datastore = datastore

    def last(self) -> tuple[int, bytes] | None:
        with self._datastore.read() as tables:
            return tables.asked.last()

    def put(self, number: int, id: bytes) -> None:
        with self._datastore.write() as tables:
            tables.asked.put_last(number, id)

    def clear(self) -> None:
        """One commit a question is enough: the next one takes the place of this one."""


class OpenQuestion:
    """Used by one thread at a time."""

    def __init__(self, note: Note | None = None) -> None:
        self._note = note
        self._open = note.last() if note else None

    def earlier(self, question: Question) -> Question | None:
        """The open question, as one that broke off, if it is another one of the same round."""
        if self._open is None or self._open[0] != question.round or self._open[1] == question.id:
            return None
        return broken(replace(question, id=self._open[1]))

    def begins(self, question: Question) -> None:
        """This question is about to be announced. The one before it is answered, or given back."""
        this = question.round, question.id
        if question.kind is Kind.ASIDE or self._open == this:  # what is kept aside costs nothing
            return
        if self._note:
            self._note.put(*this)
        self._open = this

    def is_answered(self) -> None:
        """There is no open question any more."""
        self._open = None
        if self._note:
            self._note.clear()
