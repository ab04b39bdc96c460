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
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log
from mixbayes.node.rounds.state import SERVING
from mixbayes.node.rounds.status import Status, refuse_preliminary
from mixbayes.parties.applications import refuse_elsewhere, serve_applications
from mixbayes.parties.asking import WARM_EVERY, Numbering, Turn, numbering
from mixbayes.parties.background import keep_going
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.parties.settings import RunningHospital, Settings
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.parties.with_mixers.contributing import Contributor, Messages, Outbox, messages
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.evaluation import Totals
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.watch import Watch

_FAREWELL = 1.0


class Hospital:
    """Answers its applications, one question at a time, over one warm conversation with both mixers."""

    def __init__(
        self, mixers: BothMixers, federation: Federation, outbox: Outbox, numbered: Numbering, own: OwnPatients
    ) -> None:
        self._mixers = mixers
        self._own = own
        self._federation = federation
        self._outbox = outbox
        self._asking = Asking(mixers, federation.layout, numbered)
        self._turn = Turn(federation.policy.timeout)
        self._serving: int | None = None
        self._warmed = 0.0

    def status(self) -> Status:
        found = self._mixers.status()
        return replace(found, epsilon_spent=max(found.epsilon_spent, self._outbox.noise_spent()))

    def labels(self, codes: Values, *, private: bool, id: bytes, renew: bool, recipe: Recipe) -> Iterator[Labels]:
        """The labels, question by question. Between two questions another application may have its turn."""
        with self._turn.mine():
            number = self._serving or self._look_for_service()
        self._outbox.asked(number, codes.shape[1], recipe, shown=not private)
        parts = self._asking.labels(number, codes, private=private, id=id, renew=renew, recipe=recipe)
        while True:
            with self._turn.mine():
                try:
                    part = next(parts, None)
                except MixbayesError:
                    self._serving = None
                    raise
            if part is None:
                return
            yield part

    def totals(self, recipe: Recipe) -> Totals:
        """How often a classifier is right on the hospital's own patients, whom it does not count."""
        sheet = self._own.sheet(recipe)
        with self._turn.mine():
            number = self._look_for_service()
            self._outbox.refuse_other_counts(number, self._own.vector)
            self._outbox.evaluated(number, sheet)
            return self._asking.totals(number, sheet, self._own.codes, self._own.groups)

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
        identity = Identity(settings.keys, name, log)
        owner = f"{title} of {federation.name}"
        database = stack.enter_context(Database.open(settings.state, HOSPITAL, identity.seal, owner))
        rounds, privacy = federation.policy.rounds, federation.privacy
        outbox = Outbox(database, title, federation.digest(), clock, rounds, privacy, federation.release)
        mixers = stack.enter_context(both_mixers(federation, identity, Watch()))
        hospital = Hospital(mixers, federation, outbox, numbering(identity.seal), settings.own_patients)
        stack.callback(hospital.close)
        server = serve_applications(stack, settings, identity, hospital, log)
        if settings.protection:
            outbox.note("protected", "own table", settings.audited_protection)
        log.info("ready", port=server.port, rows=settings.rows)
        contributor = Contributor(name, mixers, outbox, partial(_made, settings), log)
        contributor.begin()
        _go_on(stack, lambda: hospital.keep_warm(contributor.step()), log)
        yield RunningHospital(server.port, (mixers.peers["a"].meter, mixers.peers["b"].meter))


def _go_on(stack: ExitStack, step: Callable[[], object], log: Log) -> None:
    """Repeat the step in a thread, until the stack unwinds."""
    stopped = threading.Event()
    thread = threading.Thread(target=keep_going, args=(step, stopped, log), name="contributor")
    stack.callback(thread.join, 10.0)
    stack.callback(stopped.set)
    thread.start()


def _made(settings: Settings, number: int) -> Messages:
    digest = settings.federation.digest()
    return messages(settings.name, digest, number, settings.vector, Randomness.from_system())
