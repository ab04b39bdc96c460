"""The key folder: everything that the node checks when it starts, and how long the certificate still holds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from mixbayes.keys.checks import SOON, KeyFolder, look_at
from mixbayes.keys.pem import fingerprint, public_key_of
from mixbayes.keys.problems import BadKeys, KeyProblem
from mixbayes.keys.revocation import FILE, read_revoked
from mixbayes.node.doctor.finding import Finding, fine, problem, warning
from mixbayes.site_time import day
from mixbayes.transport.tls import Credentials

VALIDITY = "validity"


def key_findings(files: KeyFolder, now: datetime) -> Iterator[Finding]:
    """A finding for every check that a node makes when it starts."""
    for check in look_at(files, now):
        if check.problem:
            yield problem(check.what, check.problem, check.remedy, BadKeys)
        elif check.what == VALIDITY:
            yield _remaining(files, now)
        else:
            yield fine(check.what, _about(files, check.what))


def checked(files: KeyFolder, now: datetime) -> Credentials:
    """The credentials for TLS. Raises the first problem of the folder."""
    for check in look_at(files, now):
        if check.problem:
            raise KeyProblem(check.problem, check.remedy)
    return credentials(files)


def credentials(files: KeyFolder) -> Credentials:
    """The credentials for TLS. Nothing is written, unlike when a node starts."""
    revoked = read_revoked(files.folder / FILE, files.authorities)
    serials = revoked.serials if revoked else frozenset[int]()
    return Credentials(files.key_pem, files.certificate_pem, files.authority_pem, serials)


def state_key(folder: Path, name: str) -> bytes | None:
    """The key of the node's state, if there is one already that can be read."""
    try:
        return KeyFolder(folder, name).state_file.read_bytes()
    except OSError:
        return None


def _remaining(files: KeyFolder, now: datetime) -> Finding:
    ends = files.certificate.not_valid_after_utc
    left = ends - now
    said = f"the certificate holds until {day(ends)}, for {left.days} more days"
    if left >= SOON:
        return fine(VALIDITY, said)
    remedy = f"Run `mixbayes keys request {files.name} --out {files.folder}`, and have {files.name}.csr signed"
    return warning(VALIDITY, said, remedy)


def _about(files: KeyFolder, what: str) -> str:
    if what == "certificate":
        return f"fingerprint {fingerprint(public_key_of(files.certificate))}"
    if what == "authority":
        return ", ".join(one.subject.rfc4514_string() for one in files.authorities)
    if what == "state key" and not files.state_file.exists():
        return "it will be made when the node starts"
    return "as it should be"
