import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol import memory
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.errors import PeerGone, PeerSilent, Reuse, WrongLength, WrongStep
from tests.protocol.pairs import Ends, converse

HEADER = 16

steps = st.text(max_size=20)
payloads = st.binary(max_size=100)
verbs = st.sampled_from(["first sends", "second sends", "both swap"])


@given(st.lists(st.tuples(verbs, steps, payloads, payloads), max_size=8))
def test_messages_arrive_as_they_were_sent(script: list[tuple[str, str, bytes, bytes]]) -> None:
    ends = Ends()

    def role(channel: Channel, name: str) -> list[bytes]:
        heard = []
        for verb, step, of_first, of_second in script:
            mine, theirs = (of_first, of_second) if name == "first" else (of_second, of_first)
            if verb == "both swap":
                heard.append(channel.swap(step, mine, len(theirs)).tobytes())
            elif verb.startswith(name):
                channel.send(step, mine)
            else:
                heard.append(channel.receive(step, len(theirs)).tobytes())
        return heard

    heard_first, heard_second = converse([ends], lambda: role(ends.first, "first"), lambda: role(ends.second, "second"))
    assert heard_first == [second for verb, _, _, second in script if verb != "first sends"]
    assert heard_second == [first for verb, _, first, _ in script if verb != "second sends"]
    sent = sum(HEADER + len(first) for verb, _, first, _ in script if verb != "second sends")
    received = sum(HEADER + len(second) for verb, _, _, second in script if verb != "first sends")
    assert (ends.first.traffic.sent, ends.first.traffic.received) == (sent, received)
    assert (ends.second.traffic.sent, ends.second.traffic.received) == (received, sent)
    assert ends.first.traffic.rounds == ends.second.traffic.rounds == slow_rounds([s[0] for s in script])


def test_swaps_that_are_started_together_are_one_round_and_may_be_finished_in_any_order() -> None:
    ends = Ends()

    def role(channel: Channel, name: bytes) -> list[bytes]:
        finish = [channel.start_swap(f"step {i}", name * i) for i in (1, 2, 3)]
        return [finish[i]().tobytes() for i in (1, 0, 2, 1)]

    heard = converse([ends], lambda: role(ends.first, b"a"), lambda: role(ends.second, b"b"))
    assert heard == [[b"bb", b"b", b"bbb", b"bb"], [b"aa", b"a", b"aaa", b"aa"]]
    for channel in (ends.first, ends.second):
        assert channel.traffic.rounds == 1
        assert channel.traffic.sent == channel.traffic.received == 3 * HEADER + 6


def test_what_is_due_of_a_swap_comes_before_the_next_message() -> None:
    ends = Ends()
    finish = ends.first.start_swap("swapped", b"mine")
    ends.second.start_swap("swapped", b"your")
    ends.second.send("next", b"last")
    assert ends.first.receive("next", 4).tobytes() == b"last"
    assert finish().tobytes() == b"your"


def test_swap_that_failed_is_not_finished_later() -> None:
    ends = Ends()
    finish = ends.first.start_swap("step", b"mine")
    ends.second.send("another step", b"your")
    with pytest.raises(WrongStep):
        finish()
    with pytest.raises(Reuse):
        finish()


def slow_rounds(verbs: list[str]) -> int:
    """A swap is a round; so is every run of messages in one direction."""
    runs = [verb for verb, before in zip(verbs, ["", *verbs], strict=False) if verb != before]
    return verbs.count("both swap") + len([verb for verb in runs if verb != "both swap"])


@pytest.mark.parametrize(
    "payload",
    [
        bytes(range(24)),
        bytearray(range(24)),
        memoryview(bytes(range(24))),
        np.arange(24, dtype=np.uint8),
        np.arange(24, dtype=np.uint8).view(np.uint64),
        np.arange(48, dtype=np.uint8)[:24].reshape(4, 6),
    ],
    ids=["bytes", "bytearray", "memoryview", "array", "words", "rows"],
)
def test_every_kind_of_buffer_travels_as_its_bytes(payload: Buffer) -> None:
    ends = Ends()
    ends.first.send("step", payload)
    assert ends.second.receive("step", 24).tobytes() == bytes(range(24))
    traffic = ends.first.traffic
    assert (traffic.sent, traffic.received, traffic.rounds) == (40, 0, 1)


def test_what_arrived_can_be_written_to() -> None:
    ends = Ends()
    ends.first.send("step", bytes(8))
    arrived = ends.second.receive("step", 8)
    arrived[:] = 1
    assert arrived.sum() == 8


def test_peer_is_the_other_one() -> None:
    first, second = memory.channels("mixer a", "mixer b")
    assert (first.peer, second.peer) == ("mixer b", "mixer a")


def test_both_may_write_much_before_either_reads() -> None:
    ends, much = Ends(), bytes(2**22)
    first, second = converse([ends], lambda: ends.first.swap("step", much), lambda: ends.second.swap("step", much))
    assert first.size == second.size == 2**22


def test_silence_ends_at_the_deadline() -> None:
    ends = Ends(deadline=0.5)
    with pytest.raises(PeerSilent, match="party B, at step"):
        ends.first.receive("step", 1)


def test_peer_that_stopped_is_gone_once_its_messages_are_read() -> None:
    ends = Ends()
    ends.first.send("step", b"last")
    ends.cut()
    assert ends.second.receive("step", 4).tobytes() == b"last"
    with pytest.raises(PeerGone, match="party A, at next step"):
        ends.second.receive("next step", 1)


def test_together_returns_what_every_role_returns() -> None:
    assert memory.together(lambda: 1, lambda: "two", lambda: None) == [1, "two", None]


def test_together_raises_the_cause_and_not_what_followed_from_it() -> None:
    ends = Ends()

    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        converse([ends], lambda: ends.first.receive("step", 1), fails)


def test_together_leaves_no_thread_behind() -> None:
    before = set(threading.enumerate())
    memory.together(*[threading.active_count] * 5)
    assert set(threading.enumerate()) <= before


def test_broken_conversation_does_not_go_on() -> None:
    """A late answer to a step that was given up must not pass for the answer to the next one."""
    first, second = memory.channels("mixer a", "mixer b", deadline=0.5)
    with pytest.raises(PeerSilent):
        first.swap("carry", b"old")
    second.send("carry", b"old")
    for verb in (lambda: first.swap("carry", b"new"), lambda: first.send("carry", b"new")):
        with pytest.raises(Reuse, match="mixer b"):
            verb()


def test_conversation_that_was_closed_does_not_go_on() -> None:
    ends = Ends()
    ends.first.close()
    with pytest.raises(Reuse, match="party B"):
        ends.first.send("step", b"1")


class Interrupted:
    """A wire at which this program is told to end."""

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        raise SystemExit

    def read(self, into: memoryview, step: str) -> None:
        raise SystemExit

    def close(self) -> None:
        pass


def test_interrupted_conversation_does_not_go_on() -> None:
    channel = Channel("party B", Interrupted())
    with pytest.raises(SystemExit):
        channel.receive("step", 1)
    with pytest.raises(Reuse, match="party B"):
        channel.receive("step", 1)


def test_message_of_another_step_is_refused() -> None:
    ends = Ends()
    ends.first.send("another step", b"1")
    with pytest.raises(WrongStep, match="party A, at step: a message of another step came"):
        ends.second.receive("step", 1)


def test_message_that_comes_twice_is_refused() -> None:
    ends = Ends()
    for channel in (ends.first, Channel("party B", ends.wires[0])):
        channel.send("step", b"1")
    ends.second.receive("step", 1)
    with pytest.raises(WrongStep, match="party A, at step: message 0 came where message 1 was due"):
        ends.second.receive("step", 1)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_message_of_another_length_is_refused(size: int) -> None:
    ends = Ends()
    ends.first.send("step", bytes(size))
    with pytest.raises(WrongLength, match=f"party A, at step: {size} bytes came where 2 were due"):
        ends.second.receive("step", 2)
