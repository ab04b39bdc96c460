"""Which proxy gRPC takes to an address, by the variables of the environment that it reads, and in their order.

`tunnel` takes the same way without gRPC.
"""

from __future__ import annotations

import os
import socket
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
EXCEPTIONS = ("no_grpc_proxy", "no_proxy")
_USUAL_PORT = 80


@dataclass(frozen=True)
class Proxy:
    """Where it is, and which variable says so. A password in the variable is not kept."""

    host: str
    port: int
    variable: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port} ({self.variable})"


def proxy_for(host: str, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """The proxy that gRPC dials instead of this host, or None."""
    variable = _first(PROXIES, environment)
    if variable is None or not environment[variable]:
        return None
    exceptions = _first(EXCEPTIONS, environment)
    if exceptions and any(_covers(entry.strip(), host) for entry in environment[exceptions].split(",")):
        return None
    return _read(variable, environment[variable])


def tunnel(
    proxy: Proxy, host: str, port: int, patience: float, environment: Mapping[str, str] = os.environ
) -> socket.socket:
    """A connection with the host through the proxy. An OSError if the proxy makes none."""
    connection = HTTPConnection(proxy.host, proxy.port, timeout=patience)
    connection.set_tunnel(host, port, headers=_authorization(environment.get(proxy.variable, "")))
    try:
        connection.connect()
    except HTTPException:
        raise OSError("it does not answer as a proxy does") from None
    return connection.sock


def _authorization(value: str) -> dict[str, str]:
    """What a name and a password in the variable become, as gRPC sends it."""
    parts = urlsplit(value if "://" in value else f"http://{value}")
    if parts.username is None:
        return {}
    said = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(said.encode()).decode()}"}


def _first(names: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    return next((name for name in names if name in environment), None)


def _covers(entry: str, host: str) -> bool:
    if not entry:
        return False
    try:
        return ip_address(host) in ip_network(entry, strict=False)
    except ValueError:
        return host.lower().endswith(entry.lower())


def _read(variable: str, value: str) -> Proxy:
    parts = urlsplit(value if "://" in value else f"http://{value}")
    try:
        port = parts.port
    except ValueError:
        port = None
    return Proxy(parts.hostname or "?", port or _USUAL_PORT, variable)
