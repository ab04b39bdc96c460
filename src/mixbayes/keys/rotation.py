"""A change from one key of a member to another, signed with the old one."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.pins import SIGNING, KeyChange, statement
from mixbayes.keys.pem import fingerprint, private_key_in
from mixbayes.keys.problems import KeyProblem, in_file
from mixbayes.keys.storage import read


def signed_change(federation: Federation, member: str, new: str, old_key: Path) -> KeyChange:
    """The member's next change under this agreement: to the key with the fingerprint `new`."""
    pem = read(old_key)
    with in_file(old_key, "Give the folder with the key that the agreement says"):
        key = private_key_in(pem)
    old = fingerprint(key.public_key())
    if old != federation.key_of(member):
        raise KeyProblem(
            f"{old_key} is the key {old}, and the agreement says {federation.key_of(member)}",
            "Give the folder with the key that the agreement says. If it is lost, make a new agreement",
        )
    number = 1 + sum(change.member == member for change in federation.changes)
    signature = key.sign(statement(federation.digest(), member, number, old, new), SIGNING)
    spki = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return KeyChange(member=member, number=number, old=old, new=new, old_key=_text(spki), signature=_text(signature))


def _text(content: bytes) -> str:
    return b64encode(content).decode()
