"""Mixers and hospitals in memory: the real ones but for gRPC."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from mixbayes.mixers.leading import LeadingService, LedMixer, train_with
from mixbayes.mixers.led import LedService, PairService
from mixbayes.mixers.service import Reception
from mixbayes.mixers.store import Store
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY, HOSPITAL
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.rounds.follower import Follower
from mixbayes.node.rounds.leader import Leader
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.serving.conversations import Conversations
from mixbayes.node.unwitnessed import Unwitnessed
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.parties.with_mixers.contributing import Contributor, Outbox
from mixbayes.transport.conversation import Bound
from mixbayes.transport.peer import Peer
from mixbayes.transport.watch import Watch
from tests.mixers.misfortune import Fuse
from tests.mixers.three_hospitals import MIXERS
from tests.mixers.wires import Stubs

if TYPE_CHECKING:
    from tests.mixers.world import World


class Line:
    """One node, as another dials it."""

    def __init__(self, world: World, caller: str, name: str) -> None:
        self.title = world.federation.title(name)
        self.channel = Stubs()
        self.call = partial(world.call, caller, name)


class LedInMemory(LedMixer):
    """Mixer b as mixer a sees it, over streams in memory."""

    def __init__(self, world: World, witnessing: Unwitnessed) -> None:
        super().__init__(cast("Peer", Line(world, "a", "b")), witnessing)
        self._world = world

    def talk(self, purpose: str, whose: str, key: str, bound: Bound | None = None) -> Any:
        return self._world.talk(purpose, whose, key)


class MixersInMemory(BothMixers):
    """Both mixers as a hospital sees them."""

    def __init__(self, world: World, hospital: str, witnessing: Unwitnessed) -> None:
        super().__init__({name: cast("Peer", Line(world, hospital, name)) for name in MIXERS}, witnessing)
        self._world = world
        self._hospital = hospital

    def conversation(self) -> Any:
        return self._world.conversation(self._hospital)

    def at_once(self, call: Callable[[str], Any]) -> list[Any]:
        """One after the other, so that a test knows which call meets which fate."""
        return [call(name) for name in MIXERS]


class MixerNode:
    """A mixer's process."""

    def __init__(self, world: World, name: str, fuse: Fuse) -> None:
        federation, title = world.federation, world.federation.title(name)
        self.held = ExitStack()
        self.database = Database.open(world.folder / name, COMPUTING_PARTY, Seal(world.key(name)), title, fuse)
        self.held.callback(self.database.close)
        try:
            self.rounds = Rounds(self.database, federation, title, partial(world.time, name))
        except BaseException:
            self.held.close()
            raise
        self.rounds.charge_noise = world.noted(name, self.rounds)  # type: ignore[method-assign]
        clock, sealed = partial(world.time, name), self.rounds.last_sealed
        self.witnessing = world.witnessing(name, self.database, title, clock, sealed)
        self.store = Store(self.rounds, name, self.witnessing)
        reception = Reception(self.store, cast("Conversations", None), cast("Watch", None))
        self.services: dict[str, object] = {}
        if name == "a":
            led = LedInMemory(world, self.witnessing)
            self.leader = Leader(self.rounds, led, partial(train_with, led, self.store), world.log)
            self.leading = LeadingService(reception, led, self.leader, threading.Event())
            self.services = {"Mixer": self.leading}
        else:
            self.led = LedService(reception)
            self.pair = PairService(reception, Follower(self.rounds), self.led)
            self.services = {"Mixer": self.led, "Pair": self.pair}


class HospitalNode:
    """A hospital's process."""

    def __init__(self, world: World, name: str, fuse: Fuse) -> None:
        title = world.federation.title(name)
        self.services: dict[str, object] = {}
        self.held = ExitStack()
        self.database = Database.open(world.folder / name, HOSPITAL, Seal(world.key(name)), title, fuse)
        self.held.callback(self.database.close)
        self.outbox = Outbox(
            self.database,
            title,
            world.federation.digest(),
            partial(world.time, name),
            world.federation.policy.rounds,
            world.federation.privacy,
            world.federation.release,
            world.federation.test_release,
        )
        clock, sealed = partial(world.time, name), self.outbox.last_sealed
        self.witnessing = world.witnessing(name, self.database, title, clock, sealed)
        self.mixers = MixersInMemory(world, name, self.witnessing)
        self.contributor = Contributor(name, self.mixers, self.outbox, partial(world.made, name), world.log)


Node = MixerNode | HospitalNode
