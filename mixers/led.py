"""Mixer b: mixer a dials it and leads the rounds. Hospitals dial it themselves."""

from __future__ import annotations

from collections.abc import Iterator

import grpc

from mixbayes.mixers import supply
from mixbayes.mixers.service import MixerService, Reception
from mixbayes.node.rounds.follower import Follower
from mixbayes.node.rounds.remote import FollowerService
from mixbayes.node.serving.conversations import Channels, Work
from mixbayes.protocol.errors import WrongStep
from mixbayes.transport.conversation import AHEAD, ASKING, MODEL_KEPT, NOW, SUPPLYING, TRAINING
from mixbayes.transport.errors import RefusedByPolicy, RoundFailed
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE
from mixbayes.wire.v1.node_pb2 import Chunk, RoundNumber, RoundReport

Context = grpc.ServicerContext
_OF_MIXER = "mixer "
"""The prefix to the names of the channels that mixer a opens."""


class LedService(MixerService):
    """Answers hospitals at mixer b. A conversation begins once mixer a has joined it."""

    def OpenRound(self, request: RoundNumber, context: Context) -> RoundReport:
        raise _only_mixer_a()

    def CloseRound(self, request: RoundNumber, context: Context) -> RoundReport:
        raise _only_mixer_a()

    def needed(self, hospital: str) -> dict[str, str]:
        leading = self.reception.store.federation.title("a")
        return {**super().needed(hospital), _OF_MIXER + NOW: leading, _OF_MIXER + AHEAD: leading}

    def work(self, hospital: str, key: str) -> Work:
        def answer(channels: Channels) -> None:
            self.converse(hospital, channels, (channels[_OF_MIXER + NOW], channels[_OF_MIXER + AHEAD]))

        return answer


class PairService(FollowerService):
    """Answers mixer a at mixer b."""

    def __init__(self, reception: Reception, follower: Follower, hospitals: LedService) -> None:
        store = reception.store
        super().__init__(follower, store.federation.title("a"), store.witnessing)
        self._reception = reception
        self._hospitals = hospitals

    def report_for(self, caller: str) -> RoundReport:
        return self._reception.report(caller)

    def Talk(self, request_iterator: Iterator[Chunk], context: Context) -> Iterator[Chunk]:
        reception = self._reception
        purpose, whose, key = (reception.about(context, about) for about in (PURPOSE, WHOSE, CONVERSATION))
        channel = reception.about(context, CHANNEL)
        wire = reception.stream(request_iterator, context)
        federation, leading = reception.store.federation, reception.title(context)
        if purpose == TRAINING and whose.isdecimal():
            needed, work = {NOW: leading, AHEAD: leading}, self._training(int(whose))
            reception.conversations.join(leading, key, channel, wire, needed, work)
        elif purpose == SUPPLYING and whose == "b":
            needed, work = {NOW: leading, AHEAD: leading}, self._supplying(key)
            reception.conversations.join(SUPPLYING, key, channel, wire, needed, work)
        elif purpose == ASKING and federation.role_of(whose) == "party":
            needed, work = self._hospitals.needed(whose), self._hospitals.work(whose, key)
            reception.conversations.join(whose, key, _OF_MIXER + channel, wire, needed, work)
        else:
            raise WrongStep(leading, "opening a stream", "it has no purpose that is known here")
        yield from wire.leaving()

    def _supplying(self, key: str) -> Work:
        return lambda channels: supply.follow(self._reception.store.supply, (channels[NOW], channels[AHEAD]), key)

    def _training(self, number: int) -> Work:
        store = self._reception.store

        def work(channels: Channels) -> None:
            try:
                trained = store.train(number, (channels[NOW], channels[AHEAD]))
            except RoundFailed as error:
                self.follower.fail(number, str(error))
                raise
            store.keep(number, trained)
            channels[NOW].send(MODEL_KEPT, b"")

        return work


def _only_mixer_a() -> RefusedByPolicy:
    return RefusedByPolicy("Mixer a opens and closes rounds; it tells mixer b.")
