"""Everything that can be wrong with a node's keys, one check after the other, each with its remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from mixbayes.keys.authority import STATE_KEY_BYTES
from mixbayes.keys.pem import certificates_in, only_name, private_key_in, public_key_of, validity
from mixbayes.keys.problems import KeyProblem, in_file
from mixbayes.keys.storage import mode_of, read, there
from mixbayes.site_time import to_the_minute

SOON = timedelta(days=30)
"""Before its end: from then on a certificate is spoken of."""
_BOTH_ENDS = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
_ASK_THE_AUTHORITY = "Ask who signs certificates for this federation for its authority.pem, and put it there"


@dataclass(frozen=True)
class Check:
    """One thing looked at, and what is wrong with it, if anything is."""

    what: str
    problem: str | None = None
    remedy: str = ""


class KeyFolder:
    """The files of one node, each read once."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.key_file = folder / f"{name}.key"
        self.certificate_file = folder / f"{name}.pem"
        self.authority_file = folder / "authority.pem"
        self.state_file = folder / f"{name}.state"

    @cached_property
    def key_pem(self) -> bytes:
        return read(self.key_file)

    @cached_property
    def certificate_pem(self) -> bytes:
        return read(self.certificate_file)

    @cached_property
    def authority_pem(self) -> bytes:
        return read(self.authority_file)

    @cached_property
    def key(self) -> ec.EllipticCurvePrivateKey:
        return private_key_in(self.key_pem)

    @cached_property
    def chain(self) -> list[x509.Certificate]:
        return certificates_in(self.certificate_pem)

    @cached_property
    def authorities(self) -> list[x509.Certificate]:
        return certificates_in(self.authority_pem)

    @property
    def certificate(self) -> x509.Certificate:
        return self.chain[0]


def checks(folder: str | Path, name: str, now: datetime) -> Iterator[Check]:
    """Look at everything, write nothing. What a problem already told makes impossible to look at is left out."""
    return look_at(KeyFolder(Path(folder), name), now)


def look_at(files: KeyFolder, now: datetime) -> Iterator[Check]:
    """The checks of files that the caller goes on to use."""
    failed: set[str] = set()
    for step in _STEPS:
        if failed.isdisjoint(step.needs):
            check = _looked(step, files, now)
            yield check
            if not check.problem:
                continue
        failed.add(step.what)


@dataclass(frozen=True)
class _Step:
    what: str
    look: Callable[[KeyFolder, datetime], None]
    needs: tuple[str, ...] = ()


def _looked(step: _Step, files: KeyFolder, now: datetime) -> Check:
    try:
        step.look(files, now)
    except KeyProblem as wrong:
        return Check(step.what, wrong.problem, wrong.remedy)
    return Check(step.what)


def _key(files: KeyFolder, now: datetime) -> None:
    _find(files.key_file, f"Make it with `mixbayes keys request {files.name} --out {files.folder}`")
    _owner_only(files.key_file)
    with in_file(files.key_file, "Move it away, and make another with `mixbayes keys request`"):
        _ = files.key


def _certificate(files: KeyFolder, now: datetime) -> None:
    _find(files.certificate_file, f"Have {files.name}.csr signed with `mixbayes keys sign`, and put the result there")
    with in_file(files.certificate_file, _renew(files)):
        public_key_of(files.certificate)


def _authority(files: KeyFolder, now: datetime) -> None:
    _find(files.authority_file, _ASK_THE_AUTHORITY)
    with in_file(files.authority_file, _ASK_THE_AUTHORITY):
        if not all(map(_may_sign, files.authorities)):
            raise ValueError("it holds a certificate that may not sign others, so it is no authority's")


def _same_key(files: KeyFolder, now: datetime) -> None:
    if files.key.public_key() != files.certificate.public_key():
        raise KeyProblem(
            f"{files.certificate_file} was not signed for the key {files.key_file}",
            f"Put back the key it was signed for, if there is one. Else: {_renew(files)}",
        )


def _same_name(files: KeyFolder, now: datetime) -> None:
    with in_file(files.certificate_file, _renew(files)):
        name = only_name(files.certificate)
    if name != files.name:
        raise KeyProblem(
            f"{files.certificate_file} speaks for {name!r}, not for {files.name!r}",
            f"Every node has its own keys. {_renew(files)}",
        )


def _both_ends(files: KeyFolder, now: datetime) -> None:
    with in_file(files.certificate_file, "Have it signed for TLS servers and clients, as `mixbayes keys sign` does"):
        try:
            uses = files.certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        except x509.ExtensionNotFound:
            return
        if not set(uses) >= _BOTH_ENDS:
            raise ValueError("it is not for both ends of a connection")


def _signed(files: KeyFolder, now: datetime) -> None:
    with in_file(files.certificate_file, _renew(files)):
        path = _path(files)
    if not path:
        raise KeyProblem(
            f"{files.certificate_file} is not signed by any authority in {files.authority_file}",
            "Ask who signs certificates for this federation which of the two is wrong. While an authority is "
            "replaced, authority.pem holds the old and the new one",
        )
    for below, issuer in enumerate(path[1:]):
        allowed = _constraints(issuer).path_length
        if allowed is not None and below > allowed:
            raise KeyProblem(
                f"{files.certificate_file} has more certificates between it and its authority than that allows",
                "Have it signed by the authority itself",
            )


def _in_time(files: KeyFolder, now: datetime) -> None:
    own, *others = _path(files)
    _valid(own, files.certificate_file, now, _renew(files))
    for other in others:
        remedy = "Ask who signs certificates for this federation for a new one"
        _valid(other, f"The certificate of {other.subject.rfc4514_string()} over {files.certificate_file}", now, remedy)


def _valid(certificate: x509.Certificate, file: Path | str, now: datetime, renew: str) -> None:
    said = f"{file} {validity(certificate)}, and now is {to_the_minute(now)}"
    if now < certificate.not_valid_before_utc:
        raise KeyProblem(f"{said}: it is not valid yet", "Set this machine's clock, or wait")
    if now > certificate.not_valid_after_utc:
        raise KeyProblem(f"{said}: it has expired", f"See that this machine's clock is right. {renew}")


def _state_key(files: KeyFolder, now: datetime) -> None:
    if not there(files.state_file):
        if not files.folder.is_dir():
            raise KeyProblem(
                f"{files.state_file} is missing, and there is no folder {files.folder}",
                f"Name the folder with the keys, or run `mixbayes keys request {files.name} --out {files.folder}`",
            )
        if not os.access(files.folder, os.W_OK | os.X_OK):
            raise KeyProblem(
                f"{files.state_file} is missing and cannot be made: the folder does not allow it",
                f"Run `mixbayes keys request {files.name} --out {files.folder}` as the folder's owner",
            )
        return
    _owner_only(files.state_file)
    if len(read(files.state_file)) != STATE_KEY_BYTES:
        raise KeyProblem(
            f"{files.state_file} is not {STATE_KEY_BYTES} bytes long",
            "Put the right one back from your backup. Without it the node's state is lost; then move both away",
        )


def _find(file: Path, remedy: str) -> None:
    if not there(file):
        raise KeyProblem(f"{file} is missing", remedy)


def _owner_only(file: Path) -> None:
    mode = mode_of(file)
    if mode & 0o077:
        raise KeyProblem(f"{file} can be used by others than its owner (mode {mode:04o})", f"Run `chmod 600 {file}`")


def _renew(files: KeyFolder) -> str:
    return f"Run `mixbayes keys request {files.name} --out {files.folder}`, and have {files.name}.csr signed"


def _path(files: KeyFolder) -> list[x509.Certificate]:
    """From the node's certificate up to an authority; nothing if there is no way."""
    path, between = [files.certificate], files.chain[1:]
    while not (trusted := _issuers(path[-1], files.authorities)):
        issuers = _issuers(path[-1], between)
        if not issuers:
            return []
        path.append(issuers[0])
        between = [certificate for certificate in between if certificate != issuers[0]]
    # of one authority's certificates, the old and the renewed, the renewed
    return [*path, max(trusted, key=lambda certificate: certificate.not_valid_after_utc)]


def authority_ends(files: KeyFolder) -> datetime:
    """When the first of the certificates over the node's own one ends. The checks have found a way to an authority."""
    return min(certificate.not_valid_after_utc for certificate in _path(files)[1:])


def _issuers(certificate: x509.Certificate, among: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    return [issuer for issuer in among if _may_sign(issuer) and _signed_by(certificate, issuer)]


def _signed_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _may_sign(certificate: x509.Certificate) -> bool:
    return _constraints(certificate).ca and _usage_allows_signing(certificate)


def _constraints(certificate: x509.Certificate) -> x509.BasicConstraints:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return x509.BasicConstraints(ca=False, path_length=None)


def _usage_allows_signing(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign
    except x509.ExtensionNotFound:
        return True


_STEPS = (
    _Step("private key", _key),
    _Step("certificate", _certificate),
    _Step("authority", _authority),
    _Step("certificate and key belong together", _same_key, ("private key", "certificate")),
    _Step("name in the certificate", _same_name, ("certificate",)),
    _Step("use of the certificate", _both_ends, ("certificate",)),
    _Step("signature of the authority", _signed, ("certificate", "authority")),
    _Step("validity", _in_time, ("signature of the authority",)),
    _Step("state key", _state_key),
)
