"""A channel's wire over a gRPC stream: everything arrives once and in order, and nobody waits for ever."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError, OutOfRange, PeerGone, PeerSilent, WrongLength
from mixbayes.transport import streams, watch
from mixbayes.transport.errors import Disagreement, Unreachable
from mixbayes.transport.peer import LIMITS
from mixbayes.transport.status import status_of
from mixbayes.transport.streams import CHUNK, CallerWire, StreamWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk
from tests.ports import free_port
from tests.transport.loopback import BACK_AND_FORTH, calling, serving

PATIENCE = 60.0
HASTE = 0.3


class Line:
    """A caller's wire and a server's, over one stream on loopback."""

    def __init__(self, port: int, channel: grpc.Channel, arrivals: list[StreamWire], here: threading.Event) -> None:
        self.port = port
        self._open = channel.stream_stream(BACK_AND_FORTH, Chunk.SerializeToString, Chunk.FromString)
        self._arrivals, self._here = arrivals, here
        self.watch = Watch(0.05)

    def ends(self, callers: float = PATIENCE, servers: float = PATIENCE) -> tuple[CallerWire, StreamWire]:
        """With these deadlines."""
        self._here.clear()
        caller = CallerWire("mixer a", callers, self.watch).call(self._open)
        assert self._here.wait(PATIENCE)
        served = self._arrivals.pop()
        served._deadline = servers
        return caller, served

    def channels(self, callers: float = PATIENCE, servers: float = PATIENCE) -> tuple[Channel, Channel]:
        caller, served = self.ends(callers, servers)
        return Channel("mixer a", caller), Channel("party north", served)


@contextmanager
def lines() -> Iterator[Line]:
    arrivals: list[StreamWire] = []
    here, watch = threading.Event(), Watch(0.05)

    def talk(incoming: Iterator[Chunk], context: grpc.ServicerContext) -> Iterator[Chunk]:
        wire = StreamWire("party north", PATIENCE, watch)
        wire.attach(incoming, context.cancel)
        context.add_callback(wire.abandoned)
        arrivals.append(wire)
        here.set()
        try:
            yield from wire.leaving()
        except MixbayesError as error:
            context.abort_with_status(status_of(error, "mixer a"))

    handler = grpc.stream_stream_rpc_method_handler(talk, Chunk.FromString, Chunk.SerializeToString)
    with serving(handler) as port, calling(port) as channel:
        yield Line(port, channel, arrivals, here)


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    with lines() as line:
        yield line


def test_messages_of_any_length_arrive_both_ways(line: Line) -> None:
    ours, theirs = line.channels()
    for size in (0, 1, CHUNK - 16, CHUNK, CHUNK + 1, 3 * CHUNK + 5):
        message = np.random.default_rng(size).bytes(size)
        ours.send("there", message)
        assert theirs.receive("there", size).tobytes() == message
        theirs.send("back", message)
        assert ours.receive("back", size).tobytes() == message
    theirs.close()
    ours.close()


def test_both_may_write_much_before_either_reads(line: Line) -> None:
    ours, theirs = line.channels()
    much = np.arange(1 << 23, dtype=np.uint32).view(np.uint8)
    ours.send("there", much)
    theirs.send("back", much)
    assert (theirs.receive("there", much.nbytes) == much).all()
    assert (ours.receive("back", much.nbytes) == much).all()
    theirs.close()
    ours.close()


@given(cuts=st.lists(st.integers(0, 120), max_size=12), sizes=st.lists(st.integers(0, 50), min_size=1, max_size=4))
@settings(max_examples=50)
def test_pieces_may_be_cut_anywhere_and_be_empty(cuts: list[int], sizes: list[int]) -> None:
    """Whatever pieces a peer makes of the same bytes, the messages in them are the same."""
    sender = _Recorder()
    channel = Channel("party north", sender)
    messages = [np.random.default_rng(i).bytes(size) for i, size in enumerate(sizes)]
    for message in messages:
        channel.send("step", message)
    stream = b"".join(sender.parts)
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]
    pieces = [piece for cut in pieces for piece in (b"", cut)]
    wire = StreamWire("party north", PATIENCE, Watch()).attach(iter([Chunk(data=p) for p in pieces]), lambda: None)
    receiver = Channel("party north", wire)
    assert [receiver.receive("step", size).tobytes() for size in sizes] == messages
    with pytest.raises(PeerGone, match="hung up"):
        receiver.receive("step", 1)
    wire.abandoned()


class _Recorder:
    """A wire that keeps what is written."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, parts: Any, step: str) -> None:
        self.parts += [bytes(part) for part in parts]

    def read(self, into: memoryview, step: str) -> None:
        pytest.fail("nothing is read from it")

    def close(self) -> None: ...


def test_no_piece_is_longer_than_the_limit() -> None:
    wire = StreamWire("mixer a", PATIENCE, Watch())
    wire.write([b"x" * 16, memoryview(bytes(3 * CHUNK))], "step")
    wire.abandoned()
    assert max(len(piece.data) for piece in wire.leaving()) <= CHUNK


def test_small_messages_that_wait_leave_together_and_the_end_comes_after_them() -> None:
    wire = StreamWire("mixer a", PATIENCE, Watch())
    for size in (10, 20, CHUNK // 2, CHUNK // 2, 30):
        wire.write([bytes(size)], "step")
    wire.abandoned()
    assert [len(piece.data) for piece in wire.leaving()] == [30 + CHUNK // 2, CHUNK // 2, 30]


def test_a_silent_peer_is_named_with_the_step(line: Line) -> None:
    ours, theirs = line.channels(HASTE, PATIENCE)
    with pytest.raises(PeerSilent, match=r"^mixer a, at verdict: nothing came within 0.3 s\."):
        ours.receive("verdict", 1)
    with pytest.raises(PeerGone, match="party north, at question"):
        theirs.receive("question", 1)


def test_a_silent_caller_is_named_too(line: Line) -> None:
    ours, theirs = line.channels(PATIENCE, HASTE)
    with pytest.raises(PeerSilent, match=r"^party north, at question"):
        theirs.receive("question", 1)
    with pytest.raises(PeerGone, match=r"^mixer a, at verdict"):
        ours.receive("verdict", 1)


def test_silence_in_the_middle_of_a_message_counts(line: Line) -> None:
    ours, served = line.ends(HASTE)
    served.write([b"x" * 10], "step")
    with pytest.raises(PeerSilent):
        ours.read(memoryview(bytearray(20)), "step")


def test_empty_pieces_do_not_put_off_the_deadline() -> None:
    stopped = threading.Event()

    def endless() -> Iterator[Chunk]:
        while not stopped.wait(0.01):
            yield Chunk()
        raise grpc.RpcError

    wire = StreamWire("party north", HASTE, Watch(0.05)).attach(endless(), stopped.set)
    with pytest.raises(PeerSilent):
        wire.read(memoryview(bytearray(1)), "step")


class Clock:
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def test_a_peer_that_says_a_little_now_and_then_is_late_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    for module in (streams, watch):
        monkeypatch.setattr(module, "time", clock)
    wire, stopped = StreamWire("party north", HASTE, Watch(0.01)), threading.Event()

    def drop_by_drop() -> Iterator[Chunk]:
        while not stopped.wait(0.01):
            clock.now += HASTE / 3
            yield Chunk(data=b"x")

    wire.attach(drop_by_drop(), stopped.set)
    with pytest.raises(PeerSilent, match="not complete in time"):
        wire.read(memoryview(bytearray(1000)), "labels")
    assert stopped.is_set()
    wire.abandoned()  # closed, it would wait for gRPC to take what it says


def test_a_stream_that_ends_because_it_was_late_was_late() -> None:
    """gRPC's server ends a stream that it is told to cancel with an error or, sometimes, without."""
    cut = threading.Event()

    def ends() -> Iterator[Chunk]:
        cut.wait(PATIENCE)
        yield from ()

    wire = StreamWire("party north", HASTE, Watch(0.05)).attach(ends(), cut.set)
    with pytest.raises(PeerSilent, match="nothing came within"):
        wire.read(memoryview(bytearray(1)), "step")


def test_one_step_may_take_longer_than_the_others(line: Line) -> None:
    caller, served = line.ends(servers=HASTE)
    served._patience = {"next question": PATIENCE}
    threading.Timer(3 * HASTE, caller.write, ([b"!"], "next question")).start()
    into = bytearray(1)
    served.read(memoryview(into), "next question")
    assert into == b"!"
    served.close()
    caller.close()


def test_hanging_up_is_said_at_once(line: Line) -> None:
    ours, theirs = line.channels()
    theirs.close()
    with pytest.raises(PeerGone, match="mixer a, at verdict: it hung up"):
        ours.receive("verdict", 1)


def test_what_was_written_before_hanging_up_arrives(line: Line) -> None:
    ours, theirs = line.channels()
    theirs.send("share", bytes(5 * CHUNK))
    threading.Thread(target=theirs.close).start()  # waits until all has left
    assert ours.receive("share", 5 * CHUNK).nbytes == 5 * CHUNK


def test_the_error_that_ends_a_conversation_reaches_the_caller(line: Line) -> None:
    ours, theirs = line.ends()
    theirs.fail(OutOfRange("party south", "contribution", "it has a number too large"))
    with pytest.raises(OutOfRange, match=r"party south, at contribution: .*so says mixer a"):
        ours.read(memoryview(bytearray(1)), "step")


def test_a_connection_that_worked_and_broke_is_gone_not_unreachable() -> None:
    with lines() as line:
        caller, served = line.ends()
        served.write([b"x"], "step")
        caller.read(memoryview(bytearray(1)), "step")
    with pytest.raises(PeerGone, match="mixer a, at step"):
        caller.read(memoryview(bytearray(1)), "step")


def test_nothing_listens() -> None:
    with calling(free_port()) as channel:
        open_ = channel.stream_stream(BACK_AND_FORTH, Chunk.SerializeToString, Chunk.FromString)
        wire = CallerWire("mixer a", PATIENCE, Watch()).call(open_)
        with pytest.raises(Unreachable, match="mixer a, at step: nothing listens there"):
            wire.read(memoryview(bytearray(1)), "step")


def test_a_message_over_the_limit_is_the_peers_fault(line: Line) -> None:
    """It cannot come from an honest end, which cuts its messages."""
    ours, theirs = line.ends()
    theirs._outbox.put(bytes(3 * CHUNK))
    with pytest.raises(MixbayesError) as refused:
        ours.read(memoryview(bytearray(1)), "step")
    assert isinstance(refused.value, WrongLength | PeerGone)
    assert "mixer a" in str(refused.value)


def test_a_service_that_is_not_there_is_no_node_of_this_version(line: Line) -> None:
    with calling(line.port) as channel:
        open_ = channel.stream_stream("/test.Service/Else", Chunk.SerializeToString, Chunk.FromString)
        wire = CallerWire("mixer a", PATIENCE, Watch()).call(open_)
        with pytest.raises(Disagreement, match="no node of this kind or version"):
            wire.read(memoryview(bytearray(1)), "step")


def test_streams_leave_no_thread_and_nothing_to_watch() -> None:
    with lines() as line:
        before = threading.active_count() + 1  # the server's first
        for _ in range(20):
            ours, theirs = line.channels()
            theirs.close()
            ours.close()
        _until(lambda: threading.active_count() <= before and not line.watch._watched)


def test_a_server_forgets_a_stream_that_was_broken_off() -> None:
    watch = Watch()
    wire = StreamWire("party north", PATIENCE, watch).attach(iter([]), lambda: None)
    assert watch._watched == {wire}
    wire.abandoned()
    assert not watch._watched


def test_watching_ends_with_nothing_to_watch_and_begins_again() -> None:
    watch = Watch(0.01)
    for _ in range(2):
        cut = threading.Event()
        wire = StreamWire("mixer a", PATIENCE, watch).attach(iter([]), cut.set)
        wire.waiting_until = time.monotonic()
        assert cut.wait(PATIENCE)
        _until(lambda: watch._thread is None)


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_one_stream_that_cannot_be_broken_off_does_not_end_the_watch() -> None:
    """All other deadlines of the node depend on it."""
    watch, cut = Watch(0.01), threading.Event()

    def fail() -> None:
        raise ValueError

    bad = StreamWire("mixer a", PATIENCE, watch).attach(iter([]), fail)
    bad.waiting_until = time.monotonic()
    _until(lambda: bad not in watch._watched)
    good = StreamWire("mixer b", PATIENCE, watch).attach(iter([]), cut.set)
    good.waiting_until = time.monotonic()
    assert cut.wait(PATIENCE)


def test_limits_hold_at_both_ends() -> None:
    about = dict(LIMITS)
    assert about["grpc.max_receive_message_length"] == about["grpc.max_send_message_length"] == 2 * CHUNK
