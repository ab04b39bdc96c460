from __future__ import annotations

import pytest

from mixbayes.privacy import checking
from mixbayes.protocol.transfer import base, pool
from tests.protocol.adversary import RememberedGroup, dealt_receive, dealt_send

GROUP = RememberedGroup()


@pytest.fixture
def dealt_base_transfers(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that do not concern how the base transfers are made."""
    monkeypatch.setattr(pool, "send_base", dealt_send)
    monkeypatch.setattr(pool, "receive_base", dealt_receive)


@pytest.fixture(autouse=True)
def few_coins_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many coins must be opened at least is a matter of numbers, and of seconds in every example with noise."""
    monkeypatch.setattr(checking, "FEWEST", 1 << 8)


@pytest.fixture
def remembered_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that connect the same parties many times, by the same seeds."""
    monkeypatch.setattr(base, "group", GROUP)
