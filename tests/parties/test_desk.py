"""What a hospital's commands ask, and whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from mixbayes.parties.desk import AtMixers
from mixbayes.parties.with_mixers.both_mixers import BothMixers, Status, combined
from mixbayes.protocol.errors import PeerSilent
from mixbayes.wire.v1.node_pb2 import RoundReport

SERVING = combined([RoundReport(round=1, state="serving")] * 2, {})
SILENT = {"mixer b": PeerSilent("mixer b", "asking for the status", "nothing came within 60 s")}


@pytest.mark.parametrize(
    ("found", "protection"), [(SERVING, "condensation:k=20"), (replace(SERVING, unreachable=SILENT), "")]
)
def test_the_own_node_is_asked_unless_it_would_wait_for_a_mixer_too(found: Status, protection: str) -> None:
    mixers = cast("BothMixers", Mock(spec=BothMixers, status=lambda: found))
    nothing: Any = None
    assert AtMixers(nothing, mixers, nothing, lambda: "condensation:k=20").status().protection == protection
