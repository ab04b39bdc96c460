"""Revoked certificates: a list that the authority signs (X.509 CRL), and that every node has as `revoked.pem`.

A certificate is listed by its serial number. The numbers are random and 20 bytes long, so that one set of them serves
all authorities that a node trusts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from mixbayes.keys.authority import authority_in
from mixbayes.keys.certificates import SKEW
from mixbayes.keys.pem import certificates_in
from mixbayes.keys.problems import KeyProblem, in_file
from mixbayes.keys.storage import read, replace, there

FILE = "revoked.pem"
LIST_DAYS = 397
"""For how long a list holds if nothing else is said. Nodes go on with it after that, and their doctor warns."""
_BLOCK = re.compile(rb"-----BEGIN X509 CRL-----.*?-----END X509 CRL-----\s*", re.DOTALL)
_TAKE_AGAIN = "Ask who signs certificates for this federation for its revoked.pem again"


@dataclass(frozen=True)
class Revoked:
    """What the lists of a node say together."""

    serials: frozenset[int]
    next_update: datetime
    """Until when the authority has promised another list; the earliest of several."""


def revoke(
    certificates: Collection[Path], serials: Iterable[int], authority: Path, now: datetime, days: int = LIST_DAYS
) -> Revoked:
    """List these certificates beside those listed before, in the authority's folder, under a new date."""
    key, own = authority_in(authority, now)
    file = authority / FILE
    before = _own_list(file, own)
    serials = {*serials, *(_serial(path, own) for path in certificates)}
    _refuse_own(serials, authority)
    made = _signed(before, serials, key, own, now, timedelta(days=days))
    replace(file, made.public_bytes(Encoding.PEM))
    return _together([made])


def read_revoked(file: Path, authorities: Sequence[x509.Certificate]) -> Revoked | None:
    """The lists in a node's file, each signed by one of its authorities; None if there is no file."""
    if not there(file):
        return None
    with in_file(file, _TAKE_AGAIN):
        lists = _lists_in(read(file))
        if not all(any(_is_of(found, authority) for authority in authorities) for found in lists):
            raise ValueError("it is not signed by any authority in authority.pem")
        return _together(lists)


def _together(lists: Sequence[x509.CertificateRevocationList]) -> Revoked:
    serials = frozenset(entry.serial_number for found in lists for entry in found)
    return Revoked(serials, min(_next_update(found) for found in lists))


def _next_update(found: x509.CertificateRevocationList) -> datetime:
    return found.next_update_utc or found.last_update_utc


def _lists_in(pem: bytes) -> list[x509.CertificateRevocationList]:
    """One at least, and nothing that is none: half a list would let those through who stand in the other half."""
    blocks = _BLOCK.findall(pem)
    if not blocks or _BLOCK.sub(b"", pem).strip():
        raise ValueError("it holds something else than lists of revoked certificates in PEM")
    try:
        return [x509.load_pem_x509_crl(block) for block in blocks]
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it holds no list of revoked certificates that can be read") from None


def _is_of(found: x509.CertificateRevocationList, authority: x509.Certificate) -> bool:
    key = authority.public_key()
    return isinstance(key, ec.EllipticCurvePublicKey) and found.is_signature_valid(key)


def _own_list(file: Path, own: x509.Certificate) -> x509.CertificateRevocationList | None:
    if not there(file):
        return None
    with in_file(file, "Put the authority's last list back; with a new one, those listed before could come in again"):
        (found,) = _lists_in(read(file))[:1]
        if not _is_of(found, own):
            raise ValueError("it is not signed by this authority")
        return found


def _serial(path: Path, authority: x509.Certificate) -> int:
    with in_file(path, "Give a certificate that this authority has signed, or its --serial"):
        certificate = certificates_in(read(path))[0]
        try:
            certificate.verify_directly_issued_by(authority)
        except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
            raise ValueError("this authority has not signed it") from None
        return certificate.serial_number


def _refuse_own(serials: Collection[int], authority: Path) -> None:
    """An authority cannot revoke itself: no node looks for its serial number in a list that it signs."""
    file = authority / "authority.pem"
    with in_file(file, "Give a node's certificate"):
        own = certificates_in(read(file))
    if any(certificate.serial_number in serials for certificate in own):
        raise KeyProblem(
            f"{file} is the authority's own certificate, which no list can revoke",
            "Name a node's certificate. To replace an authority, make one in another folder, have it sign for all "
            "nodes, and take the old one out of every node's authority.pem",
        )


def _signed(
    before: x509.CertificateRevocationList | None,
    serials: Iterable[int],
    key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    now: datetime,
    valid: timedelta,
) -> x509.CertificateRevocationList:
    listed = {entry.serial_number: entry for entry in before or ()}
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.subject)
        .last_update(now - SKEW)
        .next_update(now + valid)
        .add_extension(x509.CRLNumber(_number(before) + 1), critical=False)
        .add_extension(issuer, critical=False)
    )
    for serial in sorted({*listed, *serials}):
        builder = builder.add_revoked_certificate(listed.get(serial) or _entry(serial, now))
    return builder.sign(key, SHA256())


def _entry(serial: int, now: datetime) -> x509.RevokedCertificate:
    return x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build()


def _number(found: x509.CertificateRevocationList | None) -> int:
    if found is None:
        return 0
    try:
        return found.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number
    except x509.ExtensionNotFound:
        return 0
