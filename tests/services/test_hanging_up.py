"""Hospitals that hang up, in whatever step: the mixers notice, free everything, and answer the others meanwhile."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from mixbayes.node.serving.conversations import Conversations
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.channel import Buffer, Channel, Wire
from mixbayes.protocol.errors import MixbayesError, PeerSilent, WrongStep
from mixbayes.tables.encoding import encode_query
from mixbayes.transport import streams
from mixbayes.transport.conversation import ASKING, conversation
from mixbayes.transport.errors import RefusedByPolicy
from mixbayes.wire.v1.node_pb2_grpc import MixerStub
from tests.services.helpers import HASTE, PATIENCE, Site, at_work, descriptors, hurry, make_site, wait_until

SOON = 6.0
"""Seconds that a mixer waits for the other one, where a hospital spoke to one of them alone before it died."""


class HungUp(Exception):
    """The hospital's program has died here."""


class Counting(Wire):
    """Counts what is said and heard in one conversation, and dies at one of these steps."""

    def __init__(self, wire: Wire, steps: Iterator[int], last: int) -> None:
        self._wire, self._steps, self._last = wire, steps, last

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        self._count()
        self._wire.write(parts, step)

    def read(self, into: memoryview, step: str) -> None:
        self._count()
        self._wire.read(into, step)

    def close(self) -> None:
        self._wire.close()

    def _count(self) -> None:
        if next(self._steps) == self._last:
            raise HungUp


class Dying:
    """Both mixers, as a hospital has them whose program dies in the middle. `politely`: it still closes its streams."""

    def __init__(self, mixers: BothMixers, last: int = -1, *, politely: bool = False) -> None:
        self._mixers = mixers
        self._last = last
        self._politely = politely
        self.steps = itertools.count()

    @contextmanager
    def conversation(self) -> Iterator[tuple[Channel, Channel]]:
        with ExitStack() as stack:
            both = stack.enter_context(self._mixers.conversation())
            for channel in both:
                channel._wire = Counting(channel._wire, self.steps, self._last)
            try:
                yield both
            except BaseException:
                if self._politely:
                    stack.close()
                raise


def ask(site: Site, mixers: Dying, rows: int = 3, *, private: bool) -> None:
    dictionary = site.federation.dictionary
    codes = encode_query(dictionary, site.tables["south"].take(np.arange(rows))).codes
    numbered = numbering(site.identity("north").seal)
    asking = Asking(mixers, Layout(dictionary), numbered)  # type: ignore[arg-type]  # a conversation is all it wants
    try:
        list(asking.labels(1, codes, private=private))
    finally:
        asking.close()


def threads() -> int:
    """Without those of gRPC's pool, which keeps as many as it ever needed at once."""
    return sum(not thread.name.startswith("grpc_") for thread in threading.enumerate())


@pytest.mark.parametrize("politely", [False, True], ids=["abruptly", "politely"])
@pytest.mark.parametrize("private", [True, False], ids=["private", "public"])
def test_in_every_step_of_a_question(
    serving: Site, private: bool, politely: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_FAREWELL", HASTE)
    with serving.both("north") as both, monkeypatch.context() as patch:
        hurry(patch, "mixer a", "mixer b", within=SOON)
        whole = Dying(both)
        ask(serving, whole, private=private)
        steps = next(whole.steps)
        assert steps > (18 if private else 10)
        before, files = threads(), descriptors()
        for last in range(0, steps, 5 if politely else 3):
            with pytest.raises(HungUp):
                ask(serving, Dying(both, last, politely=politely), private=private)
        wait_until(lambda: not at_work(), "no mixer works on what nobody waits for")
    assert not any(journal.says("mistake") for journal in serving.journals.values())
    rows = serving.tables["west"]
    assert serving.labels("south", rows, private=private) == serving.expected(rows)
    wait_until(lambda: descriptors() <= files + 8, "files and connections are closed")
    wait_until(lambda: threads() <= before + 24, "threads end")


def test_streams_that_are_opened_and_never_continued(hasty: Site) -> None:
    """The mixer that waits for the other one gives them up after the agreed time, and names who did not come."""
    before = threads()
    with hasty.dialled("north", "b") as peer, ThreadPoolExecutor(4) as pool:
        peer.deadline = PATIENCE

        def one(key: str) -> MixbayesError:
            with (
                pytest.raises(MixbayesError) as told,
                conversation(peer, MixerStub(peer.channel).Ask, ("now",), ASKING, "", key) as (line,),
            ):
                line.receive("anything", 1)
            return told.value

        errors = list(pool.map(one, (secrets.token_hex(8) for _ in range(4))))
    for error in errors:
        assert isinstance(error, PeerSilent)
        assert f"mixer a, at joining a conversation: it did not join within {HASTE:g} s" in str(error)
    wait_until(lambda: threads() <= before + 12 and not at_work(), "they are forgotten")


def test_too_many_conversations_of_one_hospital(tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", policy={"timeout": PATIENCE})
    with suppress(HungUp), site.mixer("b"), ExitStack() as stack:
        peers = {name: stack.enter_context(site.dialled(name, "b")) for name in ("north", "south")}

        def open_one(name: str, key: str) -> Channel:
            method = MixerStub(peers[name].channel).Ask
            return stack.enter_context(conversation(peers[name], method, ("now",), ASKING, "", key))[0]

        def refused(name: str) -> bool:
            """Or not yet: streams arrive in no order."""
            try:
                open_one(name, secrets.token_hex(8)).receive("anything", 1)
            except RefusedByPolicy as error:
                return "north has 8 conversations open already" in str(error)
            return False

        for number in range(8):
            open_one("north", f"key {number}")
        wait_until(lambda: len(timers_of_mixers()) >= 8, "all have arrived")
        assert refused("north")
        open_one("south", "key")
        wait_until(lambda: len(timers_of_mixers()) >= 9, "another hospital is let in")
        raise HungUp  # so that nobody waits for a last word


def timers_of_mixers() -> list[threading.Timer]:
    """Every conversation that is not complete has one."""
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    return [timer for timer in timers if timer.function.__name__ == Conversations._late.__name__]


def test_one_channel_opened_twice(serving: Site) -> None:
    with (
        serving.dialled("north", "b") as north,
        conversation(north, MixerStub(north.channel).Ask, ("now", "now"), ASKING, "", "key") as ends,
        ThreadPoolExecutor(2) as pool,
    ):
        heard = [pool.submit(end.receive, "x", 1) for end in ends]
        wait(heard, PATIENCE, FIRST_COMPLETED)
        for timer in timers_of_mixers():
            timer.function(*timer.args)  # the time is over for who came first
        errors = [one.exception(PATIENCE) for one in heard]
    assert {type(error) for error in errors} == {WrongStep, PeerSilent}
    twice = next(error for error in errors if isinstance(error, WrongStep))
    assert "party north, at joining a conversation: it opens a channel twice" in str(twice)


@pytest.mark.parametrize("channel", ["later", "ahead", "mixer now", "", "x" * 101])
def test_a_channel_that_does_not_exist(serving: Site, channel: str) -> None:
    with (
        serving.dialled("north", "b") as north,
        pytest.raises(WrongStep),
        conversation(north, MixerStub(north.channel).Ask, (channel,), ASKING, "", "key") as (line,),
    ):
        line.receive("anything", 1)


def test_one_that_dies_holds_up_no_other(serving: Site) -> None:
    """Three hospitals ask at once, and one of them dies again and again."""
    rows = serving.tables["west"]
    stopped = threading.Event()

    def die() -> int:
        with serving.both("north") as both:
            for number in itertools.count(5):
                if stopped.is_set():
                    return number - 5
                with suppress(HungUp, RefusedByPolicy):  # its dead conversations count until they are found out
                    ask(serving, Dying(both, number % 18), private=True)
        return 0

    with ThreadPoolExecutor(3) as pool:
        dying = pool.submit(die)
        answered = [pool.submit(serving.labels, name, rows) for name in ("south", "west") for _ in range(3)]
        try:
            for answer in answered:
                assert answer.result(PATIENCE) == serving.expected(rows)
        finally:
            stopped.set()
        assert dying.result(PATIENCE) > 0
    wait_until(lambda: not at_work(), "nobody works for the dead")


def test_a_question_that_was_charged_stays_charged(serving: Site) -> None:
    before = serving.status("north").budget_left
    with serving.both("north") as both:
        for last in (6, 12):
            with suppress(HungUp):
                ask(serving, Dying(both, last), private=True)
    wait_until(lambda: not at_work(), "both have done")
    after = serving.status("north").budget_left
    assert before - 3 * 2 <= after < before
