"""Jobs in memory, by the protocol's own functions, in which one role may lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import numpy as np
from nacl import bindings

from lying.fate import Played
from lying.liar import LyingChannel, Tongue
from lying.scene import HOSPITALS, Scene, seed
from mixbayes.mixers.training import Trained, train_round
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.evaluation import Totals, ask_totals, blinded, judge, send_totals, totals_in_clear
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.repeats import with_repeats
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer import base
from mixbayes.protocol.transfer.pool import connect_pair
from mixbayes.transport.contribution import STEP as CONTRIBUTION
from mixbayes.transport.contribution import Contribution

DEADLINE = 20.0
"""Seconds: never reached, because a role that fails ends the others."""
MIXERS = "mixer a", "mixer b"
ASKER = "party asker"
REPEATS = 8
"""Rows that are asked about twice, in a question with copies."""
CONTRIBUTOR = f"party {HOSPITALS[0]}"


@dataclass(frozen=True)
class Job:
    """What the roles do together, and what they answer if all are honest."""

    roles: tuple[str, ...]
    """In the order in which they are run together."""
    liars: tuple[str, ...]
    run: Callable[[Scene], list[int]]
    expected: Callable[[Scene], list[int]]


class _Failed(Exception):
    """Some role raised an error."""

    def __init__(self, errors: dict[str, BaseException]) -> None:
        super().__init__(errors)
        self.errors = errors


class _Refused(Exception):
    """The mixers did not take all contributions."""


def play(job: Job, scene: Scene, liar: str, tongue: Tongue) -> Played:
    """The job with a liar in it."""
    with _listened_to(job, liar, tongue):
        try:
            return Played(answers=job.run(scene))
        except _Failed as failed:
            return Played(errors=failed.errors)
        except _Refused as refused:
            return Played(refused=refused.args)


@contextmanager
def _listened_to(job: Job, liar: str, tongue: Tongue) -> Iterator[None]:
    """Within, `memory` connects the liar's channels to its tongue, and a role that fails ends all others."""
    plain, ends = memory.channels, []

    def channels(first: str, second: str, deadline: float = DEADLINE) -> tuple[Channel, Channel]:
        made = plain(first, second, DEADLINE)
        ends.extend(made)
        here, there = (
            LyingChannel(end, tongue) if owner == liar else end
            for owner, end in zip((first, second), made, strict=True)
        )
        return here, there

    def together(*roles: Callable[[], Any]) -> list[Any]:
        def ended(role: Callable[[], Any]) -> Any:
            try:
                return role()
            except BaseException:
                for end in ends:
                    end.close()
                raise

        with ThreadPoolExecutor(len(roles)) as pool:
            running = [pool.submit(ended, role) for role in roles]
        errors = {name: found for name, one in zip(job.roles, running, strict=True) if (found := one.exception())}
        if errors:
            raise _Failed(errors)
        return [one.result() for one in running]

    with (
        patch.object(memory, "channels", channels),
        patch.object(memory, "together", together),
        patch.object(base, "group", _GROUP),
    ):
        yield


class _RememberedGroup:
    """The operations of the group of base transfers, each computed once: all jobs draw from the same seeds."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(bindings, name)
        if callable(value):
            value = lru_cache(maxsize=1 << 14)(value)
            setattr(self, name, value)
        return value


_GROUP = _RememberedGroup()


def _classify(scene: Scene, *, private: bool) -> list[int]:
    seeds = seed(11), seed(12), seed(13)
    return run_classification(scene.layout, scene.shares, scene.rows, seeds, private=private).tolist()


def _classify_repeated(scene: Scene) -> list[int]:
    """Some rows are asked about twice."""
    rows = with_repeats(scene.rows, REPEATS, Randomness(seed(14)))
    seeds = seed(11), seed(12), seed(13)
    answers = run_classification(scene.layout, scene.shares, rows.codes, seeds)
    try:
        return rows.labels(answers, "mixer a or mixer b").tolist()
    except OutOfRange as error:
        raise _Failed({ASKER: error}) from None


def _labels(scene: Scene) -> list[int]:
    return scene.labels_by(scene.model)


def _evaluate(scene: Scene) -> list[int]:
    """The totals of one classifier on the rows."""
    to_b, to_a = memory.channels(*MIXERS)
    ahead_b, ahead_a = memory.channels(*MIXERS)
    asked_a, at_a = memory.channels(ASKER, MIXERS[A])
    asked_b, at_b = memory.channels(ASKER, MIXERS[B])

    def mixer(role: int, other: Channel, ahead: Channel, asker: Channel) -> None:
        random = Randomness(seed(21 + role))
        me = ComputingParty(role, other, connect_pair(role, ahead, random), random)
        pad = label.blinding_for(b"the only question", label.common_blinding(me))
        send_totals(asker, blinded(me, judge(me, asker, scene.sheet, [scene.shares[role]]), pad))

    def hospital() -> Totals:
        return ask_totals((asked_a, asked_b), scene.sheet, scene.rows, scene.groups, Randomness(seed(23)))

    totals, _, _ = memory.together(
        hospital,
        lambda: mixer(A, to_b, ahead_b, at_a),
        lambda: mixer(B, to_a, ahead_a, at_b),
    )
    return _numbers(totals)


def _totals(scene: Scene) -> list[int]:
    return _numbers(totals_in_clear(scene.sheet, [scene.model], scene.rows, scene.groups))


def _numbers(totals: Totals) -> list[int]:
    return np.concatenate([totals.answers.reshape(-1), totals.above.reshape(-1)]).tolist()


def _train(scene: Scene) -> list[int]:
    """Contributions are checked and become a model; the labels that it gives. The first hospital may lie in its own."""
    to_b, to_a = memory.channels(*MIXERS)
    ahead_b, ahead_a = memory.channels(*MIXERS)
    given_a, due_a = memory.channels(CONTRIBUTOR, MIXERS[A])
    given_b, due_b = memory.channels(CONTRIBUTOR, MIXERS[B])

    def mixer(role: int, other: Channel, ahead: Channel, due: Channel) -> Trained:
        held = contributions(scene, role)
        held[0] = replace(held[0], share=_received(due, held[0].share))
        random = Randomness(seed(31 + role))
        return train_round(role, (other, ahead), scene.layout, 1, held, 2, random, lambda counted: Draw(b""))

    def hospital() -> None:
        for role, channel in ((A, given_a), (B, given_b)):
            channel.send(CONTRIBUTION, np.frombuffer(contributions(scene, role)[0].share, np.uint8))

    _, *found = memory.together(
        hospital, lambda: mixer(A, to_b, ahead_b, due_a), lambda: mixer(B, to_a, ahead_a, due_b)
    )
    if refused := sorted({name for trained in found for name in trained.refused}):
        raise _Refused(*refused)
    return scene.labels_by(put_together(*(trained.model for trained in found)))


def _received(due: Channel, honest: bytes | Words) -> bytes | Words:
    """What the hospital says is its share."""
    if isinstance(honest, bytes):
        return due.receive(CONTRIBUTION, len(honest)).tobytes()
    return due.receive(CONTRIBUTION, honest.nbytes).view(np.uint64)


def contributions(scene: Scene, role: int) -> list[Contribution]:
    """What one mixer holds in a round."""
    return [
        Contribution(bytes(32), 1, name, bytes(15) + bytes([number]), (share.seed, share.masked)[role])
        for number, name in enumerate(HOSPITALS)
        for share in [split(scene.vectors[name], seed(40 + number))]
    ]


def put_together(of_a: Model | None, of_b: Model | None) -> Model:
    """The model of which these are shares."""
    assert of_a
    assert of_b
    low = mask(of_a.width)

    def whole(one: Words, other: Words) -> Words:
        return (one + other) & low

    tables = tuple(whole(*both) for both in zip(of_a.tables, of_b.tables, strict=True))
    return Model(of_a.width, whole(of_a.prior, of_b.prior), tables)


_EVERYBODY = (ASKER, *MIXERS)
_CONTRIBUTING = (CONTRIBUTOR, *MIXERS)
JOBS = {
    "private question": Job(_EVERYBODY, _EVERYBODY, lambda scene: _classify(scene, private=True), _labels),
    "private question with copies": Job(_EVERYBODY, _EVERYBODY, _classify_repeated, _labels),
    "public question": Job(_EVERYBODY, _EVERYBODY, lambda scene: _classify(scene, private=False), _labels),
    "evaluation": Job(_EVERYBODY, _EVERYBODY, _evaluate, _totals),
    "training": Job(_CONTRIBUTING, _CONTRIBUTING, _train, _labels),
}
