"""The one question of a hospital that may be charged and not answered: before another one it is given back.

A command remembers it as long as it runs. A node keeps its id on disk, before it is announced, and so finds it again
after a restart. Whether it was answered is not written down: to give back a question that was answered whole changes
nothing.
"""

from __future__ import annotations

from dataclasses import replace

from mixbayes.node.disk.datastore import AnyTables, Datastore
from mixbayes.node.questions import Kind, Question
from mixbayes.parties.asking import broken


class OpenQuestion:
    """Used by one thread at a time."""

    def __init__(self, datastore: Datastore[AnyTables] | None = None) -> None:
        """`datastore` is that of a node; a command has none."""
        self._datastore = datastore
        self._open = self._last()

    def earlier(self, question: Question) -> Question | None:
        """The open question, as one that broke off, if it is another one of the same round."""
        if self._open is None or self._open[0] != question.round or self._open[1] == question.id:
            return None
        return broken(replace(question, id=self._open[1]))

    def begins(self, question: Question) -> None:
        """This question is about to be announced. The one before it is answered, or given back."""
        if question.kind is Kind.ASIDE or self._open == (
            question.round,
            question.id,
        ):  # an aside question costs nothing
            return
        if self._datastore:
            with self._datastore.write() as tables:
                tables.asked.put_last(question.round, question.id)
        self._open = question.round, question.id

    def is_answered(self) -> None:
        """There is no open question any more."""
        self._open = None

    def _last(self) -> tuple[int, bytes] | None:
        if self._datastore is None:
            return None
        with self._datastore.read() as tables:
            return tables.asked.last()
