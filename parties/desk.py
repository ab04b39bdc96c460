"""Where a hospital's commands ask: at both mixers, or, without mixers, at the hospital's own node."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.node.counts import STEP as COUNTS
from mixbayes.node.counts import counts_from
from mixbayes.node.cuts import cuts_from, size_of
from mixbayes.node.identity import Identity
from mixbayes.node.questions import ID_BYTES
from mixbayes.node.rounds.state import SEALED, TRAINED
from mixbayes.node.rounds.status import Status, refuse_preliminary
from mixbayes.parties.applications import refuse_not_agreed
from mixbayes.parties.asking import Numbering, numbering
from mixbayes.parties.noted_question import noted_question
from mixbayes.parties.open_question import Note, OpenQuestion
from mixbayes.parties.rounds_desk import RoundsAtMixers, RoundsAtOwnNode, RoundsDesk, own_node, own_status
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.cuts import Cuts
from mixbayes.protocol.bayes.evaluation import Integers, Sheet, Totals
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import JOINT, OWN, UNSURE, Recipe, read_recipe
from mixbayes.protocol.errors import PeerError
from mixbayes.tables.columns import Columns
from mixbayes.transport.peer import Peer
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1 import node_pb2

EVALUATION, JOINT_TEST, REMEMBERING = "evaluation", "joint test", "remembering the best recipe"
_LOOK_EVERY = 0.5
_MESSAGE = 1 << 19
"""The approximate size, in bytes, of the rows in a message from an application to its node."""
_OVERHEAD = 2
Progress = Callable[[int], None]


class Desk(RoundsDesk, Protocol):
    """What a hospital's commands can have done."""

    def refuse_over_budget(self, rows: int) -> Status:
        """Refuse a question of this many rows before any of them is charged."""
        ...

    def labels(
        self, codes: Values, rows: Columns, *, private: bool, progress: Progress, id: bytes = b"", recipe: str = ""
    ) -> Labels:
        """The answers to these rows; `unsure` comes after the last class. The joint classifier gives them if not said.

        Under the same `id`, rows that were answered before are not charged again.
        """
        ...

    def counts(self) -> tuple[int, Words]:
        """The current round and its noisy counts, where the agreement gives them to hospitals."""
        ...

    def cuts(self) -> tuple[int, Cuts]:
        """The current round and its cut points, where the agreement is preliminary."""
        ...


class AtMixers(RoundsAtMixers):
    """A conversation of its own with both mixers, for as long as the command runs."""

    def __init__(
        self,
        federation: Federation,
        mixers: BothMixers,
        numbered: Numbering,
        own: Callable[[], Status | None],
        repeats: int = 0,
        note: Note | None = None,
    ) -> None:
        super().__init__(mixers, own)
        self._federation = federation
        self._asked = mixers
        self._numbered = numbered
        self._repeats = repeats
        self._note = note
        self._seen: Status | None = None
        """What was reported just now, for the question that follows."""

    def refuse_over_budget(self, rows: int) -> Status:
        self._seen = _answering(self._asked.status, self._federation).refuse_over_budget(rows)
        return self._seen

    def labels(
        self, codes: Values, rows: Columns, *, private: bool, progress: Progress, id: bytes = b"", recipe: str = ""
    ) -> Labels:
        named = read_recipe(recipe or str(JOINT))
        refuse_not_agreed(self._federation, named)
        status, self._seen = self._seen or _answering(self._asked.status, self._federation), None
        last = OpenQuestion(self._note)
        asking = Asking(self._asked, self._federation.layout, self._numbered, last, self._repeats)
        parts: list[Labels] = []
        try:
            about = partial(asking.labels, status.round, codes, private=private, id=id, renew=True)
            for part in about(recipe=named, last=True):
                parts.append(part)
                progress(sum(map(len, parts)))
        finally:
            asking.close()
        return label.joined(parts)

    def counts(self) -> tuple[int, Words]:
        number = _settled(self._asked.status, self._federation).round
        return number, self._asked.counts(number, self._federation.layout.size)

    def cuts(self) -> tuple[int, Cuts]:
        number = _settled(self._asked.status, self._federation).round
        return number, self._asked.cuts(number, self._federation)


class AtOwnNode(RoundsAtOwnNode):
    """The node holds the conversation; the command has its rows classified there."""

    def __init__(self, federation: Federation, peer: Peer) -> None:
        super().__init__(peer)
        self._federation = federation

    def refuse_over_budget(self, rows: int) -> Status:
        return _answering(self.status, self._federation).refuse_over_budget(rows)

    def labels(
        self, codes: Values, rows: Columns, *, private: bool, progress: Progress, id: bytes = b"", recipe: str = ""
    ) -> Labels:
        if recipe != str(OWN):
            _answering(self.status, self._federation)
        classes = (*self._federation.dictionary.classes, UNSURE)
        found: list[int] = []
        parts = enumerate(_parts(rows))
        requests = (_message(self._federation, part, private, _part_id(id, at), recipe) for at, part in parts)
        for labels in self.classified(requests):
            found += map(classes.index, labels)
            progress(len(found))
        if len(found) != rows.rows:
            raise PeerError(self._peer.title, "classification", f"it gave {len(found)} labels for {rows.rows} rows")
        return np.array(found, np.int64)

    def classified(self, requests: Iterator[node_pb2.Rows]) -> Iterator[list[str]]:
        """The labels of these rows, some after the other."""
        for reply in self._peer.answers(self._stub.Classify, requests, "classification"):
            yield list(reply.labels)

    def counts(self) -> tuple[int, Words]:
        return self._kept(self._federation.layout.size)

    def cuts(self) -> tuple[int, Cuts]:
        number, words = self._kept(size_of(self._federation))
        return number, cuts_from(words, self._federation, self._peer.title)

    def _kept(self, size: int) -> tuple[int, Words]:
        """The current round, and so many words that the node has of it."""
        number = _settled(self.status, self._federation).round
        replies = self._peer.answers(self._stub.Counts, node_pb2.RoundNumber(round=number), COUNTS)
        return number, counts_from(replies, size, self._peer.title)

    def evaluate(self, recipes: Sequence[Recipe]) -> Iterator[tuple[Recipe, Totals, int]]:
        """For each recipe its totals over the hospital's own patients, and how many they are. `own` comes first."""
        _answering(self.status, self._federation)
        request = node_pb2.Evaluation(recipes=list(map(str, recipes)))
        for reply in self._peer.answers(self._stub.Evaluate, request, EVALUATION):
            recipe = read_recipe(reply.recipe)
            yield recipe, _totals(self._federation, recipe, reply), reply.rows

    def figures(self) -> tuple[Integers, list[str]]:
        """Of the joint test: patients of all hospitals by true class and answer, and which hospitals these are."""
        _settled(self.status, self._federation)
        reply = self._peer.call(self._stub.TestJointly, node_pb2.JointTest(), JOINT_TEST)
        classes = self._federation.layout.classes
        if len(reply.figures) != classes**2:
            raise PeerError(self._peer.title, JOINT_TEST, f"it gave {len(reply.figures)} figures")
        return np.array(reply.figures, np.int64).reshape(classes, classes), list(reply.hospitals)

    def best(self) -> str:
        """The recipe that this node remembers as the best one; nothing if it remembers none."""
        return self._peer.call(self._stub.Best, node_pb2.RecipeName(), REMEMBERING).recipe

    def remember_best(self, recipe: Recipe) -> None:
        self._peer.call(self._stub.Best, node_pb2.RecipeName(recipe=str(recipe)), REMEMBERING)


@contextmanager
def at_mixers(
    federation: Federation, identity: Identity, keys: Path, node: str = "", repeats: int = 0
) -> Iterator[AtMixers]:
    """Dials both mixers; the hospital's own node need not run."""
    own = partial(own_status, federation, identity, keys, node)
    with (
        noted_question(keys, identity.name, federation.digest()) as note,
        both_mixers(federation, identity, Watch()) as mixers,
    ):
        yield AtMixers(federation, mixers, numbering(identity.seal), own, repeats, note)


@contextmanager
def at_own_node(federation: Federation, identity: Identity, keys: Path, node: str = "") -> Iterator[AtOwnNode]:
    """The hospital's own node, at this address or at the one beside its key."""
    with own_node(federation, identity, keys, node) as peer:
        yield AtOwnNode(federation, peer)


def _settled(status: Callable[[], Status], federation: Federation) -> Status:
    """The status, once a training that is under way has ended. Raises why the round answers no questions."""
    until = time.monotonic() + federation.policy.timeout
    while True:
        now = status()
        for error in now.unreachable.values():
            raise error
        if now.state not in (SEALED, TRAINED) or time.monotonic() > until:
            now.refuse_unless_serving(federation)
            return now
        time.sleep(_LOOK_EVERY)


def _answering(status: Callable[[], Status], federation: Federation) -> Status:
    """The same of a round that answers questions, which that of a preliminary agreement never does."""
    refuse_preliminary(federation)
    return _settled(status, federation)


def _parts(rows: Columns) -> Iterator[Columns]:
    """The rows in parts that surely fit into a message."""
    longest = sum(rows.column(name).values.itemsize + _OVERHEAD for name in rows.names)
    step = max(1, _MESSAGE // longest)
    return (rows.take(np.arange(start, min(start + step, rows.rows))) for start in range(0, rows.rows, step))


def _part_id(id: bytes, at: int) -> bytes:
    return hashlib.sha256(id + at.to_bytes(8, "little")).digest()[:ID_BYTES] if id else b""


def _totals(federation: Federation, recipe: Recipe, reply: node_pb2.Evaluated) -> Totals:
    sheet = Sheet(federation.layout, recipe, 1)
    answers, above = np.array(reply.answers, np.int64), np.array(reply.above, np.int64)
    return Totals(answers.reshape(sheet.groups, -1), above.reshape(federation.layout.classes, -1))


def _message(federation: Federation, rows: Columns, private: bool, id: bytes, recipe: str) -> node_pb2.Rows:
    names = federation.dictionary.names
    columns = [node_pb2.Column(name=name, cells=rows.texts(name).tolist()) for name in names]
    return node_pb2.Rows(columns=columns, public=not private, id=id, renew=True, recipe=recipe)
