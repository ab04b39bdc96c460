"""Certificates, and a server with the TLS that nodes have."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography.hazmat.primitives.asymmetric import ec

from mixbayes.transport.peer import LIMITS
from mixbayes.transport.tls import Credentials, for_server
from tests.keys.helpers import Issuer, key_pem, pem
from tests.transport.loopback import SERVICE

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
