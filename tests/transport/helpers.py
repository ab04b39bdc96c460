"""A server and a caller of one service on loopback, without TLS: what the transport does above it."""

from __future__ import annotations

import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
from cryptography.hazmat.primitives.asymmetric import ec

from mixbayes.transport.peer import LIMITS
from mixbayes.transport.tls import Credentials, for_server
from tests.federation.helpers import Issuer, key_pem, pem

SERVICE = "test.Service"
BACK_AND_FORTH = f"/{SERVICE}/Talk"
Answer = Callable[[socket.socket], socket.socket | None]


def plain_bytes(message: bytes) -> bytes:
    return message


@contextmanager
def serving(handler: grpc.RpcMethodHandler[Any, Any], port: int = 0) -> Iterator[int]:
    """One handler of one method; gives the port."""
    with ThreadPoolExecutor(16) as pool:
        server = grpc.server(pool, options=(*LIMITS, ("grpc.so_reuseport", 0)))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Talk": handler}),))
        bound = server.add_insecure_port(f"127.0.0.1:{port}")
        server.start()
        try:
            yield bound
        finally:
            server.stop(None).wait()


@contextmanager
def calling(port: int) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(f"127.0.0.1:{port}", LIMITS) as channel:
        yield channel


@contextmanager
def listening(answer: Answer) -> Iterator[str]:
    """Something at an address that is no node: it accepts, does this with every connection, and leaves it open."""
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as held, ThreadPoolExecutor(8) as pool:
        server.settimeout(0.05)
        stopped = threading.Event()

        def accept() -> None:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    connection, _ = server.accept()
                    connection.settimeout(60)
                    held.enter_context(connection)
                    pool.submit(treat, connection)

        def treat(connection: socket.socket) -> None:
            if made := answer(connection):
                held.enter_context(made)

        pool.submit(accept)
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            stopped.set()


# Certificates, and ends of TLS that are no gRPC -----------------------------------------------------------------------

TODAY = datetime.now(UTC)
DAY = timedelta(days=1)


def issuer() -> Issuer:
    return Issuer.new(TODAY - 9 * DAY, TODAY + 9 * DAY)


def credentials(
    authority: Issuer,
    name: str,
    begins: datetime = TODAY - DAY,
    ends: datetime = TODAY + DAY,
    trusting: Issuer | None = None,
) -> Credentials:
    """Signed by one authority, trusting the same or another."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = pem(authority.node(key, name, begins, ends))
    return Credentials(key_pem(key), certificate, pem((trusting or authority).certificate))


def context(own: Credentials, *, server: bool, only_1_2: bool = False) -> ssl.SSLContext:
    """Python's TLS with these, mutual."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.load_verify_locations(cadata=own.authority.decode())
    made.verify_mode = ssl.CERT_REQUIRED
    if only_1_2:
        made.maximum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["h2"])
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "pem"), Path(folder, "key")
        files[0].write_bytes(own.certificate)
        files[1].write_bytes(own.private_key)
        made.load_cert_chain(*files)
    return made


def tls_and_then_silence(own: Credentials, *, only_1_2: bool = False) -> Answer:
    """For `listening`: it shakes hands and never answers."""
    made = context(own, server=True, only_1_2=only_1_2)

    def answer(raw: socket.socket) -> socket.socket | None:
        with suppress(OSError):
            return made.wrap_socket(raw, server_side=True)
        return None

    return answer


def silence(raw: socket.socket) -> None:
    """It accepts, and no more."""


def plain_http(raw: socket.socket) -> None:
    with suppress(OSError):
        raw.recv(1024)
        raw.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        raw.shutdown(socket.SHUT_RDWR)


def hanging_up(raw: socket.socket) -> None:
    raw.shutdown(socket.SHUT_RDWR)


@contextmanager
def node_server(own: Credentials, current: Callable[[], Credentials] | None = None) -> Iterator[str]:
    """gRPC with the TLS that nodes have; it answers Talk with what it is asked."""
    handler = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool, options=(*LIMITS, ("grpc.so_reuseport", 0)))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Talk": handler}),))
        port = server.add_secure_port("127.0.0.1:0", for_server(current or (lambda: own)))
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait()
