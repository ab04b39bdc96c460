"""What a hospital's commands ask, and whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from mixbayes.node.rounds.state import SERVING
from mixbayes.node.rounds.status import Status
from mixbayes.parties.desk import AtMixers
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.protocol.errors import PeerSilent

REPORTED = Status(1, SERVING)
OWN = Status(1, SERVING, protection="condensation:k=20", epsilon_spent=2.5)
SILENT = {"mixer b": PeerSilent("mixer b", "asking for the status", "nothing came within 60 s")}


@pytest.mark.parametrize(
    ("found", "own", "protection", "spent"),
    [
        (REPORTED, OWN, "condensation:k=20", 2.5),
        (replace(REPORTED, epsilon_spent=3.0), OWN, "condensation:k=20", 3.0),
        (replace(REPORTED, unreachable=SILENT), OWN, "", 0.0),
        (REPORTED, None, "", 0.0),
    ],
)
def test_the_own_node_is_asked_unless_it_would_wait_for_a_mixer_too(
    found: Status, own: Status | None, protection: str, spent: float
) -> None:
    mixers = cast("BothMixers", Mock(spec=BothMixers, status=lambda: found))
    nothing: Any = None
    status = AtMixers(nothing, mixers, nothing, lambda: own).status()
    assert (status.protection, status.epsilon_spent) == (protection, spent)
