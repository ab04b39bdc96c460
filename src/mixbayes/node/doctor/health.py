"""Whether a node answers at an address of this machine, asked with its own keys."""

from __future__ import annotations

from typing import Any

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from mixbayes.agreement.addresses import host_and_port
from mixbayes.protocol.errors import MixbayesError, PeerGone
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.probe import explain, unreachable
from mixbayes.transport.status import error_from
from mixbayes.transport.tls import Credentials, for_client

PATIENCE = 5.0
_STEP = "asking for its health"
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def refuse_unhealthy(title: str, name: str, address: str, own: Credentials) -> None:
    """Raise what is wrong unless the node of this name serves at this address."""
    address = reachable(address)
    options = (("grpc.ssl_target_name_override", name), ("grpc.enable_http_proxy", 0))
    with grpc.secure_channel(address, for_client(own), options) as channel:
        stub: Any = HealthStub(channel)  # its published types know no methods
        try:
            reply = stub.Check(HealthCheckRequest(), timeout=PATIENCE)
        except grpc.RpcError as error:
            raise _ours(error, title, name, address, own) from None
    if reply.status != HealthCheckResponse.SERVING:
        raise PeerGone(title, _STEP, "it is about to stop")


def reachable(address: str) -> str:
    """Where to dial what listens there: an address that means every card is reached on loopback."""
    host, port = host_and_port(address)
    return f"{_EVERYWHERE[host]}:{port}" if host in _EVERYWHERE else address


def _ours(error: grpc.RpcError, title: str, name: str, address: str, own: Credentials) -> MixbayesError:
    ours = error_from(error, title, _STEP) if isinstance(error, grpc.Call) else Unreachable(title, _STEP, "no answer")
    why = explain(address, name, own) if type(ours) is Unreachable else None
    return unreachable(title, _STEP, why) if why else ours
