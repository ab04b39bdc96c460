"""The hospital that listens: what it answers the hospital that dials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import grpc

from mixbayes.node.log import printable
from mixbayes.node.rounds.follower import Follower
from mixbayes.node.rounds.remote import FollowerService
from mixbayes.node.rounds.status import encode
from mixbayes.node.serving.conversations import Channels, Conversations, Work, about, opened
from mixbayes.parties.alone.hospital import StandingTalk
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.alone.talk import ASKING_CHANNELS, TRAINING_CHANNELS, Asker, answer_questions, train_round
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError, WrongStep
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.errors import RoundFailed
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk, Failure, RoundNumber, RoundReport

Context = grpc.ServicerContext


class PairService(FollowerService):
    """Answers the other hospital."""

    def __init__(
        self,
        store: PartnerStore,
        follower: Follower,
        conversations: Conversations,
        standing: StandingTalk,
        watch: Watch,
    ) -> None:
        super().__init__(follower, store.partner, store.witnessing)
        self._store = store
        self._conversations = conversations
        self._standing = standing
        self._watch = watch

    def leader_stands_at(self, number: int, state: str) -> None:
        self._store.partner_stands_at(number, state)

    def before_sealing(self, number: int, proposed: Mapping[str, bytes]) -> None:
        self._store.contribute()
        if self._store.rounds.current().number == number:
            self._store.meet(number, proposed)

    def OpenRound(self, request: RoundNumber, context: Context) -> RoundReport:
        self._store.refuse_far_ahead(request.round)
        self.follower.open(request.round, self._store.partner)
        return self.report_for(self._store.other)

    def CloseRound(self, request: RoundNumber, context: Context) -> RoundReport:
        self.follower.close(request.round, self._store.partner)
        return self.report_for(self._store.other)

    def FailRound(self, request: Failure, context: Context) -> RoundReport:
        self.follower.fail(request.round, f"{self._store.partner} says: {printable(request.reason)}")
        return self.report_for(self._store.other)

    def report_for(self, caller: str) -> RoundReport:
        return encode(self._store.status(caller), self._store.rounds.clock())

    def Talk(self, request_iterator: Iterator[Chunk], context: Context) -> Iterator[Chunk]:
        partner, timeout = self._store.partner, self._store.federation.policy.timeout
        purpose, whose, key, channel = (about(context, partner, k) for k in (PURPOSE, WHOSE, CONVERSATION, CHANNEL))
        wire = opened(request_iterator, context, partner, timeout, self._watch)
        names, work = self._work(purpose, whose)
        self._conversations.join(partner, key, channel, wire, dict.fromkeys(names, partner), work)
        yield from wire.leaving()

    def _work(self, purpose: str, whose: str) -> tuple[tuple[str, ...], Work]:
        """The channels of a conversation, and the work that begins once all are open."""
        if purpose == TRAINING and whose.isascii() and whose.isdecimal():
            return TRAINING_CHANNELS, lambda channels: self._train(int(whose), channels)
        if purpose == ASKING and whose == self._store.name:
            return ASKING_CHANNELS, self._ask
        if purpose == ASKING and whose == self._store.other:
            return ASKING_CHANNELS, lambda channels: answer_questions(self._store, _ordered(channels, ASKING_CHANNELS))
        raise WrongStep(self._store.partner, "opening a stream", "it has no purpose that is known here")

    def _train(self, number: int, channels: Channels) -> None:
        try:
            with self._store.tallies.training():
                train_round(self._store, number, _ordered(channels, TRAINING_CHANNELS))
        except RoundFailed as error:
            self.follower.fail(number, str(error))
            raise

    def _ask(self, channels: Channels) -> None:
        stand(self._standing, self._store, _ordered(channels, ASKING_CHANNELS))


def stand(standing: StandingTalk, store: PartnerStore, channels: Sequence[Channel]) -> None:
    """Hold the conversation in which this hospital asks, until it is over."""
    asker: Asker | None = None
    why: MixbayesError | None = None
    try:
        asker = Asker(store, channels)
        standing.begin(asker)
        asker.wait()
    except MixbayesError as error:
        why = error
        raise
    finally:
        standing.end(asker, why)


def _ordered(channels: Channels, names: Sequence[str]) -> list[Channel]:
    return [channels[name] for name in names]
