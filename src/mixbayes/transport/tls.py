"""TLS for both ends: mutual, 1.3 only, ECDSA certificates of the federation's authority.

gRPC has no switch for TLS 1.3 only. But its list of ciphers governs 1.2 alone, and an ECDSA certificate cannot serve
an RSA suite. The package sets that list, in its `__init__`, to one RSA suite, so 1.2 finds no cipher;
`mixbayes.keys.folder` refuses RSA keys at the start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc

from mixbayes.transport.errors import CannotServe

_ORDER = list(sys.modules)
_TOO_LATE = _ORDER.index("grpc") < _ORDER.index("mixbayes")


@dataclass(frozen=True)
class Credentials:
    """What a node shows and whom it trusts, as PEM."""

    private_key: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    authority: bytes = field(repr=False)


def for_server(current: Callable[[], Credentials]) -> grpc.ServerCredentials:
    """One server's; it looks for renewed ones at every handshake, so that a renewed certificate needs no restart."""
    if _TOO_LATE:
        raise CannotServe(
            "gRPC was imported before mixbayes, so TLS 1.2 would be accepted. Import mixbayes first in this program."
        )
    shown = current()

    def renewed() -> grpc.ServerCertificateConfiguration | None:
        # Only what is new: gRPC drops the old configuration even while another handshake reads it (grpc/grpc#36693),
        # and then aborts the process.
        nonlocal shown
        if (now := current()) == shown:
            return None
        shown = now
        return _configuration(now)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(shown),
        renewed,  # type: ignore[arg-type] # None is "as before"; the stubs do not know it
        require_client_authentication=True,
    )


def _configuration(own: Credentials) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(own.private_key, own.certificate)], own.authority)


def for_client(own: Credentials) -> grpc.ChannelCredentials:
    """A caller's."""
    return grpc.ssl_channel_credentials(own.authority, own.private_key, own.certificate)
