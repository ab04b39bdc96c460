"""What gRPC says of a caller's certificate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID


def shown(*alternatives: x509.GeneralName, common: str = "") -> dict[str, list[bytes]]:
    """A certificate with these alternative names, and this common name."""
    return {"x509_pem_cert": [_pem(alternatives, common)]}


def shown_by(name: str) -> dict[str, list[bytes]]:
    """The certificate of a node of this name."""
    return shown(x509.DNSName(name), common=name)


@lru_cache
def _pem(alternatives: tuple[x509.GeneralName, ...], common: str) -> bytes:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common or "nobody")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM)
