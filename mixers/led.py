"""Mixer b: mixer a leads and dials it; with the hospitals it speaks for itself."""

from __future__ import annotations

from collections.abc import Iterator

import grpc

from mixbayes.mixers.service import MixerService, Reception, report
from mixbayes.node.keeping import MODEL_KEPT
from mixbayes.node.rounds.follower import Follower
from mixbayes.node.rounds.over_the_wire import FollowerHere
from mixbayes.node.serving.conversations import Channels, Work
from mixbayes.protocol.errors import TooManyRows, WrongStep
from mixbayes.transport.conversation import AHEAD, ASKING, NOW, TRAINING
from mixbayes.transport.errors import RefusedByPolicy, RoundFailed
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE
from mixbayes.wire.v1.node_pb2 import Chunk, RoundNumber, RoundReport

Context = grpc.ServicerContext
_OF_MIXER = "mixer "
"""Before the names of channels that mixer a opens."""


class SecondService(MixerService):
    """What hospitals ask of mixer b. A conversation begins once mixer a has joined it."""

    def OpenRound(self, request: RoundNumber, context: Context) -> RoundReport:
        raise _ask_the_first()

    def CloseRound(self, request: RoundNumber, context: Context) -> RoundReport:
        raise _ask_the_first()

    def needed(self, hospital: str) -> dict[str, str]:
        first = self.reception.store.federation.title("a")
        return {**super().needed(hospital), _OF_MIXER + NOW: first, _OF_MIXER + AHEAD: first}

    def work(self, hospital: str, key: str) -> Work:
        def answer(channels: Channels) -> None:
            self.converse(hospital, channels, (channels[_OF_MIXER + NOW], channels[_OF_MIXER + AHEAD]))

        return answer


class PairService(FollowerHere):
    """What mixer a asks of mixer b."""

    def __init__(self, reception: Reception, follower: Follower, hospitals: SecondService) -> None:
        super().__init__(follower)
        self._reception = reception
        self._hospitals = hospitals

    def report_for(self, caller: str) -> RoundReport:
        return report(self._reception.store, caller)

    def Talk(self, request_iterator: Iterator[Chunk], context: Context) -> Iterator[Chunk]:
        reception = self._reception
        purpose, whose, key = (reception.about(context, about) for about in (PURPOSE, WHOSE, CONVERSATION))
        channel = reception.about(context, CHANNEL)
        wire = reception.stream(request_iterator, context)
        federation, first = reception.store.federation, reception.title(context)
        if purpose == TRAINING and whose.isdecimal():
            reception.conversations.join(
                first, key, channel, wire, {NOW: first, AHEAD: first}, self._training(int(whose))
            )
        elif purpose == ASKING and federation.role_of(whose) == "party":
            needed, work = self._hospitals.needed(whose), self._hospitals.work(whose, key)
            reception.conversations.join(whose, key, _OF_MIXER + channel, wire, needed, work)
        else:
            raise WrongStep(first, "opening a stream", "it has no purpose that is known here")
        yield from wire.leaving()

    def _training(self, number: int) -> Work:
        store = self._reception.store

        def work(channels: Channels) -> None:
            try:
                trained = store.train(number, (channels[NOW], channels[AHEAD]))
            except (RoundFailed, TooManyRows) as error:
                self.follower.fail(number, str(error))
                raise
            store.keep(number, trained)
            channels[NOW].send(MODEL_KEPT, b"")

        return work


def _ask_the_first() -> RefusedByPolicy:
    return RefusedByPolicy("Mixer a opens and closes rounds; it tells mixer b.")
