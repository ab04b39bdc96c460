"""A hospital's node where there are mixers: it dials them, contributes, and serves its own applications."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from mixbayes.agreement.agreement import Federation
from mixbayes.node.cuts import words_of
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import HOSPITAL
from mixbayes.node.earlier_agreements import tell_what_begins_anew
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.observed import Observed
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.rounds.status import Status, refuse_preliminary
from mixbayes.node.serving.own_call import refuse_silent
from mixbayes.node.tallies import Counting, Tallies, uncounted
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.node.witnessing import Witnessing
from mixbayes.parties.applications import refuse_elsewhere, serve_applications
from mixbayes.parties.asking import WARM_EVERY, Numbering, numbering
from mixbayes.parties.background import keep_going
from mixbayes.parties.gathering import MOST_ROWS, Gathering, How, Part
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.parties.settings import RunningHospital, Settings
from mixbayes.parties.turn import Turn
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.parties.with_mixers.contributing import Contributor, Messages, Outbox, messages
from mixbayes.parties.with_mixers.last_round import LastRound
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.evaluation import Integers, Totals
from mixbayes.protocol.bayes.joint_test import joint_sheet
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.errors import RefusedByPolicy, TooEarly
from mixbayes.transport.watch import Watch

_FAREWELL = 1.0


class Hospital:
    """Answers its applications, one question at a time, over one warm conversation with both mixers."""

    def __init__(
        self,
        name: str,
        mixers: BothMixers,
        federation: Federation,
        outbox: Outbox,
        numbered: Numbering,
        own: OwnPatients,
        witnessing: Unwitnessed = UNWITNESSED,
        counted: Counting = uncounted,
    ) -> None:
        self._name = name
        self._mixers = mixers
        self._own = own
        self._federation = federation
        self._outbox = outbox
        self._witnessing = witnessing
        self._counted = counted
        self._asking = Asking(mixers, federation.layout, numbered, outbox.open_question(), counted=counted)
        self._turn: Turn[Part] = Turn(federation.policy.timeout)
        self._gathering = Gathering(self._turn, self._note, self._ask_once)
        self._numbered = numbered
        self._serving: int | None = None
        self._warmed = 0.0
        self._given = 0
        """The round for whose joint test nothing is left to be given."""

    def status(self) -> Status:
        found = self._mixers.status()
        trails = [*found.trails, *self._witnessing.findings()]
        spent = max(found.epsilon_spent, self._outbox.noise_spent())
        return replace(found, epsilon_spent=spent, trails=trails, protection=self._outbox.own_releases())

    def labels(self, codes: Values, *, private: bool, id: bytes, renew: bool, recipe: Recipe) -> Iterator[Labels]:
        """The labels, question by question. Between two questions another application may have its turn.

        A few rows without an id are asked about together with those of other applications.
        """
        how = How(private, recipe)
        if id:
            return self._under_id(how, codes, id, renew=renew)
        return self._table(how, codes) if codes.shape[1] > MOST_ROWS else self._few(how, codes)

    def _few(self, how: How, codes: Values) -> Iterator[Labels]:
        if codes.size:
            yield self._gathering.labels(how, codes)

    def _table(self, how: How, codes: Values) -> Iterator[Labels]:
        """Each question is as large as those allow who ask about few rows meanwhile."""
        number, start = self._begun(how, codes), 0
        while start < codes.shape[1]:
            with self._turn.mine(), self._looking_again():
                rows = codes[:, start : start + self._gathering.most_at_once()]
                part = next(self._asking.labels(number, rows, private=how.private, recipe=how.recipe))
            start += len(part)
            yield part

    def _under_id(self, how: How, codes: Values, id: bytes, *, renew: bool) -> Iterator[Labels]:
        """The questions are the same ones whenever the rows come again under this id."""
        number = self._begun(how, codes)
        parts = self._asking.labels(number, codes, private=how.private, id=id, renew=renew, recipe=how.recipe)
        while True:
            with self._turn.mine(), self._looking_again():
                part = next(parts, None)
            if part is None:
                return
            yield part

    def _begun(self, how: How, codes: Values) -> int:
        """Write down that an application asks, and give the round for all its questions."""
        with self._turn.mine():
            number = self._number()
        self._outbox.asked(number, codes.shape[1], how.recipe, shown=not how.private)
        return number

    def _note(self, how: How, rows: int, applications: int) -> None:
        """For whoever has the turn: write down what so many applications are about to ask."""
        self._outbox.asked(self._number(), rows, how.recipe, shown=not how.private, applications=applications)

    def _ask_once(self, how: How, codes: Values) -> Labels:
        """For whoever has the turn: one question."""
        with self._looking_again():
            return joined(list(self._asking.labels(self._number(), codes, private=how.private, recipe=how.recipe)))

    def _number(self) -> int:
        """The round that serves."""
        return self._serving or self._look_for_service()

    @contextmanager
    def _looking_again(self) -> Iterator[None]:
        """After an error the round may be another one."""
        try:
            yield
        except MixbayesError:
            self._serving = None
            raise

    def totals(self, recipe: Recipe) -> Totals:
        """How often a classifier is right on the hospital's own patients, whom it does not count."""
        sheet = self._own.sheet(recipe)
        with self._turn.mine():
            number = self._look_for_service()
            self._outbox.refuse_other_counts(number, self._own.vector)
            self._outbox.evaluated(number, sheet)
            return self._asking.totals(number, sheet, self._own.codes, self._own.groups)

    def figures(self) -> Integers:
        """Of the joint test: patients of all hospitals who are kept aside, by true class and answer."""
        with self._turn.mine():
            number = self._look_for_service()
            self._outbox.had_joint_test(number, self._federation.layout.classes**2)
            return self._asking.figures(number, self._federation.test_coins)

    def best(self) -> Recipe | None:
        return self._outbox.best()

    def remember_best(self, recipe: Recipe) -> None:
        self._outbox.remember_best(recipe)

    def open_round(self, number: int) -> None:
        self._mixers.open_round(number)

    def close_round(self, number: int) -> None:
        self._mixers.close_round(number)

    def counts(self, number: int) -> bytes:
        if self._federation.cuts:
            return words_of(self._mixers.cuts(number, self._federation)).astype("<u8").tobytes()
        return self._mixers.counts(number, self._federation.layout.size).astype("<u8").tobytes()

    def between_questions(self, state: str, number: int) -> None:
        """What this node does by itself while the round of this number is in this state."""
        self.keep_warm(state)
        if self._federation.joint_test and state == SERVING and number != self._given:
            self._give_aside(number)

    def _give_aside(self, number: int) -> None:
        """Have the rows kept aside judged for the joint test, in a conversation of its own: it may take minutes."""
        if self._name not in self._mixers.status().contributed:
            self._given = number
            return
        codes, classes = self._own.rows_aside(self._federation.rows_asked_aside)
        sheet = joint_sheet(self._federation.layout, codes.shape[1], self._federation.test_coins)
        try:
            self._outbox.refuse_other_counts(number, self._own.vector)
            self._outbox.give_aside(number, sheet.rows)
        except (RefusedByPolicy, TooEarly):
            self._given = number  # another attempt would end the same way
            raise
        asking = Asking(self._mixers, self._federation.layout, self._numbered, counted=self._counted)
        try:
            asking.give_aside(number, sheet, codes, classes)
        finally:
            asking.close()
        self._given = number

    def keep_warm(self, state: str) -> None:
        """While nobody asks, stay connected and make random transfers ahead."""
        if state != SERVING:
            self._serving = None
        if state != SERVING or self._federation.cuts or time.monotonic() - self._warmed < WARM_EVERY:
            return
        with self._turn.if_nobody_asks() as free:
            if free:
                self._asking.warm()
                self._warmed = time.monotonic()

    def close(self) -> None:
        with self._turn.if_nobody_asks(_FAREWELL) as free:
            if free:  # else a question is under way, which ends with the connection
                self._asking.close()

    def _look_for_service(self) -> int:
        refuse_preliminary(self._federation)
        status = self.status()
        status.refuse_unless_serving(self._federation)
        self._serving = status.round
        return status.round


@contextmanager
def running(settings: Settings, log: Log, clock: Callable[[], float] = time.time) -> Iterator[RunningHospital]:
    """A hospital at work. Raises at once if a mixer refuses it."""
    federation, name = settings.federation, settings.name
    title = federation.title(federation.party(name).name)
    refuse_elsewhere(settings.listen)
    with ExitStack() as stack:
        identity = Identity(settings.keys, name, log, federation.key_of(name))
        identity.tell_soon()
        owner = f"{title} of {federation.name}"
        database = stack.enter_context(Database.open(settings.state, HOSPITAL, identity.seal, owner))
        tell_what_begins_anew(log, federation, settings.state)
        rounds, privacy = federation.policy.rounds, federation.privacy
        releases = federation.release, federation.test_release
        outbox = Outbox(database, title, federation.digest(), clock, rounds, privacy, *releases, settings.own_release)
        witnessing = Witnessing(database, title, clock, outbox.last_sealed, log)
        tallies, own = Tallies(), settings.own_patients
        mixers = stack.enter_context(both_mixers(federation, identity, Watch(), witnessing, tallies.traffic))
        numbered, counted = numbering(identity.seal), tallies.asking
        hospital = Hospital(name, mixers, federation, outbox, numbered, own, witnessing, counted)
        stack.callback(hospital.close)
        server = serve_applications(stack, settings, identity, hospital, tallies, log)
        if settings.protection:
            outbox.note("protected", "own table", settings.audited_protection)
        answers = partial(refuse_silent, settings.listen, server.port, identity)
        answers()
        log.info("ready", port=server.port, rows=settings.rows)
        contributor = Contributor(name, mixers, outbox, partial(_made, settings), log)
        contributor.begin()
        last = LastRound(mixers, clock)
        thread = _go_on(stack, partial(_step, contributor, hospital, last), log)
        meters = mixers.peers["a"].meter, mixers.peers["b"].meter
        observed = Observed(
            federation,
            name,
            identity,
            settings.state,
            tallies,
            round=last.seen,
            given_away=outbox.given_away,
            trails=witnessing.findings,
            answers=answers,
        )
        yield RunningHospital(server.port, observed, hospital.status, meters, (*server.threads, thread))


def _go_on(stack: ExitStack, step: Callable[[], object], log: Log) -> threading.Thread:
    """Repeat the step in a thread, until the stack unwinds."""
    stopped = threading.Event()
    thread = threading.Thread(target=keep_going, args=(step, stopped, log), name="contributor")
    thread.start()
    stack.callback(thread.join, 10.0)
    stack.callback(stopped.set)
    return thread


def _step(contributor: Contributor, hospital: Hospital, last: LastRound) -> None:
    last.seen()
    hospital.between_questions(contributor.step(), contributor.round)


def _made(settings: Settings, number: int) -> Messages:
    digest = settings.federation.digest()
    return messages(settings.name, digest, number, settings.vector, Randomness.from_system())
