"""Public keys as files hold them: in a certificate, a request, or a node's folder; to be compared by telephone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from mixbayes.keys.pem import certificates_in, fingerprint, only_name, private_key_in, public_key_of, request_in
from mixbayes.keys.problems import in_file
from mixbayes.keys.storage import read

_REQUEST = b"CERTIFICATE REQUEST-----"


@dataclass(frozen=True)
class PublicKey:
    """The fingerprint of a key, and whom the file names."""

    file: Path
    name: str
    fingerprint: str


def public_key_in(file: Path) -> PublicKey:
    """That of a certificate, the first in the file, or of a request."""
    pem = read(file)
    with in_file(file, "Give a certificate or a request in PEM"):
        signed = request_in(pem) if _REQUEST in pem else certificates_in(pem)[0]
        return PublicKey(file, _name_in(signed), fingerprint(public_key_of(signed)))


def public_key_of_node(folder: Path, name: str) -> PublicKey:
    """That of the private key with which this node proves itself."""
    file = folder / f"{name}.key"
    pem = read(file)
    with in_file(file, f"Make it with `mixbayes keys request {name} --out {folder}`"):
        return PublicKey(file, name, fingerprint(private_key_in(pem).public_key()))


def _name_in(signed: x509.Certificate | x509.CertificateSigningRequest) -> str:
    """A node's name; an authority has none, and is called by its subject."""
    try:
        return only_name(signed)
    except ValueError:
        return signed.subject.rfc4514_string()
