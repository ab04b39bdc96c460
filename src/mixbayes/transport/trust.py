"""Whom a channel trusts: the authority, or the one certificate that the other end shows and that is its own.

gRPC for Python cannot look at a server's certificate. So a connection of this program's own fetches it, checks it, and
gives it to gRPC as the only root. From then on gRPC connects with nobody who lacks this certificate's private key,
whoever has signed theirs.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from cryptography import x509

from mixbayes.transport.probe import Obstacle, connected, unreachable
from mixbayes.transport.proxies import Proxy
from mixbayes.transport.recognition import refuse_unrecognised
from mixbayes.transport.tls import Credentials

if TYPE_CHECKING:
    from mixbayes.transport.peer import Endpoint

_STEP = "connecting"
_LONGEST = 20.0
"""Seconds that one step of looking at the certificate may take, on a slow line or at a busy node."""


class Trust:
    """In one node, as it is dialled through this proxy, if any, within this deadline."""

    def __init__(self, endpoint: Endpoint, proxy: Proxy | None, deadline: float) -> None:
        self._endpoint = endpoint
        self._proxy = proxy
        self._patience = min(deadline, _LONGEST)

    def root(self, own: Credentials) -> bytes:
        """The root for a connection made now, as PEM. Raises why there is none."""
        if self._endpoint.key is None and not own.revoked:
            return own.authority
        shown = self._shown(own)
        title = self._endpoint.title
        certificate = x509.load_der_x509_certificate(shown)
        refuse_unrecognised(title, _STEP, title, certificate, self._endpoint.key, own.revoked)
        return ssl.DER_cert_to_PEM_cert(shown).encode()

    def _shown(self, own: Credentials) -> bytes:
        """The certificate of the other end, which the authority has signed for its name, and which is valid now."""
        try:
            address, name = self._endpoint.address, self._endpoint.name
            with connected(address, name, own, self._proxy, self._patience) as wire:
                return wire.getpeercert(binary_form=True) or b""
        except Obstacle as obstacle:
            raise unreachable(self._endpoint.title, _STEP, obstacle.why) from None
