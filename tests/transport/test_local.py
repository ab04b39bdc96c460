"""A wire over a local socket pair: neither end ever waits for ever, and everything arrives once and in order."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import PeerGone, PeerSilent, WrongLength, WrongStep
from mixbayes.transport.local import SocketWire

HEADER = 16
PATIENCE = 30.0
"""The deadline where none should be met."""
HASTE = 0.05
"""The deadline where one must be met."""
MUCH = 1 << 24
"""More than the buffers of any socket hold."""


class Ends:
    """Both ends of a socket pair, as wires and channels."""

    def __init__(self, deadline: float = PATIENCE) -> None:
        self.sockets = socket.socketpair()
        self.wires = (
            SocketWire("party vb", self.sockets[0], deadline),
            SocketWire("party va", self.sockets[1], deadline),
        )
        self.first, self.second = Channel("party vb", self.wires[0]), Channel("party va", self.wires[1])


@contextmanager
def connected(deadline: float = PATIENCE) -> Iterator[Ends]:
    ends = Ends(deadline)
    try:
        yield ends
    finally:
        for end in ends.sockets:
            end.close()


def at_once(*roles: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(roles)) as pool:
        return [future.result() for future in [pool.submit(role) for role in roles]]


def noise(number: int, size: int) -> bytes:
    return np.random.default_rng(number).bytes(size)


def test_long_messages_from_both_ends_at_once_arrive() -> None:
    first, second = noise(1, MUCH), noise(2, MUCH)
    with connected() as ends:
        heard = at_once(lambda: ends.first.swap("long", first), lambda: ends.second.swap("long", second))
        assert [one.tobytes() for one in heard] == [second, first]


def test_writing_a_long_message_waits_for_nobody() -> None:
    """In one thread: the other end has not begun to read."""
    message = noise(3, MUCH)
    with connected() as ends:
        ends.first.send("long", message)
        ends.second.send("long", message)
        assert ends.second.receive("long", MUCH).tobytes() == message
        assert ends.first.receive("long", MUCH).tobytes() == message


@pytest.mark.parametrize("size", [1 << 10, 1 << 16])
def test_writing_many_messages_waits_for_nobody(size: int) -> None:
    count = MUCH // size
    with connected() as ends:
        for number in range(count):
            ends.first.send("many", noise(number, size))
        for number in range(count):
            assert ends.second.receive("many", size).tobytes() == noise(number, size)


def test_short_message_behind_a_long_one_stays_behind_it() -> None:
    long, short = noise(4, MUCH), b"short"
    with connected() as ends:
        for _ in range(3):
            ends.first.send("long", long)
            ends.first.send("short", short)
        for _ in range(3):
            assert ends.second.receive("long", MUCH).tobytes() == long
            assert ends.second.receive("short", 5).tobytes() == short


def test_message_is_sent_as_it_was_although_its_parts_are_of_every_kind() -> None:
    parts = [b"bytes", bytearray(b"array"), memoryview(b"view"), np.arange(6, dtype=np.uint64).reshape(2, 3)[:, ::2]]
    expected = b"".join(part.tobytes() if isinstance(part, np.ndarray) else bytes(part) for part in parts)
    with connected() as ends:
        ends.wires[0].write(parts, "parts")
        room = bytearray(len(expected))
        ends.wires[1].read(memoryview(room), "parts")
        assert room == expected


@pytest.mark.parametrize("empty", [b"", bytearray(), np.empty(0, np.uint8)], ids=repr)
def test_empty_message_arrives(empty: Any) -> None:
    with connected() as ends:
        ends.first.send("empty", empty)
        ends.first.send("next", b"x")
        assert ends.second.receive("empty", 0).size == 0
        assert ends.second.receive("next", 1).tobytes() == b"x"


SIZES = st.integers(0, 300) | st.integers(0, 4000)


@given(st.lists(st.tuples(st.booleans(), SIZES), max_size=12), st.integers(0, 1000))
def test_any_sizes_arrive_in_order_and_are_counted(script: list[tuple[bool, int]], number: int) -> None:
    """True: the first end sends; False: the second. Messages sent alike may all leave before any is read."""
    messages = [noise(number + i, size) for i, (_, size) in enumerate(script)]

    def role(channel: Channel, sends: bool) -> list[bytes]:
        for (of_first, _), message in zip(script, messages, strict=True):
            if of_first == sends:
                channel.send("step", message)
        heard = [len(m) for (of_first, _), m in zip(script, messages, strict=True) if of_first != sends]
        return [channel.receive("step", size).tobytes() for size in heard]

    with connected() as ends:
        of_second, of_first = at_once(lambda: role(ends.first, True), lambda: role(ends.second, False))
        assert of_second == [message for (first, _), message in zip(script, messages, strict=True) if not first]
        assert of_first == [message for (first, _), message in zip(script, messages, strict=True) if first]
        sent, received = (sum(HEADER + len(m) for m in heard) for heard in (of_first, of_second))
        assert (ends.first.traffic.sent, ends.first.traffic.received) == (sent, received)
        assert (ends.second.traffic.sent, ends.second.traffic.received) == (received, sent)


@given(st.lists(st.integers(1, 70_000), min_size=1, max_size=12), st.integers(0, 1000))
def test_bytes_arrive_however_they_are_cut_for_reading(cuts: list[int], number: int) -> None:
    message = noise(number, sum(cuts))
    with connected() as ends:
        ends.wires[0].write([message[:100], message[100:]], "step")
        heard = b""
        for cut in cuts:
            room = bytearray(cut)
            ends.wires[1].read(memoryview(room), "step")
            heard += room
        assert heard == message


# Peers that fail


def test_silent_peer_is_named_at_the_deadline() -> None:
    with connected(HASTE) as ends, pytest.raises(PeerSilent) as caught:
        ends.first.receive("greeting", 1)
    assert (caught.value.peer, caught.value.step, caught.value.code) == ("party vb", "greeting", "E210")


@pytest.mark.parametrize("said", [1, HEADER, HEADER + 3], ids=["within the header", "after it", "within the message"])
def test_peer_that_falls_silent_within_a_message_is_named(said: int) -> None:
    with connected() as honest:
        honest.first.send("greeting", b"message")
        raw = honest.sockets[1].recv(100)
    with connected(HASTE) as ends:
        ends.sockets[1].sendall(raw[:said])
        with pytest.raises(PeerSilent, match="party vb, at greeting"):
            ends.first.receive("greeting", 7)


def test_peer_that_drips_does_not_hold_for_ever() -> None:
    """Each byte comes within the deadline; the message must, too."""
    stopped = threading.Event()
    with connected(HASTE) as ends:

        def drip() -> None:
            while not stopped.wait(HASTE / 10):
                ends.sockets[1].send(b"\0")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with pytest.raises(PeerSilent, match="party vb, at endless"):
                ends.wires[0].read(memoryview(bytearray(1 << 20)), "endless")
        finally:
            stopped.set()
            thread.join()


@pytest.mark.parametrize("said", [0, 1, HEADER, HEADER + 3])
def test_peer_that_hangs_up_is_named_at_once(said: int) -> None:
    with connected() as honest:
        honest.first.send("greeting", b"message")
        raw = honest.sockets[1].recv(100)
    with connected() as ends:
        ends.sockets[1].sendall(raw[:said])
        ends.sockets[1].close()
        with pytest.raises(PeerGone) as caught:
            ends.first.receive("greeting", 7)
    assert (caught.value.peer, caught.value.step, caught.value.code) == ("party vb", "greeting", "E211")


def test_what_was_said_before_hanging_up_is_heard() -> None:
    with connected() as ends:
        ends.second.send("last", b"words")
        ends.wires[1].close()
        assert ends.first.receive("last", 5).tobytes() == b"words"
        with pytest.raises(PeerGone):
            ends.first.receive("more", 1)


@pytest.mark.parametrize("size", [1, MUCH])
def test_writing_to_who_hung_up_says_so(size: int) -> None:
    with connected() as ends:
        ends.sockets[1].close()
        with pytest.raises(PeerGone, match="party vb, at farewell"):
            ends.first.send("farewell", noise(5, size))


def test_peer_that_hangs_up_while_a_long_message_leaves_is_named_by_the_next_step() -> None:
    with connected() as ends:
        ends.first.send("long", noise(6, MUCH))
        ends.sockets[1].recv(1000)
        ends.sockets[1].close()
        with pytest.raises(PeerGone, match="party vb, at next"):
            ends.first.receive("next", 1)


def test_peer_that_never_reads_is_named_when_more_is_written() -> None:
    with connected(HASTE) as ends:
        ends.first.send("long", noise(7, MUCH))
        with pytest.raises(PeerSilent, match="party vb, at next"):
            send_until_refused(ends)


def send_until_refused(ends: Ends) -> None:
    """That is, until the writer has given up."""
    while True:
        ends.wires[0]._rest.finish()
        ends.first.send("next", b"x")


def test_peer_that_never_reads_does_not_keep_the_wire_from_closing() -> None:
    with connected(HASTE) as ends:
        ends.first.send("long", noise(8, MUCH))
        ends.wires[0].close()
        assert ends.sockets[0].fileno() == -1


def test_closing_lets_a_long_message_leave_first() -> None:
    message = noise(9, MUCH)
    with connected() as ends:

        def speak() -> None:
            ends.first.send("long", message)
            ends.wires[0].close()

        _, heard = at_once(speak, lambda: ends.second.receive("long", MUCH).tobytes())
        assert heard == message


def test_closing_ends_the_thread_that_wrote() -> None:
    with connected() as ends:
        ends.first.send("long", noise(10, MUCH))
        writer = ends.wires[0]._rest._thread
        assert writer is not None
        ends.second.receive("long", MUCH)
        ends.wires[0].close()
        writer.join(PATIENCE)
        assert not writer.is_alive()


def test_short_messages_need_no_thread() -> None:
    before = set(threading.enumerate())
    with connected() as ends:
        for number in range(100):
            ends.first.send("short", noise(number, 100))
            ends.second.receive("short", 100)
        assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    ("sent", "due", "error"),
    [
        (("step", 5), ("step", 6), WrongLength),
        (("step", 6), ("step", 5), WrongLength),
        (("other", 5), ("step", 5), WrongStep),
    ],
)
def test_departures_are_noticed_over_sockets(
    sent: tuple[str, int], due: tuple[str, int], error: type[Exception]
) -> None:
    with connected() as ends:
        ends.first.send(sent[0], bytes(sent[1]))
        with pytest.raises(error, match="party va, at step"):
            ends.second.receive(*due)


def test_errors_and_wires_show_nothing_of_what_they_carried() -> None:
    secret = b"the patient's row"
    with connected() as ends:
        ends.first.send("rows", secret)
        with pytest.raises(WrongLength) as caught:
            ends.second.receive("rows", 3)
        shown = [
            str(caught.value),
            repr(caught.value),
            repr(ends.first),
            repr(ends.wires[0]),
            repr(ends.wires[0]._rest),
        ]
    assert not re.search("patient", "".join(shown))
    assert caught.value.__cause__ is None
