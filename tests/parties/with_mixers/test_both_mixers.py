"""What a hospital makes of what the mixers report."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.node.rounds.rounds import COLLECTING, SEALED
from mixbayes.parties.with_mixers.both_mixers import combined
from mixbayes.transport.errors import TooEarly
from mixbayes.wire.v1.node_pb2 import RoundReport
from tests.services.helpers import make_site


@pytest.mark.parametrize("state", [COLLECTING, SEALED])
def test_what_a_round_waits_for_is_a_sentence_of_its_own(tmp_path: Path, state: str) -> None:
    report = RoundReport(round=1, state=state, missing=["north"], reason="waiting: nothing listens there.")
    status = combined([report, report], {})
    with pytest.raises(TooEarly, match=r"\. Waiting: nothing listens there\.$"):
        status.refuse_unless_serving(make_site(tmp_path / "site").federation)
