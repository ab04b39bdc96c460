"""Why a connection does not come about, found out step by step: the name, the port, TLS, the other end's verdict."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

from mixbayes.protocol.errors import PeerSilent
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.proxies import Proxy, proxy_for, tunnel
from mixbayes.transport.tls import Credentials

PATIENCE = 3.0
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_EXPIRED, _NOT_YET = 10, 9
"""X.509 verification codes of OpenSSL."""


class Silence(str):
    """A reason that is a silence: of a deadline that ends and a connection that breaks, the first to be noticed is
    chance."""

    __slots__ = ()


def unreachable(peer: str, step: str, why: str) -> Unreachable | PeerSilent:
    """The error for what `explain` found."""
    return (PeerSilent if isinstance(why, Silence) else Unreachable)(peer, step, why)


class Obstacle(Exception):
    """Why no connection comes about, in one sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def explain(address: str, name: str, own: Credentials) -> str | None:
    """What is wrong, in one sentence, or None if this end finds nothing."""
    try:
        with connected(address, name, own) as wire:
            return _explain_silence(wire, address)
    except Obstacle as obstacle:
        return obstacle.why


@contextmanager
def connected(
    address: str, name: str, own: Credentials, proxy: Proxy | None = None, patience: float | None = None
) -> Iterator[ssl.SSLSocket]:
    """A TLS connection: the other end's certificate is the authority's, valid now, and for this name.

    What goes wrong on it in the block is an `Obstacle` too. No step takes longer than the patience.
    """
    patience = PATIENCE if patience is None else patience
    with _reached(address, proxy, patience) as raw:
        try:
            raw.settimeout(patience)
            context = _context(own)
            raw.getpeername()  # wrap_socket would not close one whose other end has reset the connection by now
            with context.wrap_socket(raw, server_hostname=name) as wire:
                yield wire
        except ssl.SSLCertVerificationError as error:
            raise Obstacle(_about_certificate(error, address, name)) from None
        except ssl.SSLError as error:
            raise Obstacle(_about_tls(error, address)) from None
        except TimeoutError:
            said = f"{address} accepts connections and says nothing; perhaps it is no node, or something in between"
            raise Obstacle(Silence(said)) from None
        except OSError:
            raise Obstacle(_hung_up(address)) from None


def _reached(address: str, proxy: Proxy | None, patience: float) -> socket.socket:
    host, port = address.rpartition(":")[0].strip("[]"), int(address.rpartition(":")[2])
    return _through(proxy, address, host, port, patience) if proxy else _directly(address, host, port, patience)


def _directly(address: str, host: str, port: int, patience: float) -> socket.socket:
    try:
        return socket.create_connection((host, port), patience)
    except socket.gaierror:
        raise Obstacle(f"the host name in {address} is unknown here") from None
    except TimeoutError:
        raise Obstacle(f"{address} does not answer; a firewall may be in between{_by_proxy(host)}") from None
    except ConnectionRefusedError:
        raise Obstacle(f"nothing listens at {address}") from None
    except OSError as error:
        raise Obstacle(f"{address} cannot be reached: {error.strerror or 'no connection'}{_by_proxy(host)}") from None


def _through(proxy: Proxy, address: str, host: str, port: int, patience: float) -> socket.socket:
    try:
        return tunnel(proxy, host, port, patience)
    except OSError:
        raise Obstacle(f"{address} cannot be reached through the proxy {proxy}") from None


def _explain_silence(wire: ssl.SSLSocket, address: str) -> str | None:
    """TLS holds here; the other end's verdict comes with the first thing it says."""
    wire.sendall(_PREFACE)
    try:
        return None if wire.recv(9) else _refused(address)
    except TimeoutError:
        return Silence(f"{address} speaks TLS and then says nothing; perhaps it is no node, or is stuck")


def _hung_up(address: str) -> str:
    return (
        f"{address} hangs up during the greeting; perhaps it speaks no TLS, or does not trust this node's certificate"
    )


def _refused(address: str) -> str:
    """A node whose gRPC does not like a certificate says no more than that."""
    return (
        f"{address} hangs up on seeing this node's certificate: it trusts another authority, or its clock says that "
        "the certificate is not valid now"
    )


def _about_certificate(error: ssl.SSLCertVerificationError, address: str, name: str) -> str:
    if error.verify_code == _EXPIRED:
        return f"the certificate shown at {address} has expired"
    if error.verify_code == _NOT_YET:
        return f"the certificate shown at {address} is not valid yet: compare both clocks"
    if "mismatch" in error.verify_message.lower():
        return f"the certificate shown at {address} is not for {name!r}"
    return f"the certificate shown at {address} is not signed by the authority in this node's authority.pem"


def _about_tls(error: ssl.SSLError, address: str) -> str:
    reason = (error.reason or "").lower()
    if "wrong_version" in reason or "http_request" in reason or "packet_length" in reason:
        return f"what answers at {address} does not speak TLS"
    if "eof" in reason:
        return _hung_up(address)
    if "unknown_ca" in reason or "decrypt_error" in reason or "bad_certificate" in reason:
        return f"{address} does not trust this node's certificate: another authority signed it"
    if "expired" in reason:
        return f"{address} says that this node's certificate has expired"
    if "protocol_version" in reason or "unsupported_protocol" in reason:
        return f"{address} does not speak TLS 1.3"
    if "alert" in reason:
        return f"{address} refuses this node's certificate"
    return f"no TLS connection with {address} comes about"


def _context(own: Credentials) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=own.authority.decode())
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["h2"])
    with _as_file(own.private_key) as key, _as_file(own.certificate) as certificate:
        context.load_cert_chain(certificate, key)
    return context


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """A file that Python's ssl can open; in memory where the system can, so that no key touches another disk."""
    with os.fdopen(os.memfd_create("pem"), "wb") if hasattr(os, "memfd_create") else NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}"


def _by_proxy(host: str) -> str:
    used = proxy_for(host)
    return f" (calls go through the proxy {used})" if used else ""
