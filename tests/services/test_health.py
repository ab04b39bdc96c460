"""What gRPC tools see of a node: its health, its services if they may be listed, and nothing without a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from mixbayes.node.serving import server
from mixbayes.transport.tls import Credentials, for_client
from tests.services.helpers import PATIENCE, Site, wait_until
from tests.services.test_trust import Authority
from tests.transport.loopback import plain_bytes

SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


@contextmanager
def tool(own: Credentials, name: str, port: int) -> Iterator[grpc.Channel]:
    """As a monitoring program dials, which knows nothing of this protocol."""
    options = (("grpc.ssl_target_name_override", name),)
    with grpc.secure_channel(f"127.0.0.1:{port}", for_client(own), options) as channel:
        yield channel


def stub(channel: grpc.Channel) -> Any:
    return HealthStub(channel)  # its published types know no methods


def health(channel: grpc.Channel, service: str = "") -> int:
    status: int = stub(channel).Check(HealthCheckRequest(service=service), timeout=PATIENCE).status
    return status


@pytest.mark.parametrize("caller", ["north", "a", "b"])
def test_members_see_that_it_serves(site: Site, caller: str) -> None:
    with site.mixer("b") as mixer, tool(site.credentials(caller), "b", mixer.port) as channel:
        for service in ("", "mixbayes.wire.v1.Mixer", "mixbayes.wire.v1.Pair"):
            assert health(channel, service) == SERVING
        with pytest.raises(grpc.RpcError) as refused:
            health(channel, "mixbayes.wire.v1.Party")
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def test_strangers_see_nothing(site: Site) -> None:
    with (
        site.mixer("b") as mixer,
        tool(Authority.of(site).signed("stranger"), "b", mixer.port) as channel,
        pytest.raises(grpc.RpcError) as refused,
    ):
        health(channel)
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert "E207" in (refused.value.details() or "")


def test_whoever_watches_sees_the_end(site: Site) -> None:
    """And does not hold it up."""
    with site.mixer("b") as mixer, tool(site.credentials("north"), "b", mixer.port) as channel:
        watch = stub(channel).Watch(HealthCheckRequest(), timeout=PATIENCE)
        assert next(watch).status == SERVING
    seen: list[int] = []
    with suppress(grpc.RpcError):
        seen.extend(answer.status for answer in watch)
    assert seen in ([], [NOT_SERVING])
    assert not watch.is_active()


def test_a_node_that_stops_says_so_first(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_GRACE", PATIENCE)
    with ThreadPoolExecutor(1) as pool, ExitStack() as running:
        mixer = running.enter_context(site.mixer("b"))
        with tool(site.credentials("north"), "b", mixer.port) as channel:
            watch = stub(channel).Watch(HealthCheckRequest(), timeout=PATIENCE)
            assert next(watch).status == SERVING
            stopping = pool.submit(running.close)
            assert next(watch).status == NOT_SERVING
        stopping.result(PATIENCE)


def listed(channel: grpc.Channel) -> set[str]:
    return set(ProtoReflectionDescriptorDatabase(channel).get_services())


def test_services_are_listed_if_it_is_asked_to(site: Site) -> None:
    with site.mixer("b", reflection=True) as mixer, tool(site.credentials("north"), "b", mixer.port) as channel:
        assert listed(channel) == {
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
            "mixbayes.wire.v1.Mixer",
            "mixbayes.wire.v1.Pair",
        }


def test_services_are_not_listed_by_default(site: Site) -> None:
    with (
        site.mixer("b") as mixer,
        tool(site.credentials("north"), "b", mixer.port) as channel,
        pytest.raises(grpc.RpcError) as refused,
    ):
        listed(channel)
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_hospitals_node_has_its_health_too(serving: Site) -> None:
    with serving.hospital("north") as node, tool(serving.credentials("north"), "north", node.port) as channel:
        assert health(channel) == health(channel, "mixbayes.wire.v1.Party") == SERVING


def test_a_call_that_nobody_knows(site: Site) -> None:
    with site.mixer("b") as mixer, tool(site.credentials("north"), "b", mixer.port) as channel:
        call = channel.unary_unary("/mixbayes.wire.v1.Mixer/Everything", plain_bytes, plain_bytes)
        with pytest.raises(grpc.RpcError) as refused:
            call(b"", timeout=PATIENCE)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        wait_until(lambda: health(channel) == SERVING, "it goes on")
