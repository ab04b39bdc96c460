"""A server and a caller of one service on loopback, without TLS: what the transport does above it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

from mixbayes.transport.peer import LIMITS

SERVICE = "test.Service"
BACK_AND_FORTH = f"/{SERVICE}/Talk"


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
