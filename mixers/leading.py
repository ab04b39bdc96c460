"""Mixer a: it leads the rounds, dials mixer b, and answers hospitals together with it."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import grpc

from mixbayes.mixers import supply as standing
from mixbayes.mixers.service import MixerService, Reception
from mixbayes.mixers.store import Store
from mixbayes.mixers.supply import Supply
from mixbayes.node.log import Log, error_fields
from mixbayes.node.pauses import Pauses
from mixbayes.node.repeated import Repeated
from mixbayes.node.rounds.leader import Leader
from mixbayes.node.rounds.remote import RemoteFollower
from mixbayes.node.serving.admission import caller_of
from mixbayes.node.serving.conversations import Work
from mixbayes.protocol.channel import Channel
from mixbayes.transport.conversation import AHEAD, ASKING, MODEL_KEPT, NOW, SUPPLYING, TRAINING, Bound, conversation
from mixbayes.wire.v1.node_pb2 import RoundNumber, RoundReport

Context = grpc.ServicerContext
TICK = 0.25
"""Seconds between two steps while nothing happens."""
_ANEW = 1.0
"""Seconds after which the supply of transfers begins anew."""


class LedMixer(RemoteFollower):
    """Mixer b, as mixer a sees it."""

    def talk(
        self, purpose: str, whose: str, key: str, bound: Bound | None = None
    ) -> AbstractContextManager[Sequence[Channel]]:
        """The channels to mixer b, for now and ahead."""
        return conversation(self.peer, self.stub.Talk, (NOW, AHEAD), purpose, whose, key, bound=bound)


def train_with(led: LedMixer, store: Store, number: int) -> None:
    """One training of the sealed set on disk. First mixer b writes down its share of the model, then mixer a."""
    with led.talk(TRAINING, str(number), secrets.token_hex(16)) as (now, ahead):
        trained = store.train(number, (now, ahead))
        now.receive(MODEL_KEPT, 0)
    store.keep(number, trained)


class LeadingService(MixerService):
    """Answers hospitals at mixer a, which leads the rounds."""

    def __init__(self, reception: Reception, led: LedMixer, leader: Leader, wake: threading.Event) -> None:
        super().__init__(reception)
        self._led = led
        self._leader = leader
        self._wake = wake

    def OpenRound(self, request: RoundNumber, context: Context) -> RoundReport:
        hospital = caller_of(context)
        self._leader.open(request.round, self.reception.store.federation.title(hospital))
        return self.reception.report(hospital)

    def CloseRound(self, request: RoundNumber, context: Context) -> RoundReport:
        hospital = caller_of(context)
        self._leader.close(request.round, self.reception.store.federation.title(hospital))
        return self.reception.report(hospital)

    def contributed(self) -> None:
        self._wake.set()

    def waiting(self) -> str:
        return self._leader.waiting

    def work(self, hospital: str, key: str) -> Work:
        def answer(asker: Mapping[str, Channel]) -> None:
            with self._led.talk(ASKING, hospital, key) as other:
                self.converse(hospital, asker, other)

        return answer


def lead(leader: Leader, wake: threading.Event, stopped: threading.Event) -> None:
    """Step by step, until the node stops. If mixer b refuses this node, it waits longer and longer."""
    pauses = Pauses(TICK)
    while not stopped.is_set():
        if not leader.step():
            wake.wait(pauses.after(leader.hindrance))
            wake.clear()


def keep_supplied(supply: Supply, led: LedMixer, log: Log) -> None:
    """Hold the conversation about the supply of transfers, and begin it anew when it breaks, until the node stops."""
    pauses, repeated = Pauses(_ANEW), Repeated()
    while supply.wanted:
        error: Exception | None = None
        try:
            _supplied(supply, led)
        except Exception as failure:  # noqa: BLE001 - without a supply conversations make their own transfers
            error = failure
            if supply.wanted:
                repeated.say(str(error), log.info, "no transfers are made ahead", **error_fields(error))
        supply.pause(pauses.after(error))


def _supplied(supply: Supply, led: LedMixer) -> None:
    key = secrets.token_hex(16)
    with led.talk(SUPPLYING, "b", key, Bound(supply.end)) as channels:
        standing.lead(supply, channels, key)
