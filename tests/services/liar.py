"""A hospital of two that lies: it has the keys, the disk and the protocol, and says what it likes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from mixbayes.node import questions
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY as SCHEMA
from mixbayes.node.questions import Kind, Question
from mixbayes.node.rounds.remote import RemoteFollower
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.parties.alone.store import PartnerStore
from mixbayes.parties.alone.talk import ASKING_CHANNELS, TRAINING_CHANNELS, Asker, train_round
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import Reuse
from mixbayes.transport.conversation import ASKING, TRAINING, conversation
from mixbayes.transport.peer import Peer
from tests.services.couple import NORTH, SOUTH, Couple
from tests.services.helpers import wait_until


class HungUp(Exception):
    """It breaks off."""


class Liar:
    """South, as far as it goes: it has the keys, the disk and the protocol, and says what it likes."""

    def __init__(self, couple: Couple, peer: Peer, store: PartnerStore) -> None:
        self.couple = couple
        self.store = store
        self.north = RemoteFollower(peer)
        self.peer = peer

    def seal(self, held: dict[str, bytes] | None = None, number: int = 1) -> bool:
        told = {SOUTH: self.id} if held is None else held
        return self.north.seal(number, told).sealed

    @property
    def id(self) -> bytes:
        self.store.contribute()
        return self.store.rounds.contributions(1)[SOUTH].id

    def sealed(self) -> None:
        """Both have sealed round 1."""
        north = self.north.seal(1, {SOUTH: self.id}).chosen[NORTH]
        self.store.meet(1, {NORTH: north})
        chosen = {NORTH: north, SOUTH: self.id}
        assert self.seal(chosen)
        self.store.rounds.seal(1, chosen)

    def served(self) -> None:
        self.sealed()
        with self.talk(TRAINING, "1") as channels:
            train_round(self.store, 1, channels)
        run = self.store.rounds.current().run or b""
        wait_until(lambda: self.north.confirm(1, run), "north has the model")
        self.store.rounds.serve(1, run)

    def talk(self, purpose: str, whose: str) -> AbstractContextManager[Sequence[Channel]]:
        names = TRAINING_CHANNELS if purpose == TRAINING else ASKING_CHANNELS
        return conversation(self.peer, self.north.stub.Talk, names, purpose, whose, secrets.token_hex(16))

    @contextmanager
    def asking(self) -> Iterator[tuple[Asker, Channel]]:
        with suppress(HungUp), self.talk(ASKING, SOUTH) as channels:
            asker = Asker(self.store, channels)
            yield asker, channels[2]
            if asker.over:
                raise HungUp
            with suppress(Reuse):
                questions.send(channels[2], Question(Kind.END))

    @property
    def left(self) -> int:
        return self.north.report().budget_left


@contextmanager
def lying(couple: Couple) -> Iterator[Liar]:
    """Beside the honest node of north."""
    site, settings = couple.site, couple.settings(SOUTH)
    seal = site.identity(SOUTH).seal
    with (
        couple.node(NORTH),
        Database.open(site.state(SOUTH), SCHEMA, seal, "party south of tumours") as database,
    ):
        store = PartnerStore(Rounds(database, site.federation, "party south", time.time), SOUTH, settings.vector)
        with site.dialled(SOUTH, NORTH) as peer:
            yield Liar(couple, peer, store)
