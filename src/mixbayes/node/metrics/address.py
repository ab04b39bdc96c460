"""Where a node answers Prometheus: checked before anything else is done."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from mixbayes.agreement.addresses import host_and_port
from mixbayes.extras import refuse_without
from mixbayes.protocol.errors import Unsupported
from mixbayes.transport.errors import CannotServe
from mixbayes.transport.peer import on_loopback


@dataclass(frozen=True)
class Address:
    """Of this machine."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def taken(self, error: OSError) -> CannotServe:
        """The error to raise where nothing can listen there."""
        return CannotServe(
            f"The metrics cannot be served on {self}: {(error.strerror or str(error)).lower()}. "
            "Give another address of this machine with --metrics."
        )


def checked(text: str, *, open_to_all: bool) -> Address:
    """The address in this text, if metrics can be served there. It is not kept: who comes first has it."""
    refuse_without("prometheus_client")
    try:
        address = Address(*host_and_port(text))
    except ValueError as error:
        raise Unsupported(f"--metrics: {error}.") from None
    if not open_to_all and not on_loopback(text):
        raise Unsupported(
            f"--metrics {text}: other machines can reach this address, and metrics are served to anybody, without TLS. "
            "Give 127.0.0.1:PORT. If a firewall lets only your Prometheus through, add --metrics-open."
        )
    _refuse_taken(address)
    return address


def _refuse_taken(address: Address) -> None:
    try:
        with socket.socket(address.family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((address.host, address.port))
    except OSError as error:
        raise address.taken(error) from None
