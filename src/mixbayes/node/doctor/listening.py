"""The port on which this node listens: free, or taken by the node itself, which runs already."""

from __future__ import annotations

import socket

from mixbayes.agreement.addresses import host_and_port
from mixbayes.node.doctor.finding import Finding, fine, problem
from mixbayes.node.doctor.health import refuse_unhealthy
from mixbayes.node.doctor.lookup import addresses_of
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import CannotServe
from mixbayes.transport.tls import Credentials

WHAT = "own port"


def port_finding(title: str, name: str, address: str, own: Credentials | None, holder: str | None) -> Finding:
    """`holder` is whoever has the state folder now, if anybody has."""
    why = _taken(address)
    if why is None:
        return fine(WHAT, f"{address} is free")
    wrong = _not_ours(title, name, address, own)
    if wrong is None:
        return fine(WHAT, f"{title} is running and answers at {address}")
    if holder:
        return problem(WHAT, f"{holder} runs, but at {address} {wrong}", "Look at its log", CannotServe)
    remedy = "End what listens there, or give the node another address with --listen"
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
    """What is wrong if it is to be this node that listens there."""
    if own is None:
        return "nobody can be asked without keys"
    try:
        refuse_unhealthy(title, name, address, own)
    except MixbayesError as error:
        return str(error).rstrip(".")
    return None
