"""Somebody with the authority's key and a place in the network: servers that are taken for the mixers, and count."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc

from mixbayes.transport.peer import LIMITS
from mixbayes.transport.tls import Credentials, for_server


@dataclass
class Impostor(grpc.GenericRpcHandler):
    """Takes every call, reads all that comes, and answers nothing."""

    calls: list[str] = field(default_factory=list)
    received: int = 0

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        self.calls.append(handler_call_details.method)
        return grpc.stream_stream_rpc_method_handler(self._take)

    def _take(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        self.received += sum(map(len, requests))
        yield b""


@contextmanager
def impostor(shown: Credentials) -> Iterator[tuple[Impostor, str]]:
    """It listens, and shows these credentials."""
    taking = Impostor()
    with ThreadPoolExecutor(16) as pool:
        server = grpc.server(pool, options=(*LIMITS, ("grpc.so_reuseport", 0)))
        server.add_generic_rpc_handlers((taking,))
        port = server.add_secure_port("127.0.0.1:0", for_server(lambda: shown))
        server.start()
        try:
            yield taking, f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait()
