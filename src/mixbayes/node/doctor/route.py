"""The way to another node: its name is known, its port or a proxy lets this machine through, and TLS works.

A host's addresses are looked up in bounded time.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from mixbayes.agreement.addresses import host_and_port
from mixbayes.node.doctor.finding import Finding, Trouble, fine, problem
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.probe import PATIENCE, explain
from mixbayes.transport.proxies import Proxy, proxy_for
from mixbayes.transport.tls import Credentials

_LONGEST_REPLY = 4096


def route_findings(title: str, name: str, address: str, own: Credentials) -> Iterator[Finding]:
    """Check the way step by step. The first step that fails raises a `Trouble`."""
    host, port = host_and_port(address)
    proxy = proxy_for(host)
    if proxy:
        remedy = f"Correct {proxy.variable}, or name {host} in no_proxy"
        yield _resolves(f"name of the proxy to {title}", proxy.host, remedy)
        yield _lets_through(f"proxy to {title}", proxy, f"{_bracketed(host)}:{port}")
        return
    yield _resolves(f"host name of {title}", host, "Correct this machine's name service, or agree on another address")
    yield _answers(f"port of {title}", host, port, address)
    why = explain(address, name, own)
    if why:
        remedy = f"Run `mixbayes doctor` at {title} too; nothing in between may open TLS"
        raise Trouble(problem(f"TLS with {title}", why, remedy, Unreachable))
    yield fine(f"TLS with {title}", f"mutual, 1.3; the certificate is for {name!r}")


def _resolves(what: str, host: str, remedy: str) -> Finding:
    try:
        addresses = addresses_of(host)
    except TimeoutError as error:
        raise Trouble(problem(what, f"{host}: {error}", remedy, Unreachable)) from None
    if not addresses:
        raise Trouble(problem(what, f"{host} is unknown here", remedy, Unreachable))
    return fine(what, f"{host} is an address already" if addresses == [host] else f"{host} is {', '.join(addresses)}")


def _answers(what: str, host: str, port: int, address: str) -> Finding:
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except ConnectionRefusedError:
        remedy = "Ask its operator whether it is running, and at which address"
        raise Trouble(problem(what, f"nothing listens at {address}", remedy, Unreachable)) from None
    except OSError as error:
        why = "no answer" if isinstance(error, TimeoutError) else error.strerror or "no connection"
        remedy = f"Have the firewalls let this machine dial {address} (TCP, outbound), or set https_proxy if one is due"
        raise Trouble(problem(what, f"{address}: {why}", remedy, Unreachable)) from None
    return fine(what, f"{address} answers")


def _lets_through(what: str, proxy: Proxy, target: str) -> Finding:
    remedy = f"Have it allow CONNECT to {target}, or name that host in no_proxy"
    try:
        with socket.create_connection((proxy.host, proxy.port), PATIENCE) as wire:
            wire.settimeout(PATIENCE)
            wire.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
            status = wire.recv(_LONGEST_REPLY).split(b"\r\n")[0].decode(errors="replace")
    except OSError as error:
        why = f"{proxy} cannot be used: {error.strerror or 'no answer'}"
        raise Trouble(problem(what, why, remedy, Unreachable)) from None
    words = status.split()
    if words[1:2] == ["200"]:
        return fine(what, f"{proxy} lets this machine through to {target}")
    if words[1:2] == ["407"]:
        return fine(what, f"{proxy} answers and wants the password that the variable holds")
    raise Trouble(problem(what, f"{proxy} refuses {target}: {status[:80]!r}", remedy, Unreachable))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def addresses_of(host: str) -> list[str]:
    """Empty if the name is unknown; a TimeoutError if no name server answers."""
    found: SimpleQueue[list[str]] = SimpleQueue()

    def ask() -> None:
        try:
            found.put(sorted({str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}))
        except (OSError, UnicodeError):
            found.put([])

    threading.Thread(target=ask, daemon=True).start()  # there is no other way to stop waiting for it
    try:
        return found.get(timeout=PATIENCE)
    except Empty:
        raise TimeoutError(f"no answer in {PATIENCE:g} s") from None
