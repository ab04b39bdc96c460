"""No bytes of a caller end in anything but an answer or an error with one of our codes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.transport.conversation import AHEAD, ASKING, NOW, TRAINING
from mixbayes.wire.v1.node_pb2 import RoundNumber
from tests.services.couple import NORTH, SOUTH, Couple, make_couple
from tests.services.helpers import HASTE, Site, make_site
from tests.services.malformed import Door, about, call, methods, requests

MISTAKE = "a mistake of this program"
STREAMS = ("Ask", "Talk")
HOSPITAL, MIXER_A, MIXER_B, PARTNER = "hospital", "mixer a", "mixer b", "partner"
DOORS = [
    (at, service, method.name)
    for at, service in [
        (HOSPITAL, "Party"),
        (MIXER_A, "Mixer"),
        (MIXER_B, "Mixer"),
        (MIXER_B, "Pair"),
        (PARTNER, "Pair"),
    ]
    for method in methods(service)
]
SERVICES = [door for door in DOORS if door[2] not in STREAMS]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Both mixers and one hospital's node, which wait for the other hospitals."""
    made = make_site(tmp_path_factory.mktemp("malformed") / "site", policy={"timeout": HASTE})
    with made.mixers(), made.hospital("north") as hospital:
        made.listens["north"] = f"127.0.0.1:{hospital.port}"
        yield made


@pytest.fixture(scope="module")
def couple(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Couple]:
    """The one of two hospitals that listens."""
    made = make_couple(tmp_path_factory.mktemp("malformed") / "couple", policy={"timeout": HASTE})
    with made.node(NORTH):
        yield made


def door(site: Site, couple: Couple, at: str, service: str, name: str) -> tuple[Site, Door]:
    (method,) = [method for method in methods(service) if method.name == name]
    if at == PARTNER:
        return couple.site, Door(SOUTH, couple.site.federation.party(NORTH).address or "", NORTH, method)
    if at == HOSPITAL:
        return site, Door("north", site.listens["north"], "north", method)
    mixer = at[-1]
    return site, Door("a" if service == "Pair" else "north", site.federation.mixer(mixer).address, mixer, method)


def without_mistakes(site: Site) -> bool:
    return not any(journal.says(MISTAKE) for journal in site.journals.values())


@pytest.mark.parametrize("which", SERVICES, ids=" ".join)
@given(data=st.data())
@settings(max_examples=25)
def test_calls_with_any_bytes(site: Site, couple: Couple, which: tuple[str, str, str], data: st.DataObject) -> None:
    there, found = door(site, couple, *which)
    ended = call(there, found, data.draw(requests(found.method)))
    assert ended.in_order, ended
    assert without_mistakes(there)


PURPOSES = st.sampled_from([ASKING, TRAINING, "", "x"])
WHOSE = st.sampled_from(["1", "2", "9" * 99, "-1", "0x1", NORTH, SOUTH, "a", "nobody"])
PIECES = st.lists(st.one_of(st.binary(max_size=50), st.just(b"\n\x04\x00\x00\x00\x00")), max_size=4)


def converse_with_any_bytes(site: Site, couple: Couple, at: str, data: st.DataObject) -> None:
    """All streams of a conversation at once, so that its work begins wherever the metadata allow it."""
    there, found = door(site, couple, at, *(("Mixer", "Ask") if at == MIXER_A else ("Pair", "Talk")))
    purpose, whose, key = data.draw(PURPOSES), data.draw(WHOSE), data.draw(st.uuids()).hex
    of_pair = [] if at == MIXER_A else [AHEAD]
    names = [NOW, *of_pair, *(["question", "question ahead"] if at == PARTNER and purpose == ASKING else [])]
    sent = [(about(key, name, purpose, whose), data.draw(PIECES)) for name in names]
    with ThreadPoolExecutor(len(sent)) as pool:
        calls = [pool.submit(call, there, found, pieces, metadata) for metadata, pieces in sent]
    for one in calls:
        assert one.result().in_order, one.result()
    assert without_mistakes(there)


@pytest.mark.parametrize("at", [MIXER_B, PARTNER])
@given(data=st.data())
@settings(max_examples=12)
def test_conversations_with_any_bytes(site: Site, couple: Couple, at: str, data: st.DataObject) -> None:
    converse_with_any_bytes(site, couple, at, data)


@given(data=st.data())
@settings(max_examples=2)
def test_questions_with_any_bytes(site: Site, couple: Couple, data: st.DataObject) -> None:
    """Each takes the whole agreed timeout: mixer b waits for the streams that the hospital does not open there."""
    converse_with_any_bytes(site, couple, MIXER_A, data)


def test_calls_that_say_nothing_of_what_they_are_for(site: Site, couple: Couple) -> None:
    for at, service, name in (one for one in DOORS if one[2] in STREAMS):
        ended = call(*door(site, couple, at, service, name), [])
        assert (ended.code, "does not say its" in ended.text) == ("E202", True), ended


def test_the_name_of_who_orders_a_round_has_an_end(site: Site, couple: Couple) -> None:
    """It stands in the audit trail, which takes no longer one."""
    order = RoundNumber(round=1, actor="x" * 5000).SerializeToString()
    ended = call(*door(site, couple, MIXER_B, "Pair", "CloseRound"), [order])
    assert (ended.code, "the name of who wants it is too long" in ended.text) == ("E201", True), ended
