"""The same lies among real nodes: two mixers with gRPC, TLS and their disks, and a hospital that asks them.

All nodes run in this process, so that a lie can be slipped in where a mixer or a hospital has its channels in hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any
from unittest.mock import patch

from lying.fate import Played
from lying.liar import LyingChannel, Tongue
from lying.scene import Scene
from mixbayes.mixers import answering, service
from mixbayes.mixers.node import Settings
from mixbayes.mixers.node import running as mixer
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log, logger
from mixbayes.node.rounds.state import FAILED, SERVING
from mixbayes.node.serving import server
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers import asking
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.parties.with_mixers.contributing import messages
from mixbayes.protocol.bayes.label import joined
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.watch import Watch

MIXERS = "mixer a", "mixer b"
PATIENCE = 5.0
"""Seconds for which a node waits for another one."""
_LATEST = 60.0


@dataclass
class Nodes:
    """Both mixers at work, and what came of their conversations."""

    scene: Scene
    at: Stage
    asker: str
    tongue: Tongue
    liar: str
    errors: dict[str, BaseException]
    working: int = 0

    def play(self, liar: str, tongue: Tongue, *, private: bool, repeats: int = 0) -> Played:
        """One question in a conversation of its own."""
        self.liar, self.tongue = liar, tongue
        self.errors.clear()
        try:
            with both_mixers(self.at.federation, self._identity(), Watch()) as mixers:
                labels = self._asked(mixers, private, repeats)
        except MixbayesError as error:
            labels = []
            self.errors[f"party {self.asker}"] = error
        _wait_until(lambda: not self.working)
        return Played(dict(self.errors), labels)

    def contribute(self) -> None:
        """Every hospital sends both mixers its counts, and the mixers train."""
        federation = self.at.federation
        for name, vector in self.scene.vectors.items():
            made = messages(name, federation.digest(), 1, vector, Randomness.from_system())
            with both_mixers(federation, self._identity(name), Watch()) as mixers:
                mixers.contribute("a", made.to_a)
                mixers.contribute("b", made.to_b)
        with both_mixers(federation, self._identity(), Watch()) as mixers:
            _wait_until(lambda: mixers.status().state in (SERVING, FAILED))

    def _asked(self, mixers: BothMixers, private: bool, repeats: int) -> list[int]:
        asking = Asking(mixers, self.scene.layout, numbering(self._identity().seal), repeats)
        try:
            return joined(list(asking.labels(1, self.scene.rows, private=private))).tolist()
        finally:
            asking.close()

    def _identity(self, name: str = "") -> Identity:
        return Identity(self.at.keys(name or self.asker), name or self.asker, _log())

    def heard(self, role: str, channels: Sequence[Channel]) -> tuple[Channel, ...]:
        """The role's channels; if it is the liar, over its tongue."""
        return tuple(LyingChannel(one, self.tongue) if role == self.liar else one for one in channels)


@contextmanager
def nodes(scene: Scene) -> Iterator[Nodes]:
    """Two mixers that have trained on the contributions of all hospitals."""
    names = list(scene.vectors)
    with ExitStack() as held:
        held.enter_context(patch.object(server, "_GRACE", 0.2))
        at = held.enter_context(stage(names, scene.dictionary, "shares", two_party=False, timeout=PATIENCE))
        found = Nodes(scene, at, names[0], Tongue(), "", {})
        _slip_in(held, found)
        for name in ("b", "a"):
            held.enter_context(mixer(Settings(at.federation, name, at.keys(name), at.state(name)), _log()))
        found.contribute()
        yield found


def _slip_in(held: ExitStack, found: Nodes) -> None:
    """From now on the liar's channels are those over which it lies, and a mixer's errors are taken down."""
    converse, conversation = answering.converse, BothMixers.conversation

    def at_mixer(role: int, other: Sequence[Channel], asker: Sequence[Channel], *more: Any) -> None:
        name = MIXERS[role]
        found.working += 1
        try:
            converse(role, found.heard(name, other), found.heard(name, asker), *more)
        except Exception as error:
            found.errors[name] = error
            raise
        finally:
            found.working -= 1

    @contextmanager
    def at_hospital(mixers: BothMixers) -> Iterator[tuple[Sequence[Channel], Sequence[Channel]]]:
        name = f"party {found.asker}"
        with conversation(mixers) as (to_a, to_b):
            yield found.heard(name, to_a), found.heard(name, to_b)

    held.enter_context(patch.object(service, "converse", at_mixer))
    held.enter_context(patch.object(BothMixers, "conversation", at_hospital))
    held.enter_context(patch.object(asking, "ATTEMPTS", 1))  # else a broken question is asked again without the lie


def _log() -> Log:
    return logger("liars", StringIO())


def _wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + _LATEST
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError("a node is still at work")
        time.sleep(0.005)
