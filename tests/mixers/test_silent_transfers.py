"""Nodes on disks whose agreement has silent transfers, with mixers and without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.protocol.computing_party import A
from mixbayes.protocol.transfer import kinds
from mixbayes.protocol.transfer.silent import SUMS
from tests.docs import every_protocol
from tests.docs.overheard import overhearing
from tests.mixers.three_hospitals import HOSPITALS, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers
from tests.protocol.transfer.silent_pairs import SMALL_KIND


@pytest.fixture(autouse=True)
def small_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent transfers from the first one on, in iterations of small sizes."""
    monkeypatch.setitem(kinds.KINDS, "silent", replace(SMALL_KIND, extended=0))
    deal_base_transfers(monkeypatch)


def test_mixers_train_and_answer_as_in_the_clear() -> None:
    codes = np.array([[0, 1, 2, 3], [0, 1, 2, 0]], np.int32)
    with overhearing() as said, new_folder() as folder:
        world = World(Path(folder), agreement(transfers="silent"))
        try:
            world.everybody()
            labels = world.asked(HOSPITALS[0], 1, codes, private=True, id=b"q" * 16)
            assert labels.tolist() == world.expected(frozenset(HOSPITALS), codes)
        finally:
            world.close()
    grown = {(sender, receiver) for step, sender, receiver in said if step == SUMS}
    assert grown == {("mixer a", "mixer b"), ("mixer b", "mixer a")}


def test_two_hospitals_alone_train_and_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    content = every_protocol.two_hospitals().model_dump(mode="json")
    content["policy"]["transfers"] = "silent"
    monkeypatch.setattr(every_protocol, "two_hospitals", lambda: federation_from(content))
    with overhearing() as said:
        every_protocol.at_two_hospitals(A)
    assert {sender for step, sender, _ in said if step == SUMS} == {"party A", "party B"}


def test_extended_transfers_grow_no_trees() -> None:
    with overhearing() as said:
        every_protocol.at_two_hospitals(A)
    assert not [step for step, _, _ in said if step == SUMS]
