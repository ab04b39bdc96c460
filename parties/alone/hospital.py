"""A hospital without mixers, as its applications see it: one question at a time, through the standing conversation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NoReturn, TypeVar

import numpy as np

from mixbayes.node.counts import released
from mixbayes.node.ledger import MOST_BROKEN, Page, refusal
from mixbayes.node.questions import Kind, Question, Verdict
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.rounds.status import Status, refuse_preliminary
from mixbayes.parties.alone.engine import Engine
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.alone.talk import Asker, spent
from mixbayes.parties.applications import NO_JOINT_TEST
from mixbayes.parties.asking import WARM_EVERY, Numbering, broken, fresh_id, of_recipe, renewed
from mixbayes.parties.open_question import NoteOfNode, OpenQuestion
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.parties.turn import Turn
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.evaluation import Totals
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent, Unsupported

Answer = TypeVar("Answer")
ATTEMPTS = 3
"""A question whose conversation breaks is asked this many times: the other hospital may have started again."""
_PATIENCE = 5.0
"""Seconds to wait for a connection once it is known why there is none."""


class StandingTalk:
    """The conversation with the other hospital in which this one asks, or the reason why there is none."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asker: Asker | None = None
        self._why: MixbayesError | None = None
        self._left = False

    def begin(self, asker: Asker) -> None:
        """A new conversation takes the place of an earlier one, whose other end has forgotten it."""
        with self._changed:
            earlier, self._asker, self._why = self._asker, asker, None
            left = self._left
            self._changed.notify_all()
        if earlier:
            earlier.end()
        if left:
            asker.end()

    def end(self, asker: Asker | None, why: MixbayesError | None) -> None:
        """A conversation is over, or never began. Another one may stand by now."""
        with self._changed:
            if asker is self._asker:
                self._asker, self._why = None, why
                self._changed.notify_all()

    def leave(self) -> None:
        """The node stops: the conversation ends, and nobody waits for another."""
        with self._changed:
            self._left, asker = True, self._asker
            self._changed.notify_all()
        if asker:
            asker.end()

    def now(self) -> Asker | None:
        asker = self._asker
        return None if asker is None or asker.over else asker

    def missing(self, partner: str) -> MixbayesError | None:
        """Why there is none now, if there is none."""
        return None if self.now() else self._why or PeerGone(partner, "asking", "it is not connected")

    def _decided(self) -> bool:
        return self._left or self.now() is not None

    def wait(self, deadline: float, partner: str) -> Asker:
        """The conversation. Raises the reason if there is none in time."""
        with self._changed:
            self._changed.wait_for(self._decided, min(_PATIENCE, deadline))
            if not self._why:
                self._changed.wait_for(self._decided, deadline)
            if self._left:
                raise PeerGone("this node", "asking", "it stops")
            if not (asker := self.now()):
                raise self._why or PeerSilent(partner, "connecting", f"it has not joined within {deadline:g} s")
            return asker


class PartnerHospital:
    """Answers the hospital's own applications, together with the other hospital."""

    def __init__(
        self,
        store: PartnerStore,
        own: OwnPatients,
        standing: StandingTalk,
        waiting: Callable[[], str],
        numbered: Numbering,
        open_round: Callable[[int, str], None],
        close_round: Callable[[int, str], None],
    ) -> None:
        self._store = store
        self._own = own
        self._standing = standing
        self._waiting = waiting
        self._numbered = numbered
        self._open_round = open_round
        self._close_round = close_round
        self._open = OpenQuestion(NoteOfNode(store.rounds.datastore))
        self._turn: Turn[object] = Turn(store.federation.policy.timeout)
        self._warmed = 0.0

    def status(self) -> Status:
        return self._store.status(self._store.name, self._store.apart() or self._waiting())

    def seen(self) -> Status:
        """The same, and whether the other hospital is away. Before a round serves, nobody stays connected."""
        found, partner = self.status(), self._store.federation.title(self._store.other)
        away = self._standing.missing(partner) if found.state == SERVING else None
        return replace(found, unreachable={partner: away}) if away else found

    def labels(self, codes: Values, *, private: bool, id: bytes, renew: bool, recipe: Recipe) -> Iterator[Labels]:
        """The labels, question by question. Between two questions another application may have its turn."""
        kind, count = Kind.PRIVATE if private else Kind.PUBLIC, codes.shape[1]
        refuse_preliminary(self._store.federation)
        status = self.status()
        status.refuse_unless_serving(self._store.federation)
        most = self._store.most_rows(recipe)
        for at, start in enumerate(range(0, count, most)):
            rows = codes[:, start : start + most]
            question_id = self._numbered(of_recipe(id, recipe), at, kind, rows)
            with self._turn.mine():
                question = Question(kind, status.round, rows.shape[1], question_id, recipe)
                part = self._part(question, rows, renew=renew or not id)
            yield part

    def totals(self, recipe: Recipe) -> Totals:
        """How often a classifier is right on the hospital's own patients, whom it does not count."""
        refuse_preliminary(self._store.federation)
        sheet = self._own.sheet(recipe)
        with self._turn.mine():
            status = self.status()
            status.refuse_unless_serving(self._store.federation)
            self._store.refuse_other_counts(status.round)
            question = Question(Kind.EVALUATION, status.round, sheet.rows, fresh_id(), recipe)

            def evaluate(asker: Asker, engine: Engine, question: Question) -> Totals:
                return asker.evaluate(question, sheet, self._own.codes, self._own.groups)

            return self._asked(question, evaluate, renew=True)

    def figures(self) -> NoReturn:
        """Of a joint test, which there is none of."""
        raise Unsupported(NO_JOINT_TEST)

    def best(self) -> Recipe | None:
        return self._store.best()

    def remember_best(self, recipe: Recipe) -> None:
        self._store.remember_best(recipe)

    def open_round(self, number: int) -> None:
        self._open_round(number, self._store.federation.title(self._store.name))

    def close_round(self, number: int) -> None:
        self._close_round(number, self._store.federation.title(self._store.name))

    def counts(self, number: int) -> bytes:
        return released(self._store.rounds, number, self._store.federation.title(self._store.name))

    def keep_warm(self) -> None:
        asker = self._standing.now()
        serving = self._store.rounds.current().state == SERVING
        if not asker or not serving or time.monotonic() - self._warmed < WARM_EVERY:
            return
        with self._turn.if_nobody_asks() as free:
            if free:
                asker.warm()
                self._warmed = time.monotonic()

    def _part(self, question: Question, codes: Values, *, renew: bool) -> Labels:
        """One question, from this hospital's own ledger if it was answered before."""
        own = self._store.page(self._store.name)
        if kept := _stored(own, question, renew=renew):
            return np.frombuffer(kept[0], "<u1").astype(np.int64)

        def ask(asker: Asker, engine: Engine, question: Question) -> Labels:
            labels = asker.ask(engine, question, codes)
            own.keep(question, 0, labels.astype(np.uint8))
            return labels

        return self._asked(question, ask, renew=renew)

    def _asked(self, question: Question, ask: Callable[[Asker, Engine, Question], Answer], *, renew: bool) -> Answer:
        """The other hospital's answer."""
        with self._store.tallies.asking(question):
            return self._until_answered(question, ask, renew=renew)

    def _until_answered(
        self, question: Question, ask: Callable[[Asker, Engine, Question], Answer], *, renew: bool
    ) -> Answer:
        """If the conversation breaks the question is asked again, if need be anew."""
        failure: MixbayesError = spent()
        for _ in range(ATTEMPTS):
            try:
                asker = self._standing.wait(self._store.federation.policy.timeout, self._store.partner)
                last, engine = self._unspent(asker, question, renew=renew)
                if not engine:
                    break
                found = ask(asker, engine, last)
            except PeerGone as error:
                failure = error  # perhaps before it was charged: then the same question again
            else:
                self._open.is_answered()
                return found
        raise failure

    def _unspent(self, asker: Asker, question: Question, *, renew: bool) -> tuple[Question, Engine | None]:
        """Announce the question; if it is spent, give it back and announce it under the next id, until one is good."""
        own = self._store.page(self._store.name)
        if earlier := self._open.earlier(question):
            _give_back(asker, own, earlier)
        for _ in range(MOST_BROKEN):
            verdict = own.verdict(question)
            if refused := refusal(verdict, self._store.federation.title(self._store.name), question):
                raise refused
            if verdict is Verdict.GO:
                self._open.begins(question)
                if engine := asker.announce(question, own.charge):
                    return question, engine
            if not renew:
                break
            _give_back(asker, own, broken(question))
            question = replace(question, id=renewed(question.id))
        return question, None


def _give_back(asker: Asker, own: Page[Engine], broken: Question) -> None:
    """At both hospitals. What the other one keeps as answered counts at both."""
    own.freeze(broken)
    own.give_back(broken, asker.give_back(broken))


def _stored(own: Page[Engine], question: Question, *, renew: bool) -> list[bytes]:
    """The labels that this hospital has kept of a question, or of one that took its place; nothing if it has none."""
    for _ in range(MOST_BROKEN):
        verdict = own.verdict(question)
        if verdict is Verdict.STORED:
            return own.kept(question)
        if verdict is not Verdict.SPENT or not renew:
            break
        question = replace(question, id=renewed(question.id))
    return []
