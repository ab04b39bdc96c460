"""A server whose door somebody abuses: the abuse ends, it is named, and others are answered."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import grpc
import pytest

from mixbayes.node import repeated
from mixbayes.node.log import logger
from mixbayes.node.serving import admission, doorkeeper, server
from mixbayes.node.serving.admission import Admission
from mixbayes.node.serving.conduct import Allowance
from mixbayes.node.serving.greeting import greeting
from mixbayes.node.serving.server import Server
from mixbayes.transport.accepted import can_be_listed
from mixbayes.transport.status import error_from
from mixbayes.transport.tls import Credentials, for_client
from tests.services.helpers import PATIENCE, Site, make_site, wait_until
from tests.services.test_trust import Authority
from tests.transport.loopback import plain_bytes

SERVICE = "mixbayes.wire.v1.Test"
ANSWER, WAIT = f"/{SERVICE}/Answer", f"/{SERVICE}/Wait"
FEW = Allowance(3, 0)
listed = pytest.mark.skipif(not can_be_listed(), reason="this system does not list a process's open files")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("doors") / "site", policy={"timeout": 60.0})


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


class Service:
    """Answers one kind of call at once, and the other kind never."""

    def __init__(self) -> None:
        self.waiting = 0

    def answer(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        return b"here"

    def wait(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        over = threading.Event()
        context.add_callback(over.set)
        self.waiting += 1
        over.wait(PATIENCE)
        return b""

    def add(self, node: grpc.Server) -> None:
        methods = {"Answer": self.answer, "Wait": self.wait}
        made = {name: grpc.unary_unary_rpc_method_handler(act, None, plain_bytes) for name, act in methods.items()}
        node.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, made),))


@contextmanager
def serving(site: Site, said: io.StringIO, service: Service | None = None, **settings: Any) -> Iterator[Server]:
    guard = Admission("mixer a", site.federation, lambda name, service: True, logger("mixer a", said))
    services = [(service or Service()).add]
    with Server("127.0.0.1:0", site.identity("a").credentials, guard, services, [], **settings) as node:
        yield node


@contextmanager
def dialled(own: Credentials, node: Server) -> Iterator[grpc.Channel]:
    options = (("grpc.ssl_target_name_override", "a"), ("grpc.use_local_subchannel_pool", 1))
    with grpc.secure_channel(f"127.0.0.1:{node.port}", for_client(own), options) as channel:
        yield channel


def call(site: Site, channel: grpc.Channel, method: str = ANSWER) -> Any:
    return channel.unary_unary(method, plain_bytes, plain_bytes).future(
        b"x", timeout=PATIENCE, metadata=greeting(site.federation)
    )


def is_answered(site: Site, name: str, node: Server) -> bool:
    with dialled(site.credentials(name), node) as channel:
        return call(site, channel).result() == b"here"


def refused(site: Site, channel: grpc.Channel) -> str:
    with pytest.raises(grpc.RpcError) as told:
        call(site, channel).result()
    return str(error_from(cast("grpc.Call", told.value), "mixer a", "calling"))


def lines(said: io.StringIO, event: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, said.getvalue().splitlines()) if line["event"].startswith(event)]


def silent(node: Server, source: str = "127.0.0.2") -> socket.socket:
    return socket.create_connection(("127.0.0.1", node.port), PATIENCE, (source, 0))


def test_a_handshake_ends_in_seconds(site: Site, said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """By gRPC itself: nobody looks here."""
    monkeypatch.setattr(server, "HANDSHAKE", 0.3)
    monkeypatch.setattr(doorkeeper, "can_be_listed", lambda: False)
    with serving(site, said) as node, silent(node) as stranger:
        assert stranger.recv(1) == b""


@listed
def test_silent_connections_go_for_newcomers(site: Site, said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_OF_SITE", 2)
    with serving(site, said) as node:
        strangers = [silent(node) for _ in range(6)]
        wait_until(lambda: len(lines(said, "connections without")) > 0, "it is said")
        assert is_answered(site, "north", node)
        assert "127.0.0.2" in lines(said, "connections without")[0]["address"]
        for stranger in strangers:
            stranger.close()


def test_as_many_members_as_there_are_may_dial_from_one_address_and_half_of_the_room_is_for_those_admitted() -> None:
    few, many, crowded = (server.house_rules(*about, 10.0) for about in ((3, 6000), (1000, 6000), (1000, 300)))
    assert (few.of_site, few.of_all) == (128, 1024)
    assert (many.of_site, many.of_all) == (1000, 2000)
    assert (crowded.of_site, crowded.of_all) == (150, 150)


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers may waste three calls."""
    for role in ("party", None):
        monkeypatch.setitem(cast("dict[str | None, Allowance]", admission._ALLOWANCES), role, FEW)


@pytest.mark.usefixtures("strict")
def test_a_hospital_that_breaks_off_its_calls_is_shut_out_and_named(site: Site, said: io.StringIO) -> None:
    service = Service()
    with serving(site, said, service) as node, dialled(site.credentials("south"), node) as channel:
        for number in range(1, 5):
            begun = call(site, channel, WAIT)
            wait_until(lambda number=number: service.waiting == number, "the call is there")
            begun.cancel()
            del begun
        wait_until(lambda: bool(lines(said, "shut out")), "it is shut out")
        assert refused(site, channel)
        assert is_answered(site, "north", node)
    assert [line["caller"] for line in lines(said, "shut out")] == ["party south"]


@pytest.mark.usefixtures("strict")
def test_whoever_is_not_listed_is_shut_out_after_a_few_calls(
    site: Site, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated, "EVERY", 0.0)  # so that every refusal has a line
    stranger = Authority.of(site).signed("stranger")
    with serving(site, said) as node, dialled(stranger, node) as channel:
        for _ in range(4):
            assert "who is not listed in the agreement" in refused(site, channel)
        wait_until(lambda: bool(lines(said, "shut out")), "it is shut out")
        for _ in range(20):
            refused(site, channel)
        assert is_answered(site, "north", node)
    assert [line["caller"] for line in lines(said, "shut out")] == ["'stranger', who is not listed"]
    assert len(lines(said, "refused")) == 4


@listed
@pytest.mark.usefixtures("strict")
def test_the_connection_of_whoever_is_shut_out_ends(site: Site, said: io.StringIO) -> None:
    states: list[grpc.ChannelConnectivity] = []
    with serving(site, said) as node, dialled(Authority.of(site).signed("stranger"), node) as channel:
        for _ in range(4):
            refused(site, channel)
        channel.subscribe(states.append)
        wait_until(lambda: grpc.ChannelConnectivity.IDLE in states, "the connection has ended")


@pytest.mark.usefixtures("strict")
def test_without_a_listing_whoever_is_shut_out_is_told_so(
    site: Site, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doorkeeper, "can_be_listed", lambda: False)
    with serving(site, said) as node, dialled(Authority.of(site).signed("stranger"), node) as channel:
        for _ in range(4):
            refused(site, channel)
        wait_until(lambda: bool(lines(said, "shut out")), "it is shut out")
        assert "is shut out for 10 more seconds" in refused(site, channel)


@pytest.mark.usefixtures("strict")
def test_calls_that_are_answered_are_no_waste(site: Site, said: io.StringIO) -> None:
    with serving(site, said) as node, dialled(site.credentials("south"), node) as channel:
        assert [call(site, channel).result() for _ in range(20)] == [b"here"] * 20


def test_a_connection_has_only_so_many_calls_open(site: Site, said: io.StringIO) -> None:
    """The others wait at the caller's own end: none of them takes a thread or memory here."""
    service = Service()
    with serving(site, said, service, streams=2) as node, dialled(site.credentials("south"), node) as channel:
        assert call(site, channel).result() == b"here"  # the caller knows the limit now
        begun = [call(site, channel, WAIT) for _ in range(4)]
        wait_until(lambda: service.waiting == 2, "two calls are there")
        begun[0].cancel()
        wait_until(lambda: service.waiting == 3, "one more takes its place")
        for one in begun:
            one.cancel()


def test_more_connections_than_files_allow_are_not_taken(
    site: Site, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By gRPC itself: nobody looks here, and no handshake ends."""
    monkeypatch.setattr(server, "for_connections", lambda limit: 1)
    monkeypatch.setattr(server, "HANDSHAKE", 60.0)
    monkeypatch.setattr(doorkeeper, "can_be_listed", lambda: False)
    with serving(site, said) as node, silent(node), silent(node) as second:
        second.settimeout(30)
        assert second.recv(1) == b""
