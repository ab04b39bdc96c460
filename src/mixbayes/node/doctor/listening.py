"""The node at an address of this machine: its port is free, or the node itself, which runs already, answers there."""

from __future__ import annotations

import socket
from typing import Any

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from mixbayes.agreement.addresses import host_and_port
from mixbayes.node.doctor.finding import Finding, fine, problem
from mixbayes.node.doctor.route import addresses_of
from mixbayes.protocol.errors import MixbayesError, PeerGone
from mixbayes.transport.errors import CannotServe, Unreachable
from mixbayes.transport.probe import explain, unreachable
from mixbayes.transport.status import error_from
from mixbayes.transport.tls import Credentials, for_client

WHAT = "own port"
PATIENCE = 5.0
_STEP = "asking for its health"
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def port_finding(title: str, name: str, address: str, own: Credentials | None, holder: str | None) -> Finding:
    """Whether the port is free or this node's own. `holder` is the node that has the state folder now, if one has."""
    why = _taken(address)
    if why is None:
        return fine(WHAT, f"{address} is free: {title} does not run now")
    wrong = _not_ours(title, name, address, own)
    if wrong is None:
        return fine(WHAT, f"{title} is running and answers at {address}")
    if holder:
        return problem(WHAT, f"{holder} runs, but at {address} {wrong}", "Look at its log", CannotServe)
    remedy = "End what listens there (`ss -ltnp` names it); the other nodes dial the address in the agreement"
    return problem(WHAT, f"nothing can listen on {address}: {why}", remedy, CannotServe)


def _taken(address: str) -> str | None:
    """Why nobody can listen there, in the system's words."""
    host, port = host_and_port(address)
    try:
        addresses = addresses_of(host)
    except TimeoutError as error:
        return f"{host}: {error}"
    if not addresses:
        return f"{host} is unknown here"
    return next(filter(None, (_refused(one, port) for one in addresses)), None)


def _refused(address: str, port: int) -> str | None:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gRPC does
        try:
            trial.bind((address, port))
        except OSError as error:
            return (error.strerror or "it is taken").lower()
    return None


def _not_ours(title: str, name: str, address: str, own: Credentials | None) -> str | None:
    """Why the program that listens there is not this node, or None if it is."""
    if own is None:
        return "nobody can be asked without keys"
    try:
        refuse_unhealthy(title, name, address, own)
    except MixbayesError as error:
        return str(error).rstrip(".")
    return None


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
    """The address to dial: a node that listens on all interfaces is reached on loopback."""
    host, port = host_and_port(address)
    return f"{_EVERYWHERE[host]}:{port}" if host in _EVERYWHERE else address


def _ours(error: grpc.RpcError, title: str, name: str, address: str, own: Credentials) -> MixbayesError:
    ours = error_from(error, title, _STEP) if isinstance(error, grpc.Call) else Unreachable(title, _STEP, "no answer")
    why = explain(address, name, own) if type(ours) is Unreachable else None
    return unreachable(title, _STEP, why) if why else ours
