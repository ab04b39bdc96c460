"""Addresses that nodes dial: HOST:PORT, an IPv6 host in brackets."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

from pydantic import AfterValidator, Field

_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[^][]*)\]|(?P<plain>[^][:]*)):(?P<port>[1-9][0-9]{0,4})")
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_LONGEST_HOST = 253
_LAST_PORT = 65535


def host_and_port(address: str) -> tuple[str, int]:
    """Both parts, the host in lower case and without brackets, or a ValueError that says what is wrong."""
    parts = _ADDRESS.fullmatch(address)
    if not parts:
        raise ValueError(f"{address!r} is not HOST:PORT, as in mixer.example.org:8443 or [2001:db8::7]:8443")
    port = int(parts["port"])
    if port > _LAST_PORT:
        raise ValueError(f"{address!r} has port {port}; the last is {_LAST_PORT}")
    return (_host(parts["plain"]) if parts["bracketed"] is None else _ipv6(parts["bracketed"])), port


def dialled(address: str) -> str:
    """The address itself, or a ValueError: it must mean the same machine wherever it is read."""
    host, _ = host_and_port(address)
    if host in ("0.0.0.0", "::"):
        raise ValueError(f"{address!r} says where to listen; give the address that the others dial")
    return address


def _host(host: str) -> str:
    if not _HOST.fullmatch(host) or len(host) > _LONGEST_HOST:
        raise ValueError(f"{host!r} is not the name of a host")
    if host.rpartition(".")[2].isdigit():
        return _ipv4(host)
    return host.lower()


def _ipv4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise ValueError(f"{host!r} is not an IPv4 address") from None


def _ipv6(host: str) -> str:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise ValueError(f"{host!r} is not an IPv6 address") from None
    if address.scope_id is not None:
        raise ValueError(f"{host!r} names a network card (after %), which means nothing to other machines")
    return str(address)


Address = Annotated[str, Field(strict=True), AfterValidator(dialled)]
