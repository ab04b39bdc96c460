"""The authority that a federation trusts, and what it signs: by hand, in files, without a network.

A node's key is made where it is used and never leaves. What travels is its request, and the certificate back.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from mixbayes.agreement.names import checked_name
from mixbayes.keys.certificates import (
    AUTHORITY_DAYS,
    LONGEST_DAYS,
    LONGEST_NAME,
    NODE_DAYS,
    SKEW,
    authority_certificate,
    node_certificate,
    request_for,
)
from mixbayes.keys.pem import (
    certificates_in,
    fingerprint,
    only_name,
    private_key_in,
    public_key_of,
    request_in,
    validity,
)
from mixbayes.keys.problems import KeyProblem, in_file
from mixbayes.keys.storage import PUBLIC, SECRET, create, make_folder, read, replace, there
from mixbayes.protocol.errors import Unsupported
from mixbayes.site_time import to_the_minute

AUTHORITY_NAME = "mixbayes authority"
STATE_KEY_BYTES = 32


@dataclass(frozen=True)
class Requested:
    """A request, and the fingerprint of the key it is for."""

    name: str
    fingerprint: str
    file: Path


@dataclass(frozen=True)
class Signed:
    """A certificate, the fingerprint of the key it is for, and the time in which it is valid."""

    name: str
    fingerprint: str
    file: Path
    begins: datetime
    ends: datetime


def make_authority(folder: str | Path, name: str = AUTHORITY_NAME, days: int = AUTHORITY_DAYS) -> Signed:
    """`authority.key` and `authority.pem`. Neither is ever replaced; a key that lost its certificate gets a new one."""
    folder = Path(folder)
    file = folder / "authority.pem"
    if not name.isprintable() or not name.strip() or len(name) > LONGEST_NAME:
        raise Unsupported(f"{name!r} cannot be an authority's name, which has 1 to {LONGEST_NAME} visible characters.")
    _refuse_days(days)
    make_folder(folder)
    present = KeyProblem(f"{file} is there already and stays as it is", "Sign with it, or name another folder")
    if there(file):
        raise present
    key = _own_key(folder / "authority.key")
    begins = _now() - SKEW
    certificate = authority_certificate(key, name, begins, begins + SKEW + timedelta(days=days))
    if not create(file, _pem(certificate), PUBLIC):
        raise present
    return _signed(name, certificate, file)


def make_request(name: str, folder: str | Path) -> Requested:
    """`NAME.csr` for the authority, with `NAME.key` and `NAME.state` where they are not there yet."""
    try:
        checked_name(name)
    except ValueError as error:
        raise Unsupported(f"{error}. Use the name that the federation file lists.") from None
    folder = Path(folder)
    make_folder(folder)
    key = _own_key(folder / f"{name}.key")
    make_state_key(folder / f"{name}.state")
    file = folder / f"{name}.csr"
    replace(file, request_for(key, name).public_bytes(Encoding.PEM))
    return Requested(name, fingerprint(key.public_key()), file)


def make_state_key(file: Path) -> None:
    """The key that closes a node's state on its disk, unless there is one."""
    create(file, secrets.token_bytes(STATE_KEY_BYTES), SECRET)


def sign(request: str | Path, authority_folder: str | Path, out: str | Path, days: int = NODE_DAYS) -> Signed:
    """Write the certificate that the request asks for. It does not outlive the authority's own."""
    request, folder, out = Path(request), Path(authority_folder), Path(out)
    _refuse_days(days)
    now = _now()
    authority_key, authority = authority_in(folder, now)
    name, node = _asked(request)
    _refuse_to_replace_other_files(out, name)
    ends = min(now + timedelta(days=days), authority.not_valid_after_utc)
    certificate = node_certificate(node, name, authority_key, authority, now - SKEW, ends)
    replace(out, _pem(certificate))
    return _signed(name, certificate, out)


def _now() -> datetime:
    return datetime.now(UTC)


def _refuse_days(days: int) -> None:
    if not 1 <= days <= LONGEST_DAYS:
        raise Unsupported(f"A certificate is valid for 1 to {LONGEST_DAYS} days, not for {days}.")


def _own_key(file: Path) -> ec.EllipticCurvePrivateKey:
    """The key in this file, drawn first if there is none."""
    if not there(file):
        key = ec.generate_private_key(ec.SECP256R1())
        create(file, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), SECRET)
    with in_file(file, "Existing keys are never replaced: move it away to have a new one"):
        return private_key_in(read(file))


def authority_in(folder: Path, now: datetime) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """The authority's key and that one of its certificates, of which there may be several, that fits the key."""
    file, key_file = folder / "authority.pem", folder / "authority.key"
    for path in (file, key_file):
        if not there(path):
            raise KeyProblem(f"{path} is missing", "Name the folder that `mixbayes keys authority` made")
    with in_file(key_file, "Sign where the authority was made"):
        key = private_key_in(read(key_file))
    with in_file(file, "Put the authority's own certificate back"):
        certificates = certificates_in(read(file))
    own = [certificate for certificate in certificates if certificate.public_key() == key.public_key()]
    valid = [certificate for certificate in own if certificate.not_valid_before_utc <= now]
    if not own:
        raise KeyProblem(f"{file} holds no certificate for {key_file}", "Put the two back that belong together")
    latest = max(valid or own, key=lambda certificate: certificate.not_valid_after_utc)
    if not latest.not_valid_before_utc <= now < latest.not_valid_after_utc:
        raise KeyProblem(
            f"{file} {validity(latest)}, and now is {to_the_minute(now)}",
            "Make an authority in another folder, and give its certificate to all nodes beside the old one",
        )
    return key, latest


def _asked(file: Path) -> tuple[str, ec.EllipticCurvePublicKey]:
    """The name and the key that a request asks to bind."""
    with in_file(file, "Have it made again with `mixbayes keys request`"):
        request = request_in(read(file))
        return checked_name(only_name(request)), public_key_of(request)


def _refuse_to_replace_other_files(out: Path, name: str) -> None:
    """A certificate may be renewed in its place; anything else of the same file name is not lost."""
    if not there(out):
        return
    with in_file(out, "Only a node's certificate is replaced; give the new one another name"):
        there_now = only_name(certificates_in(read(out))[0])
    if there_now != name:
        raise KeyProblem(f"{out} is the certificate of {there_now}, and this one is for {name}", "Give it another name")


def _signed(name: str, certificate: x509.Certificate, file: Path) -> Signed:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return Signed(name, fingerprint(public_key_of(certificate)), file, begins, ends)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)
