"""What both mixers answer hospitals: contributions, reports, and conversations with questions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

import grpc

from mixbayes.mixers.answering import converse
from mixbayes.mixers.store import Store
from mixbayes.mixers.training import longest
from mixbayes.node.counts import released
from mixbayes.node.rounds.status import Status, encode
from mixbayes.node.serving.admission import caller_of
from mixbayes.node.serving.conversations import Channels, Conversations, Work, about, opened
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import WrongLength
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.contribution import STEP as CONTRIBUTION
from mixbayes.transport.conversation import NOW
from mixbayes.transport.peer import CHANNEL, CONVERSATION, chunks, joined
from mixbayes.transport.streams import StreamWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk, Receipt, ReportRequest, RoundNumber, RoundReport
from mixbayes.wire.v1.node_pb2_grpc import MixerServicer

Context = grpc.ServicerContext


class Reception:
    """The store, the conversations and the deadlines, which both services of a mixer share."""

    def __init__(self, store: Store, conversations: Conversations, watch: Watch) -> None:
        self.store = store
        self.conversations = conversations
        self.watch = watch

    @property
    def deadline(self) -> float:
        return self.store.federation.policy.timeout

    def title(self, context: Context) -> str:
        return self.store.federation.title(caller_of(context))

    def status(self, hospital: str, waiting: str = "") -> Status:
        """The status of the current round, for one hospital. `waiting` says what the round waits for."""
        return replace(self.store.rounds.status(hospital, waiting), trails=self.store.witnessing.findings())

    def report(self, hospital: str, waiting: str = "") -> RoundReport:
        """The same as a message."""
        return encode(self.status(hospital, waiting), self.store.rounds.clock())

    def stream(self, incoming: Iterator[Chunk], context: Context) -> StreamWire:
        """The wire over a stream that another node has opened here."""
        return opened(incoming, context, self.title(context), self.deadline, self.watch)

    def about(self, context: Context, key: str) -> str:
        """One of the metadata that say what a stream is for."""
        return about(context, self.title(context), key)


class MixerService(MixerServicer, ABC):
    """Answers hospitals. The subclasses say what differs between the two mixers."""

    def __init__(self, reception: Reception) -> None:
        self.reception = reception

    def Contribute(self, request_iterator: Iterator[Chunk], context: Context) -> Receipt:
        store = self.reception.store
        message = joined(request_iterator, longest(store.role, store.layout, store.federation.names))
        if message is None:
            raise WrongLength(self.reception.title(context), CONTRIBUTION, "it is longer than the dictionary makes it")
        contribution = store.receive(caller_of(context), message)
        self.contributed()
        return Receipt(round=contribution.round, id=contribution.id)

    def Report(self, request: ReportRequest, context: Context) -> RoundReport:
        report = self.reception.report(caller_of(context), self.waiting())
        return self.reception.store.witnessing.answering(self.reception.title(context), request, report)

    def Counts(self, request: RoundNumber, context: Context) -> Iterator[Chunk]:
        store, hospital = self.reception.store, caller_of(context)
        yield from chunks(released(store.rounds, request.round, store.federation.title(hospital)))

    def Ask(self, request_iterator: Iterator[Chunk], context: Context) -> Iterator[Chunk]:
        hospital, key = caller_of(context), self.reception.about(context, CONVERSATION)
        wire = self.reception.stream(request_iterator, context)
        needed, work = self.needed(hospital), self.work(hospital, key)
        self.reception.conversations.join(hospital, key, self.reception.about(context, CHANNEL), wire, needed, work)
        yield from wire.leaving()

    def contributed(self) -> None:
        """Called after a contribution has arrived."""

    def waiting(self) -> str:
        """What the round waits for, as far as this mixer knows."""
        return ""

    def needed(self, hospital: str) -> dict[str, str]:
        """The channels that others open here for a conversation, and the title of the node that opens each."""
        title = self.reception.store.federation.title(hospital)
        return {NOW: title}

    @abstractmethod
    def work(self, hospital: str, key: str) -> Work:
        """The work that begins once all channels are open."""

    def converse(self, hospital: str, asker: Channels, other: Sequence[Channel]) -> None:
        """Answer one hospital's questions until it has no more."""
        store = self.reception.store
        page, personal, joint_test = store.page(hospital), store.personal(hospital), store.joint_test(hospital)
        random, supply, counted = Randomness.from_system(), store.supply, store.tallies.answering
        converse(store.role, other, asker[NOW], store.layout, page, personal, joint_test, random, supply, counted)
