"""The same lies among real nodes: two mixers with gRPC, TLS and their disks, and hospitals that dial them.

All nodes run in this process, so that a lie can be slipped in where a mixer or a hospital has its channels in hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from itertools import count
from typing import Any
from unittest.mock import patch

import numpy as np

from lying.fate import Played
from lying.in_memory import put_together
from lying.liar import LyingChannel, Tongue
from lying.scene import Scene, seed
from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.mixers import answering, service, store, training
from mixbayes.mixers.node import Settings
from mixbayes.mixers.node import running as mixer
from mixbayes.mixers.supply import NO_SUPPLY
from mixbayes.mixers.training import Trained
from mixbayes.node.identity import Identity
from mixbayes.node.log import Log, logger
from mixbayes.node.questions import ID_BYTES
from mixbayes.node.rounds import leader
from mixbayes.node.rounds.state import COLLECTING, FAILED, SERVING
from mixbayes.node.serving import server
from mixbayes.parties.with_mixers import asking
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.label import joined
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.contribution import STEP as CONTRIBUTION
from mixbayes.transport.contribution import Contribution, encode
from mixbayes.transport.errors import RoundFailed
from mixbayes.transport.watch import Watch

MIXERS = "mixer a", "mixer b"
PATIENCE = 5.0
"""Seconds for which a node waits for another one."""
_LATEST = 60.0
_ROUNDS = 100_000


@dataclass
class Nodes:
    """Both mixers at work, and what came of the conversation in which somebody may lie."""

    scene: Scene
    at: Stage
    liar: str = ""
    tongue: Tongue = field(default_factory=Tongue)
    errors: dict[str, BaseException] = field(default_factory=dict)
    trained: dict[str, Trained] = field(default_factory=dict)
    """By mixer, its part of the last training."""
    working: int = 0
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def federation(self) -> Federation:
        return self.at.federation

    @property
    def hospital(self) -> str:
        """The one that asks, and that may lie."""
        return self.federation.names[0]

    def ask(self, liar: str, tongue: Tongue, *, private: bool, repeats: int = 0) -> Played:
        """One question, in a conversation of its own."""
        self._begin(liar, tongue)
        with self._dialled() as mixers:
            asks = Asking(mixers, self.scene.layout, self._numbered, repeats=repeats)
            try:
                found = list(asks.labels(mixers.last_round(), self.scene.rows, private=private))
            except MixbayesError as error:
                self.errors[f"party {self.hospital}"] = error
                found = []
            finally:
                asks.close()
        _wait_until(lambda: not self.working)
        return Played(dict(self.errors), joined(found).tolist())

    def train(self, liar: str, tongue: Tongue) -> Played:
        """One round, from contributions to a model."""
        self._begin(liar, tongue)
        with self._dialled() as mixers:
            self._contribute(_collecting(mixers))
            _wait_until(lambda: not self.working and mixers.status().state in (SERVING, FAILED))
            ended = mixers.status()
        if ended.state == FAILED:
            self.errors.setdefault("the round", RoundFailed(ended.reason))
        if self.errors:
            return Played(dict(self.errors))
        refused = {name for found in self.trained.values() for name in found.refused}
        model = put_together(*(self.trained[name].model for name in MIXERS))
        return Played(answers=self.scene.labels_by(model), refused=sorted(refused))

    def heard(self, role: str, channels: Sequence[Channel]) -> tuple[Channel, ...]:
        """The role's channels; if it is the liar, over its tongue."""
        return tuple(LyingChannel(one, self.tongue) if role == self.liar else one for one in channels)

    @contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """A mixer is in a conversation. Its first error is taken down."""
        self.working += 1
        try:
            yield
        except Exception as error:
            self.errors.setdefault(name, error)
            raise
        finally:
            self.working -= 1

    def _begin(self, liar: str, tongue: Tongue) -> None:
        self.liar, self.tongue = liar, tongue
        self.errors.clear()
        self.trained.clear()

    def _contribute(self, number: int) -> None:
        """Every hospital sends both mixers its counts."""
        digest = bytes.fromhex(self.federation.digest())
        for place, (name, vector) in enumerate(self.scene.vectors.items()):
            share, id = split(vector, seed(50 + place)), number.to_bytes(ID_BYTES - 1, "little") + bytes([place])
            with self._dialled(name) as mixers:
                for to, part in zip("ab", (share.seed, share.masked), strict=True):
                    told = Contribution(digest, number, name, id, self._told(name, to, part))
                    mixers.contribute(to, encode(told))

    def _told(self, name: str, to: str, part: bytes | Words) -> bytes | Words:
        """What a hospital says is its share."""
        if self.liar != f"party {name}":
            return part
        if isinstance(part, bytes):
            return self.tongue.says(f"mixer {to}", CONTRIBUTION, part)
        return np.frombuffer(self.tongue.says(f"mixer {to}", CONTRIBUTION, part.view(np.uint8)), np.uint64)

    def _numbered(self, *about: object) -> bytes:
        """Every question has a new id, and the same one in every run."""
        return next(self._numbers).to_bytes(ID_BYTES, "little")

    @contextmanager
    def _dialled(self, name: str = "") -> Iterator[BothMixers]:
        name = name or self.hospital
        with both_mixers(self.federation, Identity(self.at.keys(name), name, _log()), Watch()) as mixers:
            yield mixers


@contextmanager
def nodes(scene: Scene) -> Iterator[Nodes]:
    """Two mixers that have trained on the contributions of all hospitals."""
    with ExitStack() as held:
        plain = held.enter_context(
            stage(list(scene.vectors), scene.dictionary, "shares", two_party=False, timeout=PATIENCE)
        )
        content = plain.federation.model_dump(mode="json")
        content["policy"] |= {"rounds": _ROUNDS, "minimum": 2}
        at = replace(plain, federation=federation_from(content))
        found = Nodes(scene, at)
        _slip_in(held, found)
        for name in ("b", "a"):
            held.enter_context(mixer(Settings(at.federation, name, at.keys(name), at.state(name)), _log()))
        found.train("", Tongue())
        yield found


def _slip_in(patches: ExitStack, found: Nodes) -> None:
    """From now on the liar's channels are those over which it lies, and nobody tries anything twice.

    All draw from seeds, so that a run can be repeated, and make their transfers in the conversation, without a supply.
    """
    converse, train_round, conversation = answering.converse, training.train_round, BothMixers.conversation

    def at_mixer(role: int, other: Sequence[Channel], asker: Channel, *more: Any) -> None:
        name, (layout, ledger, personal, joint_test, *_) = MIXERS[role], more
        about, (hospital,) = (layout, ledger, personal, joint_test), found.heard(name, [asker])
        with found.at_work(name):
            converse(role, found.heard(name, other), hospital, *about, Randomness(seed(61 + role)))

    def in_training(role: int, other: Sequence[Channel], *more: Any) -> Trained:
        layout, number, held, minimum, _, charge, bins, _, book = more
        name, random = MIXERS[role], Randomness(seed(71 + role))
        now, ahead = found.heard(name, other)
        with found.at_work(name):
            found.trained[name] = train_round(
                role, (now, ahead), layout, number, held, minimum, random, charge, bins, NO_SUPPLY, book
            )
        return found.trained[name]

    @contextmanager
    def at_hospital(mixers: BothMixers) -> Iterator[tuple[Channel, ...]]:
        with conversation(mixers) as both:
            yield found.heard(f"party {found.hospital}", both)

    for where, name, instead in (
        (service, "converse", at_mixer),
        (store, "train_round", in_training),
        (BothMixers, "conversation", at_hospital),
        (asking, "ATTEMPTS", 1),
        (leader, "ATTEMPTS", 1),
        (server, "_GRACE", 0.2),
    ):
        patches.enter_context(patch.object(where, name, instead))


def _collecting(mixers: BothMixers) -> int:
    """The number of a round that collects contributions, opened if need be."""
    now = mixers.status()
    if now.state == COLLECTING:
        return now.round
    if now.state == SERVING:
        mixers.close_round(now.round)
    mixers.open_round(now.round + 1)
    return now.round + 1


def _log() -> Log:
    return logger("liars", StringIO())


def _wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + _LATEST
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError("a node is still at work")
        time.sleep(0.005)
