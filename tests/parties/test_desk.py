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
SILENT = {"mixer b": PeerSilent("mixer b", "asking for the status", "nothing came within 60 s")}


@pytest.mark.parametrize(
    ("found", "protection"), [(REPORTED, "condensation:k=20"), (replace(REPORTED, unreachable=SILENT), "")]
)
def test_the_own_node_is_asked_unless_it_would_wait_for_a_mixer_too(found: Status, protection: str) -> None:
    mixers = cast("BothMixers", Mock(spec=BothMixers, status=lambda: found))
    nothing: Any = None
    assert AtMixers(nothing, mixers, nothing, lambda: "condensation:k=20").status().protection == protection
