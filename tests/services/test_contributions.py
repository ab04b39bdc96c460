"""What hospitals send to be counted: once, whole, theirs, and of this round; anything else is refused and named."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.node.disk.audit import entries
from mixbayes.node.serving import admission
from mixbayes.protocol.errors import MixbayesError, OutOfRange, PeerError, WrongLength
from mixbayes.transport.errors import AlreadyContributed, RoundOver, TooEarly
from mixbayes.transport.peer import chunks, joined
from mixbayes.transport.status import error_from
from mixbayes.wire.v1.node_pb2 import Chunk
from mixbayes.wire.v1.node_pb2_grpc import MixerStub
from tests.services.helpers import PATIENCE, Site, make_site, wait_until


@pytest.fixture(scope="module")
def collecting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = make_site(tmp_path_factory.mktemp("collecting") / "site")
    with site.mixers():
        yield site


def test_the_same_bytes_are_acknowledged_again_and_others_refused(site: Site) -> None:
    with site.mixers():
        first, second = site.message("north"), site.message("north")
        for mixer, one, other in (("a", first.to_a, second.to_a), ("b", first.to_b, second.to_b)):
            assert site.hand_in("north", mixer, one) == first.id
            assert site.hand_in("north", mixer, one) == first.id
            with pytest.raises(AlreadyContributed, match=rf"mixer {mixer} says: party north has contributed") as told:
                site.hand_in("north", mixer, other)
            assert (told.value.code, told.value.exit_code) == ("E232", 5)
            assert site.journals[mixer].says("refused", "E232", "party north")
        assert site.status("north").contributed == ["north"]


def test_a_replay_after_the_round_has_gone_on_changes_nothing(serving: Site) -> None:
    """Whoever has kept an old message cannot put it into a later round, nor take the answer that it once got."""
    old = serving.message("north", 1)
    with pytest.raises(AlreadyContributed):
        serving.hand_in("north", "a", old.to_a)
    with serving.both("north") as both:
        both.close_round(1)
        both.open_round(2)
    with pytest.raises(AlreadyContributed):
        serving.hand_in("north", "a", old.to_a)
    assert serving.status("north").contributed == []


@pytest.mark.parametrize("mixer", ["a", "b"])
def test_a_round_that_is_sealed_takes_no_more(site: Site, mixer: str) -> None:
    two = site.other(policy={"minimum": 2, "collect_hours": 1e-6})
    with two.mixers():
        for name in ("north", "south"):
            made = two.message(name)
            two.hand_in(name, "a", made.to_a)
            two.hand_in(name, "b", made.to_b)
        two.wait_for("serving")
        with pytest.raises(RoundOver, match="What comes now belongs to another round") as told:
            two.hand_in("west", mixer)
        assert told.value.exit_code == 5
        status = two.status("west")
        assert (status.contributed, status.missing) == (["north", "south"], ["west"])


@pytest.mark.parametrize(("number", "kind"), [(2, TooEarly), (2**32 - 1, TooEarly), (0, RoundOver)])
def test_of_another_round(collecting: Site, number: int, kind: type[MixbayesError]) -> None:
    made = collecting.message("south", number)
    for mixer, message in (("a", made.to_a), ("b", made.to_b)):
        with pytest.raises(kind, match=f"mixer {mixer} is at round 1"):
            collecting.hand_in("south", mixer, message)


def test_of_another_agreement(collecting: Site) -> None:
    """The greeting is right, the message is not."""
    made = collecting.other(policy={"budget": 7}).message("south")
    for mixer, message in (("a", made.to_a), ("b", made.to_b)):
        with pytest.raises(
            PeerError, match="party south, at contribution: it was made under another agreement"
        ) as told:
            collecting.hand_in("south", mixer, message)
        assert told.value.exit_code == 3


def test_of_another_hospital(collecting: Site) -> None:
    with pytest.raises(OutOfRange, match="it speaks for another hospital"):
        collecting.hand_in("south", "a", collecting.message("north").to_a)


def test_the_share_for_the_other_mixer(collecting: Site) -> None:
    made = collecting.message("south")
    with pytest.raises(WrongLength):
        collecting.hand_in("south", "a", made.to_b)
    with pytest.raises(WrongLength, match="it is the share that is meant for the other mixer"):
        collecting.hand_in("south", "b", made.to_a)


@given(cut=st.integers(0, 10_000), raw=st.binary(max_size=300), where=st.integers(0, 3))
@settings(max_examples=60)
def test_cut_lengthened_or_garbled_bytes_are_refused(collecting: Site, cut: int, raw: bytes, where: int) -> None:
    whole = collecting.message("south").to_b
    cut %= len(whole)
    message = (whole[:cut], whole + raw + b"!", raw, whole[:cut] + raw + whole[cut:])[where]
    if message == whole:
        return
    with pytest.raises(PeerError) as told:
        collecting.hand_in("south", "b", message)
    assert told.value.exit_code == 3
    assert told.value.peer == "party south"


def test_longer_than_any_that_is_due(collecting: Site) -> None:
    with pytest.raises(WrongLength, match="party south, at contribution: it is longer than the dictionary makes it"):
        collecting.hand_in("south", "b", bytes(5 << 20))


def test_fields_that_nobody_knows_make_it_longer_and_are_refused(collecting: Site) -> None:
    """Else the same contribution would have many forms, and a replay would look new."""
    message = collecting.message("south").to_b + bytes([0x7A, 4]) + b"more"
    with pytest.raises(PeerError):
        collecting.hand_in("south", "b", message)


def test_a_message_that_never_ends_holds_no_thread_for_ever(hasty: Site) -> None:
    """The caller gives no deadline of its own, so the mixer must have one."""
    with hasty.dialled("west", "b") as peer:
        contribute = MixerStub(peer.channel.now()).Contribute
        waiting = _Endless()
        call = contribute.future(iter(waiting), metadata=peer._header)  # type: ignore[attr-defined]
        wait_until(call.done, "the mixer ended the call")
        waiting.stopped.set()
        journal = hasty.journals["b"]
        wait_until(lambda: journal.says("party west", "Contribute"), "its thread is free again")


class _Endless:
    """A first piece, and no other."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def __iter__(self) -> Iterator[Chunk]:
        yield Chunk(data=b"x")
        self.stopped.wait(2 * PATIENCE)


def test_whoever_hangs_up_in_the_middle_is_no_mistake_of_the_mixer(collecting: Site) -> None:
    with collecting.dialled("west", "b") as peer:
        contribute = MixerStub(peer.channel.now()).Contribute

        def noticed() -> bool:
            waiting = _Endless()
            call = contribute.future(iter(waiting), metadata=peer._header)  # type: ignore[attr-defined]
            time.sleep(0.05)  # so that it has probably begun
            call.cancel()
            waiting.stopped.set()
            return collecting.journals["b"].says("hung up", "party west")

        wait_until(noticed, "mixer b has noticed")
    assert not collecting.journals["b"].says("mistake")


def test_one_hospital_has_not_all_the_threads(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more calls open than it may, it is refused, and the others are answered."""
    monkeypatch.setattr(admission, "MOST_CALLS", 5)
    with site.mixers(), site.dialled("west", "a") as peer:
        contribute = MixerStub(peer.channel.now()).Contribute
        waiting = [_Endless() for _ in range(8)]
        calls = [contribute.future(iter(one), metadata=peer._header) for one in waiting]  # type: ignore[attr-defined]
        wait_until(lambda: sum(call.done() for call in calls) >= 3, "some are refused")
        refused = [error_from(call, "mixer a", "x") for call in calls if call.done()]
        assert any("mixer a says: party west has 5 calls open here already" in str(error) for error in refused)
        assert site.status("south").state == "collecting"
        for one in waiting:
            one.stopped.set()
        for call in calls:
            call.cancel()
        wait_until(lambda: site.asks("west"), "west is answered again")


def test_what_is_counted_is_in_the_audit_trail(site: Site) -> None:
    with site.mixers():
        site.hand_in("north", "a")
    told = [(record.entry.actor, record.entry.verb) for record in entries(site.state("a"))]
    assert ("party north", "contributed") in told


def test_pieces_are_joined_whatever_their_sizes() -> None:
    message = bytes(range(256)) * 20_000
    assert joined(chunks(message), len(message)) == message
    assert joined(chunks(message), len(message) - 1) is None
    assert joined(iter([]), 0) == b""
    assert joined(iter([Chunk(), Chunk(data=b"a"), Chunk()]), 1) == b"a"
