from __future__ import annotations

import pytest

from mixbayes.protocol.transfer import pool
from tests.protocol.adversary import dealt_receive, dealt_send


@pytest.fixture
def dealt_base_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that do not concern how the base transfers are made."""
    monkeypatch.setattr(pool, "send_base", dealt_send)
    monkeypatch.setattr(pool, "receive_base", dealt_receive)
