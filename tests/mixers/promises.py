"""What must hold at both mixers at every moment, whatever has happened to them."""

from __future__ import annotations

import numpy as np

from mixbayes.mixers.training import checked, joint_share
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.verdicts import MOST_OPENINGS
from mixbayes.transport.contribution import Contribution
from tests.mixers.nodes import MixerNode
from tests.mixers.three_hospitals import MIXERS
from tests.mixers.world import OnDisk, World

_ORDER: dict[str, int] = {COLLECTING: 0, SEALED: 1, TRAINED: 2, SERVING: 3, CLOSED: 4, FAILED: 4}
Told = tuple[str, int, list[int]]
"""Who was told an answer, of which round, and the labels."""


class Promises:
    """Remembers what it has seen, so that it also sees what changes and must not."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._before: dict[tuple[str, int], OnDisk] = {}
        self._opened: set[tuple[int, frozenset[bytes]]] = set()
        self._compared: set[bytes] = set()
        self.told: dict[bytes, Told] = {}

    def check(self) -> None:
        """All of them, now."""
        assert '"at":' not in self._world.said.getvalue(), "a mistake of this program"
        on_disk = {mixer: self._world.on_disk(mixer) for mixer in MIXERS}
        for mixer, found in on_disk.items():
            for number, now in found.items():
                self._nothing_is_taken_back(mixer, number, now)
                self._budget_holds(now)
        for number in on_disk["a"].keys() & on_disk["b"].keys():
            at_a, at_b = on_disk["a"][number], on_disk["b"][number]
            self._same_set(at_a, at_b)
            self._same_run(at_a, at_b)
            self._nobody_counts_twice(number, at_a, at_b)
            self._same_model(number, at_a, at_b)
            self._charged_at_both(number, at_a, at_b)
        for number in on_disk["a"].keys() ^ on_disk["b"].keys():
            (only,) = (found[number] for found in on_disk.values() if number in found)
            assert only.state in (COLLECTING, FAILED, CLOSED), "a mixer computed alone"

    def answered(self, id: bytes, hospital: str, number: int, labels: Labels) -> None:
        """A hospital was told labels: the same as ever before under this id."""
        told = hospital, number, labels.tolist()
        assert self.told.setdefault(id, told) == told
        for mixer in MIXERS:
            asked = self._world.on_disk(mixer)[number].questions
            assert asked[id] == (hospital, labels.size), "an answer that nobody paid for"

    def _nothing_is_taken_back(self, mixer: str, number: int, now: OnDisk) -> None:
        before = self._before.get((mixer, number))
        self._before[mixer, number] = now
        if before is None:
            return
        again = (before.state, now.state) == (TRAINED, SEALED)
        assert again or _ORDER[now.state] >= _ORDER[before.state], f"from {before.state} back to {now.state}"
        assert not (before.state in (CLOSED, FAILED) and now.state != before.state)
        for name, (id, digest, _) in before.held.items():
            assert now.held[name][:2] == (id, digest), "a contribution was replaced"
        if before.state != COLLECTING:
            assert now.sealed_set == before.sealed_set, "a sealed set changed"
            assert now.held.keys() == before.held.keys(), "somebody contributed to a sealed round"
        for name, (openings, holds) in before.verdicts.items():
            assert openings <= now.verdicts[name][0] <= MOST_OPENINGS, "a verdict was opened too often"
            assert holds in (None, now.verdicts[name][1]), "another verdict on the same contribution"
        if before.state == SERVING:
            assert now.run == before.run, "a model that answers was replaced"
        assert before.questions.items() <= now.questions.items(), "a question was forgotten"
        assert before.noise.keys() <= now.noise.keys(), "noise was forgotten"
        kept = {chosen: seed for chosen, seed in now.noise.items() if seed}
        assert kept.items() <= before.noise.items() or not before.noise, "noise of one set was drawn twice"
        assert not kept or now.state in (SEALED, TRAINED), "a seed that nobody needs"
        assert len(now.noise) <= 1, "noise of two sets of one round"
        assert all(now.spent[name] >= rows for name, rows in before.spent.items()), "a budget was given back"

    def _budget_holds(self, now: OnDisk) -> None:
        asked: dict[str, int] = {}
        for hospital, rows in now.questions.values():
            asked[hospital] = asked.get(hospital, 0) + rows
        assert asked == now.spent, "what was asked is not what was charged"
        assert all(rows <= self._world.federation.policy.budget for rows in asked.values())

    def _same_set(self, at_a: OnDisk, at_b: OnDisk) -> None:
        if {at_a.state, at_b.state} & {TRAINED, SERVING} or (at_a.run and at_b.run):
            assert at_a.sealed_set == at_b.sealed_set, "the mixers computed on different sets"
            assert len(at_a.sealed_set) >= self._world.federation.policy.minimum

    def _same_run(self, at_a: OnDisk, at_b: OnDisk) -> None:
        if SERVING in (at_a.state, at_b.state):
            assert at_a.run is not None
            assert at_a.run == at_b.run, "one serves a model that the other has not"
        if at_a.state == SERVING:
            assert at_b.state in (SERVING, CLOSED, FAILED)

    def _nobody_counts_twice(self, number: int, at_a: OnDisk, at_b: OnDisk) -> None:
        """The joint counts, opened as only a test can: every patient has a cell of its own, so all are 0 or 1."""
        both_sealed = {at_a.state, at_b.state} <= {SEALED, TRAINED}  # who serves has deleted them
        key = number, frozenset(at_a.sealed_set.values())
        nodes = [self._world.nodes.get(mixer) for mixer in MIXERS]
        if not both_sealed or at_a.sealed_set != at_b.sealed_set or key in self._opened or None in nodes:
            return
        shares = [
            joint_share(node.store.layout, contributions_of(node, number))
            for node in nodes
            if isinstance(node, MixerNode)
        ]
        counts = shares[0] + shares[1]
        assert np.isin(self._world.layout.block(counts, 0), (0, 1)).all(), "counted twice, or noise"
        assert counts.tolist() == self._world.pooled(frozenset(at_a.sealed_set)).tolist()
        self._opened.add(key)

    def _same_model(self, number: int, at_a: OnDisk, at_b: OnDisk) -> None:
        """Both shares of a model together are the pooled one."""
        nodes = [self._world.nodes.get(mixer) for mixer in MIXERS]
        there = {at_a.state, at_b.state} <= {TRAINED, SERVING} and None not in nodes
        if not there or not at_a.run or at_a.run != at_b.run or at_a.run in self._compared:
            return
        a, b = (node.store.model(number)[1] for node in nodes if isinstance(node, MixerNode))
        noisy = self._world.noisy(number, at_a.counted)
        whole = fixed_model(self._world.layout, noisy)
        assert at_a.counted == at_b.counted
        assert summed(a, b) == summed(whole, None)
        if self._world.layout.terms.coins:
            # Drawn as often as it may be, the noise of a set is the same.
            kept = [counts_of(node, number) for node in nodes if isinstance(node, MixerNode)]
            assert (kept[0] + kept[1]).tolist() == noisy.tolist()
        self._compared.add(at_a.run)

    def _charged_at_both(self, number: int, at_a: OnDisk, at_b: OnDisk) -> None:
        for id, (hospital, asked_in, labels) in self.told.items():
            if asked_in == number:
                assert at_a.questions[id] == at_b.questions[id] == (hospital, len(labels))


def counts_of(node: MixerNode, number: int) -> Words:
    """This mixer's share of N~."""
    return np.frombuffer(node.rounds.counts(number), "<u8")


def contributions_of(node: MixerNode, number: int) -> list[Contribution]:
    """Those of the sealed set, before the round serves."""
    store = node.store
    with node.rounds.datastore.read() as tables:
        opened = tables.messages(number)
    digest = store.federation.digest()
    return [checked(store.role, store.layout, digest, name, name, message) for name, message in opened.items()]


def summed(a: Model, b: Model | None) -> list[list[int]]:
    """Every word of both shares together."""
    mask = np.uint64(2**a.width - 1)
    parts = [a.prior, *a.tables]
    others = [b.prior, *b.tables] if b else [np.zeros_like(part) for part in parts]
    return [((part + other) & mask).reshape(-1).tolist() for part, other in zip(parts, others, strict=True)]
