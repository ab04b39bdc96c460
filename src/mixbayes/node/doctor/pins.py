"""The keys that the agreement says: whether there are any, and whether this node has its own."""

from __future__ import annotations

from collections.abc import Iterator

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.pinning import not_pinned
from mixbayes.keys.checks import KeyFolder
from mixbayes.keys.pem import fingerprint, public_key_of
from mixbayes.keys.problems import BadKeys
from mixbayes.node.doctor.finding import Finding, fine, problem, warning

WHAT, OWN = "pinned keys", "agreed key"


def pin_findings(federation: Federation, name: str, files: KeyFolder | None) -> Iterator[Finding]:
    """`files` are this node's, if they can be used."""
    if weak := not_pinned(federation):
        given = " ".join(f"--key {member}=FINGERPRINT" for member in federation.unpinned)
        yield warning(WHAT, weak, f"Agree anew with `mixbayes federation pin FEDERATION {given}`")
    else:
        yield fine(WHAT, f"nobody with another key is taken for {', '.join(_whose(federation))}")
    if files and (agreed := federation.key_of(name)):
        yield _own(federation.title(name), fingerprint(public_key_of(files.certificate)), agreed)


def _whose(federation: Federation) -> Iterator[str]:
    return (federation.title(name) for name in federation.first_keys if federation.key_of(name))


def _own(title: str, found: str, agreed: str) -> Finding:
    if found == agreed:
        return fine(OWN, f"this node has the key that the agreement says of {title}")
    remedy = "Put the agreed key and its certificate there, or use the federation file to which this key was added"
    return problem(OWN, f"this node has {found}, and the agreement says {agreed}", remedy, BadKeys)
