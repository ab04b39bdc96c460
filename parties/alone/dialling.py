"""The hospital that dials the other one: it leads the rounds, and keeps both conversations for questions open."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from mixbayes.node.log import Log
from mixbayes.node.rounds.follower import Agreed
from mixbayes.node.rounds.leader import Leader
from mixbayes.node.rounds.remote import RemoteFollower
from mixbayes.node.rounds.state import CLOSED, COLLECTING, SERVING
from mixbayes.node.serving.conversations import IDLE
from mixbayes.parties.alone.hospital import StandingTalk
from mixbayes.parties.alone.listening import stand
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.alone.talk import ASKING_CHANNELS, TRAINING_CHANNELS, answer_questions, train_round
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets, MixbayesError
from mixbayes.transport.conversation import ASKING, TRAINING, conversation
from mixbayes.transport.errors import RoundFailed
from mixbayes.transport.peer import Peer


class ListeningHospital(RemoteFollower):
    """The hospital that listens, as the hospital that dials sees it."""

    def __init__(self, peer: Peer, store: PartnerStore) -> None:
        super().__init__(peer, store.witnessing)
        self._store = store

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Agreed:
        agreed = super().seal(number, chosen)
        if agreed.sealed and set(agreed.chosen) != set(self._store.federation.names):
            raise DifferentSets(self.peer.title, "sealing the round", "it has sealed it without one of the two")
        return agreed

    def train(self, number: int) -> None:
        """One training with the other hospital."""
        key = secrets.token_hex(16)
        talk = conversation(self.peer, self.stub.Talk, TRAINING_CHANNELS, TRAINING, str(number), key)
        with talk as channels, self._store.tallies.training():
            train_round(self._store, number, channels)

    def talk(self, whose: str) -> AbstractContextManager[Sequence[Channel]]:
        """The conversation in which one of the two asks."""
        return conversation(self.peer, self.stub.Talk, ASKING_CHANNELS, ASKING, whose, secrets.token_hex(16), IDLE)


class Dialler:
    """The work of the dialling hospital between questions. `lead`, `ask` and `answer` have a thread each."""

    def __init__(self, store: PartnerStore, other: ListeningHospital, standing: StandingTalk, log: Log) -> None:
        self._store = store
        self._other = other
        self._standing = standing
        self.leader = Leader(store.rounds, other, other.train, log)
        self._waiting = ""

    @property
    def waiting(self) -> str:
        """What the round waits for, as a text for people."""
        return self._waiting or self.leader.waiting

    def lead(self) -> None:
        """Follow the other hospital if it is ahead, meet it in the current round, and bring that round further."""
        try:
            self._follow()
            self._store.contribute()
            self._meet()
        except MixbayesError as error:
            self._waiting = f"waiting: {error}"
            raise
        self._waiting = ""
        while self.leader.step():
            pass

    def ask(self) -> None:
        """Hold the conversation in which this hospital asks."""
        if self._answers():
            with self._other.talk(self._store.name) as channels:
                stand(self._standing, self._store, channels)

    def answer(self) -> None:
        """Hold the conversation in which the other hospital asks."""
        if self._answers():
            with self._other.talk(self._store.other) as channels:
                answer_questions(self._store, channels)

    def _answers(self) -> bool:
        return self._store.rounds.current().state == SERVING and not self._store.federation.cuts

    def _follow(self) -> None:
        """The other hospital may have closed the round or opened a new one. It cannot dial this one to say so."""
        rounds, partner = self._store.rounds, self._store.partner
        now = rounds.current()
        if not now.over and now.state not in (COLLECTING, SERVING):
            return
        theirs = self._other.report(now)
        self._store.partner_stands_at(theirs.round, theirs.state)
        ahead = theirs.round > now.number
        if not now.over and (ahead or (theirs.round == now.number and theirs.state == CLOSED)):
            rounds.close(now.number, partner)
        if ahead:
            self._store.refuse_far_ahead(theirs.round)
            rounds.open(theirs.round, partner)

    def _meet(self) -> None:
        """Write down the id of the other hospital's contribution to a round that collects."""
        rounds, store = self._store.rounds, self._store
        now = rounds.current()
        if now.state != COLLECTING or store.other in now.contributions:
            return
        try:
            store.meet(now.number, self._other.seal(now.number, now.sealed_set).chosen)
        except RoundFailed as error:
            rounds.fail(now.number, str(error))
