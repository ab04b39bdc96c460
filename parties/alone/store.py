"""What a hospital without mixers has on disk and in memory: its counts, its rounds, its half of the joint model."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.node.ledger import Page
from mixbayes.node.log import printable
from mixbayes.node.own_releases import own_in_words
from mixbayes.node.questions import ID_BYTES, Question
from mixbayes.node.recipes import best_recipe, of_one_training, remember_best
from mixbayes.node.rounds.record import Round
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import COLLECTING, SEALED
from mixbayes.node.rounds.status import Status
from mixbayes.node.tallies import Tallies
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.parties.alone.engine import Engine, engine_from, most_rows_of
from mixbayes.parties.own_patients import other_counts
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.evaluation import train_folds
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.tables.private_release import PrivateRelease

MOST_TRAININGS = 8
"""Trainings of one round. Nothing but the other's word says that it takes the same counts each time.

By the Paillier protocol a training without noise tells it nothing, whatever counts it takes, and one with noise nothing
but bits of the noisy counts (`paillier/training.py`).
"""
_SALT_BYTES = 32
_LONGEST_STATE = 20
_Position = tuple[int, str, str, bytes | None]
"""A round's number, state, reason and training: where it stands, whoever has contributed."""


class PartnerStore:
    """One of the two hospitals. The one that listens has role A; the one that dials has role B and leads the rounds."""

    def __init__(
        self,
        rounds: Rounds,
        name: str,
        vector: Words,
        witnessing: Unwitnessed = UNWITNESSED,
        tallies: Tallies | None = None,
        own: PrivateRelease | None = None,
    ) -> None:
        self.rounds = rounds
        self.witnessing = witnessing
        self.tallies = tallies or Tallies()
        self.name = name
        self.layout = rounds.federation.layout
        self.role = A if rounds.federation.party(name).address else B
        self.other = next(other for other in rounds.federation.names if other != name)
        self._vector = vector
        self._own = own
        self._contributing = threading.Lock()
        self._lock = threading.Lock()
        self._loaded: tuple[int, bytes, Engine] | None = None
        self._partner_round: tuple[_Position, int, str] | None = None
        """The number and state that the other hospital last reported, after this hospital's position at that time."""

    @property
    def federation(self) -> Federation:
        return self.rounds.federation

    @property
    def leads(self) -> bool:
        """The hospital that dials."""
        return self.role == B

    @property
    def partner(self) -> str:
        """The other hospital's title."""
        return self.federation.title(self.other)

    def contribute(self) -> None:
        """Fix this hospital's counts for the current round, if it collects. They do not leave this machine."""
        with self._contributing:
            now = self.rounds.current()
            if now.state != COLLECTING or self.name in now.contributions:
                return
            if self._own:
                self.rounds.charge_own(self._own)
            # A tag of the contribution lies on disk unencrypted. The salt keeps it from testing guesses of the counts.
            counts = self._vector.astype("<u8").tobytes() + secrets.token_bytes(_SALT_BYTES)
            self.rounds.hold(now.number, self.name, secrets.token_bytes(ID_BYTES), counts)

    def meet(self, number: int, others: Mapping[str, bytes]) -> None:
        """Write down the id of the other hospital's contribution. Its counts stay there."""
        if (id := others.get(self.other)) is None:
            return
        if len(id) != ID_BYTES:
            raise OutOfRange(self.partner, "sealing the round", f"its contribution has an id of {len(id)} bytes")
        self.rounds.hold(number, self.other, id, id)

    def status(self, hospital: str, waiting: str = "") -> Status:
        """How the current round stands, for one of the two hospitals. The agreement's order is the order of names."""
        status = self.rounds.status(hospital, waiting)
        contributed = [name for name in self.federation.names if name in status.contributed]
        releases = own_in_words(self.rounds.given_away())
        return replace(status, contributed=contributed, trails=self.witnessing.findings(), protection=releases)

    def partner_stands_at(self, number: int, state: str) -> None:
        """The other hospital reports where its last round stands, in its own words."""
        self._partner_round = (_position(self.rounds.current()), number, state[:_LONGEST_STATE]) if number else None

    def apart(self) -> str:
        """A text that the two hospitals are at different rounds, if they are: one may have lost its state folder."""
        now = self.rounds.current()
        if self._partner_round is None or self._partner_round[0] != _position(now):
            return ""
        _, number, state = self._partner_round
        if number == now.number and (state == now.state or not _cannot_meet({state, now.state})):
            return ""
        me = self.federation.title(self.name)
        where = "either" if number == now.number else max((number, self.partner), (now.number, me))[1]
        return (
            f"{self.partner} is at round {number}, {printable(state)}, and {me} at round {now.number}, {now.state}: "
            f"`mixbayes round close` and then `mixbayes round new` at {where} bring them together."
        )

    def refuse_far_ahead(self, number: int) -> None:
        """Refuse a round that is further ahead than any rounds of which this hospital knows nothing could bring it."""
        now = self.rounds.current().number
        if number > self.rounds.furthest(now):
            raise OutOfRange(self.partner, "opening a round", f"it speaks of round {number}, and {now} is the last one")

    def vector(self, number: int) -> Words:
        """The counts with which this hospital contributed to the round. Its table may have changed since."""
        return joint(self.layout, _counts(self.rounds.messages(number)[self.name][:-_SALT_BYTES]))

    def folds(self, number: int, asker: str) -> Words:
        """This hospital's share (folds, size) of the asker's contribution: its own counts, or zeros for the other's."""
        own = _counts(self.rounds.counted_message(number, self.name)[:-_SALT_BYTES])
        return (own if asker == self.name else np.zeros_like(own)).reshape(self.layout.terms.folds, self.layout.size)

    def joint(self, number: int) -> Words:
        """This hospital's share of the joint counts, with their noise where it is agreed."""
        found = _counts(self.rounds.counts(number))
        # Where the agreement gives the noisy counts to hospitals, both have the whole of them.
        return found if self.role == A or not self.federation.gives_model else np.zeros_like(found)

    def refuse_other_counts(self, number: int) -> None:
        """Raise if the counts with which the node began are not those that it contributed to the round."""
        if self.folds(number, self.name).reshape(-1).tolist() != self._vector.tolist():
            raise other_counts(self.rounds.me, number)

    def refuse_training(self, number: int) -> None:
        """Refuse unless the round's set is fixed, and no model of it serves yet."""
        self.rounds.current().train(number)

    def begin_training(self, number: int) -> None:
        """From here on a training uses this hospital's counts. A round may have `MOST_TRAININGS`."""
        self.rounds.begin_training(number, MOST_TRAININGS)

    def charge_noise(self, number: int) -> Draw:
        """This hospital's part in drawing the noise, once it is charged."""
        return self.rounds.charge_noise(number, self.rounds.current().sealed_set, for_nothing=self._own is not None)

    def keep(self, number: int, run: bytes, engine: Engine | None, counts: Words | None) -> None:
        """`counts` are what answers need besides the model.

        They are this hospital's share of the joint counts, with their noise; or the noisy counts themselves, where the
        agreement gives them to hospitals. Under a preliminary agreement, which has no model, they are the cut points.
        """
        kept = b"" if counts is None else counts.astype("<u8").tobytes()
        self.rounds.keep_model(number, run, engine.kept() if engine else b"", [], kept)
        with self._lock:
            self._forget()
            self._loaded = (number, run, engine) if engine else None

    def engine(self, number: int) -> tuple[bytes, Engine]:
        """Which training the round's model comes from, and the model at work."""
        run = self.rounds.current().run
        with self._lock:
            if self._loaded is None or self._loaded[:2] != (number, run):
                run, raw = self.rounds.model(number)
                self._forget()
                self._loaded = number, run, engine_from(self.federation.protocol, self.layout, raw)
            return self._loaded[1:]

    def of_recipe(self, me: ComputingParty, engine: Engine, question: Question, asker: str) -> Engine:
        """The engine that answers the question, beside that of the joint classifier. It is trained when first asked."""
        number, recipe = question.round, question.recipe
        if recipe == JOINT:
            return engine
        kept = self.rounds.recipe_model(number, asker, str(recipe))

        def train() -> Engine:
            own = joint(self.layout, self.folds(number, asker)) if asker == self.name else None
            return engine.of_recipe(me, recipe, self.joint(number), own)

        def keep(run: bytes, made: Engine) -> None:
            self.rounds.keep_recipe_model(number, asker, str(recipe), run, made.kept())

        return of_one_training(me, kept and (kept[0], engine.again(kept[1])), train, keep)

    def without_each_fold(self, me: ComputingParty, question: Question, asker: str) -> list[Model]:
        """The models by which the asker's folds are judged, trained for this evaluation alone."""
        number = question.round
        return train_folds(me, self.layout, question.recipe, self.joint(number), self.folds(number, asker))

    def most_rows(self, recipe: Recipe) -> int:
        """The largest number of rows in one question."""
        return most_rows_of(self.federation.protocol, self.layout, recipe)

    def best(self) -> Recipe | None:
        return best_recipe(self.rounds.datastore, self.federation.digest())

    def remember_best(self, recipe: Recipe) -> None:
        remember_best(self.rounds.datastore, self.federation.digest(), self.rounds.me, recipe)

    def page(self, asker: str) -> Page[Engine]:
        """The ledger for this hospital's questions. An answer is kept as one piece: the asker's labels."""
        return Page(self.rounds, asker, lambda question: [question.rows], self.engine)

    def close(self) -> None:
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._loaded:
            self._loaded[2].close()
        self._loaded = None


def _counts(raw: bytes) -> Words:
    return np.frombuffer(raw, "<u8").astype(np.uint64)


def _position(now: Round) -> _Position:
    return now.number, now.state, now.reason, now.run


def _cannot_meet(states: set[str]) -> bool:
    """One hospital collects, and the round of the other one cannot be sealed any more."""
    return COLLECTING in states and SEALED not in states
