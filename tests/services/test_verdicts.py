"""A mixer that asks for verdicts: it shifts its share of a count, hears whether a count is below zero, and hangs up."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.mixers.leading import LedMixer
from mixbayes.mixers.training import checked, share_of, train_round
from mixbayes.node.disk.datastore import last_round_in
from mixbayes.node.rounds.state import FAILED
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import validity
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.contribution import Contribution
from mixbayes.transport.conversation import TRAINING
from mixbayes.transport.errors import RoundFailed
from tests.services.helpers import HOSPITALS, Site, make_site, wait_until

VICTIM = "south"
MOST_BITS = 3
REFUSED = "only 0 of the 2 contributions that are needed hold"


class HungUp(MixbayesError):
    """The liar has what it wanted."""


class LyingLeader:
    """Mixer a, which trains with the real mixer b as often as it gets an answer."""

    def __init__(self, site: Site, led: LedMixer, patch: pytest.MonkeyPatch) -> None:
        self.site, self.led, self.layout = site, led, site.federation.layout
        self.heard: list[bool] = []
        self.held: list[Contribution] = []
        patch.setattr(validity, "_equal", self._listening(validity._equal))

    def receive(self, hospital: str) -> None:
        """A hospital contributes to both mixers, and only one of them is what it seems."""
        made, title = self.site.message(hospital), self.site.federation.title(hospital)
        self.held.append(checked(A, self.layout, self.site.federation.digest(), hospital, title, made.to_a))
        self.site.hand_in(hospital, "b", made.to_b)

    def is_at_least(self, count: Callable[[Words], Words], other: Callable[[Words], Words], least: int) -> bool | None:
        """Whether one of the victim's counts is so large: nothing if mixer b does not open it any more."""
        before = len(self.heard)
        held = [self._shifted(one, count, other, least) if one.hospital == VICTIM else one for one in self.held]
        random = Randomness.from_system()
        with suppress(MixbayesError), self.led.talk(TRAINING, "1", secrets.token_hex(16)) as (now, ahead):
            try:
                train_round(A, (now, ahead), self.layout, 1, held, 2, random, lambda counted: Draw(bytes(32)))
            except RoundFailed:
                wait_until(lambda: self.site.journals["b"].says('"event": "failed"'), "b gives the round up")
        return self.heard[-1] if len(self.heard) > before else None

    def _shifted(
        self, one: Contribution, count: Callable[[Words], Words], other: Callable[[Words], Words], by: int
    ) -> Contribution:
        """Takes from one count and gives to another of the same class, so that sums stay what they were."""
        lie = share_of(self.layout, one).copy()
        count(lie)[...] -= np.uint64(by)
        other(lie)[...] += np.uint64(by)
        return replace(one, share=lie)

    def _listening(self, plain: Callable[..., list[bool]]) -> Callable[..., list[bool]]:
        def equal(me: ComputingParty, digests: Sequence[bytes], *more: Any) -> list[bool]:
            found = plain(me, digests, *more)
            if me.role == A and found:
                self.heard.append(found[sorted(HOSPITALS).index(VICTIM)])
                raise HungUp
            return found

        return equal


def cell(layout: Layout, value: int) -> Callable[[Words], Words]:
    """How many of the first class have this value of the second attribute."""
    return lambda vector: layout.block(vector, 1)[value, :1]


def test_a_mixer_that_hangs_up_after_each_verdict_hears_no_fourth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it finds an exact count of a hospital by bisection, in trainings that never serve and are never charged."""
    site = make_site(tmp_path / "site", policy={"ahead": 0})
    layout = site.federation.layout
    rows = site.tables[VICTIM].rows
    with site.mixer("b"), site.dialled("a", "b") as peer:
        liar = LyingLeader(site, LedMixer(peer), monkeypatch)
        for hospital in HOSPITALS:
            liar.receive(hospital)
        liar.led.seal(1, {one.hospital: one.id for one in liar.held})
        least, most, bits = 0, rows, 0
        while least < most:
            middle = (least + most + 1) // 2
            found = liar.is_at_least(cell(layout, 2), cell(layout, 0), middle)
            if found is None:
                break
            bits += 1
            least, most = (middle, most) if found else (least, middle - 1)
        truth = int(cell(layout, 2)(site.settings(VICTIM).vector)[0])
        assert least <= truth <= most
        assert bits == MOST_BITS, f"the count is {least}, and is {truth}"
        assert most - least >= rows // 2**MOST_BITS - 1, "it is found"
    state, reason = last_round_in(site.state("b")).state, last_round_in(site.state("b")).reason
    assert (state, REFUSED in reason) == (FAILED, True)
