"""A node's call to itself before it says that it is ready: a server without a thread listens, and answers nobody."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from mixbayes.node.identity import Identity
from mixbayes.transport.errors import NO_ROOM, CannotServe
from mixbayes.transport.tls import for_client

PATIENCE = 10.0
_SILENT = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED


def refuse_silent(listens: str, port: int, identity: Identity) -> None:
    """Raise unless the server that listens here answers its own node."""
    host = reached_at(listens.rpartition(":")[0].strip("[]"))
    options = (("grpc.enable_http_proxy", 0), ("grpc.ssl_target_name_override", identity.name))
    try:
        with grpc.secure_channel(f"{host}:{port}", for_client(identity.credentials()), options) as channel:
            stub: Any = HealthStub(channel)  # its published types know no methods
            stub.Check(HealthCheckRequest(), timeout=PATIENCE)
    except grpc.RpcError as error:
        if isinstance(error, grpc.Call) and error.code() not in _SILENT:
            return  # to be refused is an answer
        raise CannotServe(
            f"This node listens on {listens}, but a call of its own got no answer there. {NO_ROOM}"
        ) from None


def reached_at(host: str) -> str:
    """Where this machine reaches a server that listens on this host; every address of the machine includes loopback."""
    try:
        found = ip_address(host)
    except ValueError:
        return host
    if found.is_unspecified:
        return "127.0.0.1" if found.version == 4 else "[::1]"
    return f"[{found}]" if found.version == 6 else str(found)
