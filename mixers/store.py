"""What both services of a mixer share: its role, its rounds on disk, its model and supply in memory."""

from __future__ import annotations

import threading
from functools import partial

from mixbayes.agreement.agreement import Federation
from mixbayes.mixers.joint_test import JointTest
from mixbayes.mixers.personal import Personal
from mixbayes.mixers.supply import Supply
from mixbayes.mixers.training import Trained, checked, share_of, train_round
from mixbayes.mixers.verdicts import VerdictsOnDisk
from mixbayes.node.ledger import Page
from mixbayes.node.model_codec import model_bytes, model_from
from mixbayes.node.questions import Question
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.tallies import Tallies
from mixbayes.node.unwitnessed import UNWITNESSED, Unwitnessed
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.contribution import Contribution

ROLES = {"a": A, "b": B}


class Store:
    """One mixer's rounds and model."""

    def __init__(
        self,
        rounds: Rounds,
        name: str,
        witnessing: Unwitnessed = UNWITNESSED,
        tallies: Tallies | None = None,
    ) -> None:
        self.rounds = rounds
        self.witnessing = witnessing
        self.tallies = tallies or Tallies()
        self.role = ROLES[name]
        self.layout = rounds.federation.layout
        policy, other = rounds.federation.policy, "b" if name == "a" else "a"
        self.supply = Supply(policy.ahead, rounds.federation.title(other), policy.timeout, rounds.federation.transfers)
        self._lock = threading.Lock()
        self._loaded: tuple[int, bytes, Model] | None = None

    @property
    def federation(self) -> Federation:
        return self.rounds.federation

    def receive(self, hospital: str, message: bytes) -> Contribution:
        """Check a contribution and write it down."""
        peer = self.federation.title(hospital)
        contribution = checked(self.role, self.layout, self.federation.digest(), hospital, peer, message)
        self.rounds.hold(contribution.round, hospital, contribution.id, message)
        return contribution

    def contributions(self, number: int) -> list[Contribution]:
        """The contributions of the sealed set."""
        digest = self.federation.digest()
        return [
            checked(self.role, self.layout, digest, name, self.federation.title(name), message)
            for name, message in self.rounds.messages(number).items()
        ]

    def train(self, number: int, other: tuple[Channel, Channel]) -> Trained:
        """One training on the sealed set, over the channels to the other mixer."""
        minimum, random = self.federation.policy.minimum, Randomness.from_system()
        charge = partial(self.rounds.charge_noise, number)
        found, bins = self.contributions(number), self.federation.bins_to_find
        with self.supply.at_work(), self.tallies.training():
            return train_round(
                self.role,
                other,
                self.layout,
                number,
                found,
                minimum,
                random,
                charge,
                bins,
                self.supply,
                VerdictsOnDisk(self.rounds, number),
            )

    def keep(self, number: int, trained: Trained) -> None:
        model = model_bytes(self.layout, trained.model) if trained.model else b""
        to_keep = self.federation.asked_anew or self.federation.cuts
        kept = trained.counts.astype("<u8").tobytes() if to_keep else b""
        self.rounds.keep_model(number, trained.run, model, trained.refused, kept)

    def model(self, number: int) -> tuple[bytes, Model]:
        """Which training the round's model comes from, and the model, which is read from the disk once."""
        run = self.rounds.last_state().run
        with self._lock:
            if self._loaded is None or self._loaded[:2] != (number, run):
                run, raw = self.rounds.model(number)
                self._loaded = number, run, model_from(raw)
            return self._loaded[1:]

    def forget(self) -> None:
        """Drop the model of a round that is over from memory too."""
        with self._lock:
            self._loaded = None

    def page(self, hospital: str) -> Page[Model]:
        """The ledger for this hospital's questions."""
        return Page(self.rounds, hospital, self._pieces, self.model)

    def personal(self, hospital: str) -> Personal:
        """What this mixer has of one hospital, for its recipes and evaluations."""

        def share(number: int) -> Words:
            message, peer = self.rounds.counted_message(number, hospital), self.federation.title(hospital)
            found = checked(self.role, self.layout, self.federation.digest(), hospital, peer, message)
            return share_of(self.layout, found)

        return Personal(self.rounds, self.layout, hospital, share)

    def joint_test(self, hospital: str) -> JointTest:
        """What this mixer has for the joint test, in a conversation with this hospital."""
        return JointTest(self.rounds, self.layout, hospital)

    def _pieces(self, question: Question) -> list[int]:
        """The rows of each message in the answer to a question for labels."""
        form = Form.of_recipe(self.layout, question.recipe)
        pieces = form.pieces(question.rows) if question.private else rows.pieces(question.rows)
        return [piece.stop - piece.start for piece in pieces]
