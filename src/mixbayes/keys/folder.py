"""A node's keys, checked before anybody is dialled.

TLS checks most of it again. But it says little about its own side's mistakes, and says it to the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mixbayes.keys.authority import make_state_key
from mixbayes.keys.checks import Check, KeyFolder, authority_ends, checks, look_at
from mixbayes.keys.pem import certificate_names
from mixbayes.keys.problems import KeyProblem
from mixbayes.keys.storage import read, there

__all__ = ["Check", "NodeKeys", "certificate_names", "checks", "load_keys"]


@dataclass(frozen=True)
class NodeKeys:
    """What a node proves itself by and whom it trusts, in PEM as TLS takes it, and the key of its state."""

    name: str
    private_key: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    """The node's own certificate, then any between it and the authority."""
    authority: bytes = field(repr=False)
    state_key: bytes = field(repr=False)
    expires: datetime
    authority_expires: datetime = field(repr=False)
    """When the first of the certificates over the node's own one ends."""


def load_keys(folder: str | Path, name: str, now: datetime) -> NodeKeys:
    """The keys of this node, or the first thing wrong with them. A state key that is missing is drawn."""
    files = KeyFolder(Path(folder), name)
    for check in look_at(files, now):
        if check.problem:
            raise KeyProblem(check.problem, check.remedy)
    if not there(files.state_file):
        make_state_key(files.state_file)
    return NodeKeys(
        name=name,
        private_key=files.key_pem,
        certificate=files.certificate_pem,
        authority=files.authority_pem,
        state_key=read(files.state_file),
        expires=files.certificate.not_valid_after_utc,
        authority_expires=authority_ends(files),
    )
