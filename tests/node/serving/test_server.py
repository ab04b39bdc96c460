"""A node's server: where it listens, how it is reached through firewalls, and what it does not take."""

from __future__ import annotations

import threading
from pathlib import Path

import grpc
import pytest

from mixbayes.node.log import logger
from mixbayes.node.serving import server
from mixbayes.node.serving.admission import Admission
from mixbayes.node.serving.server import Server
from mixbayes.transport import peer
from mixbayes.transport.errors import CannotServe
from tests.ports import free_port
from tests.services.helpers import PATIENCE, Site, make_site
from tests.transport.loopback import plain_bytes


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("server") / "site")


def made(site: Site, address: str) -> Server:
    admission = Admission("mixer a", site.federation, lambda name, service: True, logger("mixer a"))
    return Server(address, site.identity("a").credentials, admission, [], [])


def test_a_port_of_its_own(site: Site) -> None:
    with made(site, "127.0.0.1:0") as first, made(site, "127.0.0.1:0") as second:
        assert 0 < first.port != second.port > 0


def test_a_port_that_is_taken_is_not_shared(site: Site) -> None:
    """Else each of two nodes would get half of the calls."""
    with (
        made(site, "127.0.0.1:0") as first,
        pytest.raises(CannotServe, match=rf"Nothing can listen on 127\.0\.0\.1:{first.port}: .* --listen") as told,
    ):
        made(site, f"127.0.0.1:{first.port}")
    assert (told.value.code, told.value.exit_code) == ("E122", 1)


@pytest.mark.parametrize("address", ["240.0.0.1:7443", "nobody.invalid:7443"])
def test_an_address_that_is_not_of_this_machine(site: Site, address: str) -> None:
    with pytest.raises(CannotServe, match="the address is not of this machine"):
        made(site, address)


def test_an_ipv6_address(site: Site) -> None:
    with made(site, "[::1]:0") as listening:
        assert listening.port > 0


def test_idle_connections_are_kept_alive_at_both_ends() -> None:
    """Some firewalls forget them after four minutes; and a server that is not told takes pings for an attack."""
    dialling, answering = dict(peer.KEEP_ALIVE), dict(server._OPTIONS)
    for end in (dialling, answering):
        assert end["grpc.keepalive_time_ms"] <= 200_000
        assert end["grpc.keepalive_timeout_ms"] == end["grpc.http2.ping_timeout_ms"] <= 20_000
        assert end["grpc.keepalive_permit_without_calls"] == 1
    assert answering["grpc.http2.min_ping_interval_without_data_ms"] <= dialling["grpc.keepalive_time_ms"]
    assert dict(peer.LIMITS)["grpc.http2.max_pings_without_data"] == 0


def test_a_node_that_was_away_is_dialled_again_soon() -> None:
    attempt, pause = (dict(peer._DIAL_AGAIN)[f"grpc.{which}_reconnect_backoff_ms"] for which in ("min", "max"))
    assert attempt + pause < 5_000


def test_ends_with_what_was_open_ended(site: Site, tmp_path: Path) -> None:
    port = free_port()
    for _ in range(2):
        with made(site, f"127.0.0.1:{port}"):
            pass
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel, pytest.raises(grpc.RpcError):
        channel.unary_unary("/x/y", plain_bytes, plain_bytes)(b"", timeout=60)


def test_a_moment_without_threads_loses_no_call_and_ends_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with server._Pool(1) as pool, monkeypatch.context() as moment:
        moment.setattr(threading.Thread, "start", no_more)
        first = pool.submit(lambda: "first")
        moment.undo()
        assert pool.submit(lambda: "second").result(PATIENCE) == "second"
        assert first.result(PATIENCE) == "first"


def no_more(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")
