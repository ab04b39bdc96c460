"""Which proxy gRPC takes to an address, by the variables of the environment that it reads, and in their order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

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
