"""Streams to two peers in one conversation: what happens to the others when one ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from mixbayes.protocol.errors import MixbayesError, OutOfRange, PeerGone, PeerSilent
from mixbayes.transport.conversation import Bound
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.streams import CallerWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk
from tests.ports import free_port
from tests.transport.loopback import BACK_AND_FORTH, calling
from tests.transport.test_streams import PATIENCE, lines


def failure(wire: CallerWire) -> MixbayesError:
    with pytest.raises(MixbayesError) as failed:
        wire.read(memoryview(bytearray(1)), "step")
    return failed.value


def heard(wire: CallerWire) -> bytes:
    into = bytearray(1)
    wire.read(memoryview(into), "step")
    return bytes(into)


def test_who_waits_for_one_peer_hears_that_the_connection_to_the_other_broke() -> None:
    with lines() as first, ThreadPoolExecutor() as pool:
        bound = Bound()
        to_first, _ = first.ends()
        with lines() as second:
            to_second, served = second.ends()
            for wire in (to_first, to_second):
                bound.add(wire)
            served.write([b"x"], "step")
            assert heard(to_second) == b"x"
            waiting = pool.submit(failure, to_first)
            to_second.peer = "mixer b"
        told = waiting.result(PATIENCE)
    assert isinstance(told, PeerGone)
    assert str(told).startswith("mixer b, at step")


def test_a_peer_that_could_not_be_reached_is_known_to_streams_that_are_opened_later() -> None:
    with lines() as line, calling(free_port()) as nowhere:
        bound = Bound()
        open_ = nowhere.stream_stream(BACK_AND_FORTH, Chunk.SerializeToString, Chunk.FromString)
        lost = CallerWire("mixer b", PATIENCE, Watch()).call(open_)
        bound.add(lost)
        assert isinstance(failure(lost), Unreachable)
        late, _ = line.ends()
        bound.add(late)
        told = failure(late)
    assert isinstance(told, Unreachable)
    assert told.peer == "mixer b"


@pytest.mark.parametrize(
    "error", [None, OutOfRange("party south", "step", "a number is too large")], ids=["end", "word"]
)
def test_what_a_peer_says_itself_is_read_from_its_own_stream(error: MixbayesError | None) -> None:
    with lines() as line:
        bound = Bound()
        to_first, first = line.ends()
        to_second, second = line.ends()
        bound.add(to_first)
        bound.add(to_second)
        if error:
            second.fail(error)
        else:
            second.close()
        assert isinstance(failure(to_second), type(error) if error else PeerGone)
        first.write([b"y"], "step")
        assert heard(to_first) == b"y"


def test_silence_breaks_off_its_own_stream_alone() -> None:
    with lines() as line:
        bound = Bound()
        to_first, first = line.ends()
        to_second, _ = line.ends(callers=0.5)
        bound.add(to_first)
        bound.add(to_second)
        assert isinstance(failure(to_second), PeerSilent)
        first.write([b"y"], "step")
        assert heard(to_first) == b"y"
