"""The connections that this process has accepted at one port, found among its open files; gRPC tells nobody of them."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import unquote

from mixbayes.transport.barring import bar

_OPEN_FILES = next((path for path in (Path("/proc/self/fd"), Path("/dev/fd")) if path.is_dir()), None)
"""Lists the descriptors of whoever reads it: on Linux, and on macOS."""
_ONE_SITE = 64
"""Leading bits of an IPv6 address that one site has in common: it may use all addresses that begin with them."""


@dataclass(frozen=True)
class End:
    """The other end of a connection."""

    host: str
    port: int

    @property
    def site(self) -> str:
        """Whoever has this address: the address itself, or the network of one IPv6 site."""
        return _site(self.host)


def end_of(peer: str) -> End | None:
    """The other end of a call, as gRPC writes it: ipv4:HOST:PORT or ipv6:[HOST]:PORT."""
    kind, _, rest = unquote(peer).partition(":")
    host, _, port = rest.rpartition(":")
    return End(_plain(host.strip("[]")), int(port)) if kind in ("ipv4", "ipv6") else None


def can_be_listed() -> bool:
    """Whether this system lists the open files of a process."""
    return _OPEN_FILES is not None


def accepted(port: int) -> dict[End, int]:
    """The descriptors of the connections at this port, by their other ends."""
    found = {}
    for descriptor in _descriptors():
        with suppress(OSError):  # no socket, or closed by now
            if end := _end(descriptor, port):
                found[end] = descriptor
    return found


def take_none_from(port: int, sites: Collection[str]) -> bool:
    """Have the system drop what these sites send to begin a connection at this port. Whether it can do that."""
    return all(list(map(partial(bar, sites), _listening(port))))  # at every address


def _listening(port: int) -> Iterator[socket.socket]:
    for descriptor in _descriptors():
        with suppress(OSError), _borrowed(descriptor) as one:
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and one.getsockname()[1] == port:
                yield one


def hang_up(port: int, end: End, descriptor: int) -> bool:
    """End the connection, if the descriptor still is the one to this end. gRPC sees an end of stream, and closes it."""
    with suppress(OSError):
        copy = os.dup(descriptor)  # stays this connection, even if gRPC closes its own descriptor now
        try:
            return _end(copy, port) == end and _shut(copy)
        finally:
            os.close(copy)
    return False


def _descriptors() -> list[int]:
    return list(map(int, os.listdir(_OPEN_FILES))) if _OPEN_FILES else []


def _end(descriptor: int, port: int) -> End | None:
    with _borrowed(descriptor) as connection:
        if connection.family not in (socket.AF_INET, socket.AF_INET6) or connection.getsockname()[1] != port:
            return None
        host, far = connection.getpeername()[:2]  # raises for the socket that listens
        return End(_plain(host), far)


def _shut(descriptor: int) -> bool:
    with _borrowed(descriptor) as connection:
        connection.shutdown(socket.SHUT_RDWR)
        return True


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    """A socket object that does not close the descriptor."""
    connection = socket.socket(fileno=descriptor)
    try:
        yield connection
    finally:
        connection.detach()


@lru_cache(4096)
def _plain(host: str) -> str:
    """The address in one form: an IPv4 address looks like IPv6 to a socket that listens for both."""
    address = ipaddress.ip_address(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


@lru_cache(4096)
def _site(host: str) -> str:
    address = ipaddress.ip_address(host)
    if address.version == 4:
        return host
    return str(ipaddress.ip_network((address, _ONE_SITE), strict=False))
