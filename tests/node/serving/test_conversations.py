"""Streams that come one by one and belong together: who may bring which, who is missing, and what is left of it all."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from mixbayes.node.log import logger
from mixbayes.node.serving.conversations import Channels, Conversations
from mixbayes.protocol.errors import LocalError, MixbayesError, OutOfRange, PeerError, PeerGone, PeerSilent, WrongStep
from mixbayes.transport.errors import RefusedByPolicy
from mixbayes.transport.streams import StreamWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk

PATIENCE, HASTE = 60.0, 1.5
NEEDED = {"now": "party north", "ahead": "party north", "mixer now": "mixer a"}


def nothing(channels: Channels) -> None: ...


class Stream(StreamWire):
    """One that nobody reads from the network; what becomes of it is kept."""

    def __init__(self, peer: str) -> None:
        super().__init__(peer, PATIENCE, Watch())
        self.error: MixbayesError | None = None
        self.over = threading.Event()
        self.cut = threading.Event()
        self.attach(self._nothing(), self.cut.set)

    def close(self) -> None:
        self.over.set()

    def fail(self, error: MixbayesError) -> None:
        self.error = error
        self.over.set()

    def hang_up(self) -> None:
        self.cut.set()
        self.abandoned()

    def _nothing(self) -> Iterator[Chunk]:
        self.cut.wait(PATIENCE)
        return iter(())
        yield Chunk()


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def conversations(said: io.StringIO) -> Iterator[Conversations]:
    made = Conversations(PATIENCE, logger("mixer b", said))
    yield made
    made.close()


@pytest.fixture
def hasty(said: io.StringIO) -> Conversations:
    return Conversations(HASTE, logger("mixer b", said))


def join(
    conversations: Conversations,
    channel: str,
    peer: str = "party north",
    key: str = "key",
    work: Callable[[Channels], None] = nothing,
) -> Stream:
    stream = Stream(peer)
    conversations.join("north", key, channel, stream, NEEDED, work)
    return stream


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_last_one_begins_the_work(conversations: Conversations) -> None:
    met: list[Channels] = []
    streams = [join(conversations, channel, peer, work=met.append) for channel, peer in NEEDED.items()]
    for stream in streams:
        assert stream.over.wait(PATIENCE)
        assert stream.error is None
    assert {name: channel.peer for name, channel in met[0].items()} == NEEDED
    until(lambda: not conversations._open)


@pytest.mark.parametrize("come", [("now",), ("now", "ahead"), ("mixer now",)])
def test_who_does_not_come_is_named_to_those_who_did(
    hasty: Conversations, come: tuple[str, ...], said: io.StringIO
) -> None:
    streams = [join(hasty, channel, NEEDED[channel]) for channel in come]
    missing = "mixer a" if "ahead" in come else "party north"
    for stream in streams:
        assert stream.over.wait(PATIENCE)
        assert isinstance(stream.error, PeerSilent)
        assert stream.error.peer == missing
        assert f"it did not join within {HASTE:g} s" in stream.error.why
    until(lambda: not hasty._open)
    assert "did not join" in said.getvalue()


def test_who_hangs_up_before_all_are_there_is_forgotten_at_once() -> None:
    """A hospital whose connection to one mixer broke comes again sooner than the deadline."""
    slow = Conversations(PATIENCE, logger("mixer b", io.StringIO()), most=1)
    first, other = join(slow, "now"), join(slow, "mixer now", "mixer a")
    first.hang_up()
    assert other.over.wait(PATIENCE)
    assert isinstance(other.error, PeerGone)
    assert other.error.peer == "party north"
    assert join(slow, "now", key="again")
    slow.close()


def test_who_had_hung_up_before_it_was_joined(conversations: Conversations) -> None:
    gone = Stream("party north")
    gone.hang_up()
    conversations.join("north", "key", "now", gone, NEEDED, nothing)
    until(lambda: not conversations._open)


@pytest.mark.parametrize(
    ("channel", "peer"), [("mixer now", "party north"), ("now", "mixer a"), ("else", "party north")]
)
def test_nobody_opens_the_channel_of_another(conversations: Conversations, channel: str, peer: str) -> None:
    with pytest.raises(WrongStep, match=f"{peer}, at joining a conversation: it opens a channel that is not for it"):
        join(conversations, channel, peer)
    assert not conversations._open


def test_twice_the_same(conversations: Conversations) -> None:
    join(conversations, "now")
    with pytest.raises(WrongStep, match="twice"):
        join(conversations, "now")


def test_one_more_while_they_are_at_work(conversations: Conversations) -> None:
    going_on = threading.Event()

    def work(channels: object) -> None:
        going_on.wait(PATIENCE)

    for channel, peer in NEEDED.items():
        join(conversations, channel, peer, work=work)
    with pytest.raises(WrongStep):
        join(conversations, "now")
    going_on.set()


def test_so_many_of_one_hospital_and_no_more(conversations: Conversations) -> None:
    for number in range(8):
        join(conversations, "now", key=str(number))
    with pytest.raises(RefusedByPolicy, match="8 conversations"):
        join(conversations, "now", key="one more")
    stream = Stream("party south")
    conversations.join("south", "key", "now", stream, {"now": "party south", "ahead": "party south"}, nothing)


@pytest.mark.parametrize("error", [OutOfRange("party north", "step", "why"), ValueError("a secret cell")])
def test_what_ends_the_work_is_told_to_all(conversations: Conversations, error: Exception, said: io.StringIO) -> None:
    def fail(channels: Channels) -> None:
        raise error

    streams = [join(conversations, channel, peer, work=fail) for channel, peer in NEEDED.items()]
    for stream in streams:
        assert stream.over.wait(PATIENCE)
        assert isinstance(stream.error, OutOfRange | LocalError)
        assert "secret" not in str(stream.error)
    until(lambda: "broke off" in said.getvalue())
    assert "secret" not in said.getvalue()


def test_closing_breaks_off_those_at_work_and_those_who_wait(conversations: Conversations) -> None:
    told: list[PeerError] = []

    def until_cut(channels: Channels) -> None:
        try:
            channels["now"].receive("anything", 1)
        except PeerError as error:
            told.append(error)

    streams = [join(conversations, channel, peer, work=until_cut) for channel, peer in NEEDED.items()]
    waiting = join(conversations, "now", key="another")
    conversations.close()
    assert all(stream.cut.is_set() for stream in [*streams, waiting])
    assert [(type(error), error.peer, error.why) for error in told] == [(PeerGone, "this node", "it stops")]


def test_a_system_without_threads_takes_no_place_for_ever(
    conversations: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    *first, (channel, peer) = NEEDED.items()
    streams = [join(conversations, channel, peer) for channel, peer in first]
    last, other = Stream(peer), Stream("party north")
    monkeypatch.setattr(threading.Thread, "start", none_left)
    with pytest.raises(RuntimeError):
        conversations.join("north", "key", channel, last, NEEDED, nothing)
    assert not conversations._open
    assert all(stream.cut.is_set() for stream in streams)
    with pytest.raises(RuntimeError):
        conversations.join("north", "another", "now", other, NEEDED, nothing)
    assert not conversations._open


def test_without_threads_who_waits_for_one_that_has_left_is_broken_off(
    conversations: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    leaving, waiting = (join(conversations, channel, peer) for channel, peer in list(NEEDED.items())[:2])
    monkeypatch.setattr(threading.Thread, "start", none_left)
    leaving.abandoned()
    assert waiting.cut.is_set()
    assert not conversations._open


def test_nothing_begins_once_it_is_closed(conversations: Conversations) -> None:
    conversations.close()
    for channel, peer in NEEDED.items():
        with pytest.raises(PeerGone, match="it stops"):
            join(conversations, channel, peer)
    assert not conversations._open
