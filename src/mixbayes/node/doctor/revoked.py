"""The list of revoked certificates: whether it can be used, is recent, and does not name this node itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from mixbayes.keys.checks import KeyFolder
from mixbayes.keys.problems import BadKeys, KeyProblem
from mixbayes.keys.revocation import FILE, Revoked, read_revoked
from mixbayes.node.doctor.finding import Finding, fine, problem, warning
from mixbayes.site_time import day

WHAT = "revoked certificates"


def revoked_findings(files: KeyFolder, now: datetime) -> Iterator[Finding]:
    """Of files that can be used otherwise."""
    try:
        found = read_revoked(files.folder / FILE, files.authorities)
    except KeyProblem as wrong:
        yield problem(WHAT, wrong.problem, wrong.remedy, BadKeys)
        return
    if found is None:
        yield fine(WHAT, f"there is no {FILE}; nobody's certificate is revoked")
    elif files.certificate.serial_number in found.serials:
        said = f"{FILE} lists the certificate of this node itself, so that nobody admits it"
        yield problem(WHAT, said, "Ask who signs certificates for this federation", BadKeys)
    else:
        yield _recent(found, now)


def _recent(found: Revoked, now: datetime) -> Finding:
    said = f"{FILE} lists {len(found.serials)}; the next list was promised for {day(found.next_update)}"
    if now <= found.next_update:
        return fine(WHAT, said)
    return warning(WHAT, said, "Ask who signs certificates for this federation for a newer one")
