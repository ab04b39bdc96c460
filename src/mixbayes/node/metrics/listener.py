"""The HTTP server that Prometheus asks. It has one thread, whoever asks, and so takes none away from the protocol."""

from __future__ import annotations

import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client.exposition import MetricsHandler

from mixbayes.node.log import Log, error_fields
from mixbayes.node.metrics.address import Address
from mixbayes.node.metrics.collector import registry_of
from mixbayes.node.observed import Observed
from mixbayes.node.repeated import Repeated

PATIENCE = 5.0
"""Seconds for somebody who has connected to ask, and to take each part of the answer."""
PATH = "/metrics"


class _Handler(MetricsHandler):
    """Answers one request and hangs up."""

    timeout = PATIENCE
    server_version, sys_version = "mixbayes", ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == PATH:
            super().do_GET()
        else:
            self.send_error(404, explain=f"the metrics are at {PATH}")


class _Listener(socketserver.TCPServer):
    allow_reuse_address = True

    def __init__(self, address: Address, handler: type[MetricsHandler], log: Log) -> None:
        self.address_family = address.family
        self._log = log
        self._repeated = Repeated()
        try:
            super().__init__((address.host, address.port), handler)
        except OSError as error:
            raise address.taken(error) from None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Somebody hung up, or a mistake of this program: whoever asks next is answered."""
        if (error := sys.exception()) is not None:
            self._repeated.say(
                str(type(error)),
                self._log.warning,
                "somebody who asked for metrics got no answer",
                **error_fields(error),
            )


@contextmanager
def served(address: Address, node: Observed, log: Log) -> Iterator[None]:
    """Answer as long as the block lasts."""
    listener = _Listener(address, _Handler.factory(registry_of(node, log)), log)
    thread = threading.Thread(target=listener.serve_forever, name="metrics", daemon=True)
    thread.start()
    log.info("metrics are served", address=str(address))
    try:
        yield
    finally:
        listener.shutdown()
        listener.server_close()
