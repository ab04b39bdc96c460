"""The conversation of two hospitals alone, as the node's own service waits for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mixbayes.parties.alone.hospital import StandingTalk
from mixbayes.protocol.errors import PeerGone

LONG = 60.0


def test_whoever_waits_for_a_conversation_is_told_that_the_node_stops() -> None:
    standing, begun = StandingTalk(), threading.Event()

    def wait() -> None:
        begun.set()
        standing.wait(LONG, "party south")

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        assert begun.wait(LONG)
        standing.leave()
        with pytest.raises(PeerGone, match="it stops"):
            waiting.result(LONG)
    with pytest.raises(PeerGone, match="it stops"):
        standing.wait(LONG, "party south")
