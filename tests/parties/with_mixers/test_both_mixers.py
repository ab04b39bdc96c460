"""What a hospital makes of what the mixers report."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.node.rounds.state import COLLECTING, SEALED, State
from mixbayes.node.rounds.status import Status, combined
from mixbayes.transport.errors import TooEarly
from tests.services.helpers import make_site


@pytest.mark.parametrize("state", [COLLECTING, SEALED])
def test_what_a_round_waits_for_is_a_sentence_of_its_own(tmp_path: Path, state: State) -> None:
    status = Status(1, state, missing=["north"], reason="waiting: nothing listens there.")
    both = combined([status, status], {})
    with pytest.raises(TooEarly, match=r"\. Waiting: nothing listens there\.$"):
        both.refuse_unless_serving(make_site(tmp_path / "site").federation)
