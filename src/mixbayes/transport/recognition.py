"""Whether a certificate that the authority signed is the member's own: by its key, and by the list of revoked ones."""

from __future__ import annotations

from collections.abc import Set
from hashlib import sha256

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mixbayes.transport.errors import Revoked, WrongKey

_SHORT = 23
"""Characters of a fingerprint that are shown beside another one: eight bytes."""


def refuse_unrecognised(
    peer: str, step: str, title: str, certificate: x509.Certificate, key: str | None, revoked: Set[int]
) -> None:
    """Raise an error about `peer` unless the certificate, which this title stands for, is not revoked and has this key.

    A member whose key is not agreed may have any.
    """
    who = "it" if title == peer else title
    if certificate.serial_number in revoked:
        raise Revoked(
            peer,
            step,
            f"{who} shows a certificate that revoked.pem lists ({certificate.serial_number:x})",
            f"Ask who signs certificates for this federation; {title} needs a new key and a new certificate",
        )
    if key is not None and (found := _fingerprint(certificate)) != key:
        raise WrongKey(
            peer,
            step,
            f"{who} shows the key {found[:_SHORT]}…, and the agreement says {key[:_SHORT]}…",
            "Compare with its operator by telephone: either this node needs the federation file with that key, or "
            f"somebody poses as {title}",
        )


def _fingerprint(certificate: x509.Certificate) -> str:
    try:
        spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, UnsupportedAlgorithm):
        return "of an unknown kind"
    return sha256(spki).digest().hex(":").upper()
