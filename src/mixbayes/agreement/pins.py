"""Pinned keys: the public key that a member of the federation has, and the signed changes by which it gets another.

A key is named by its fingerprint: SHA-256 of its SubjectPublicKeyInfo. The digest of the agreement is of the first keys
alone. A change is signed with the key before it, so that every reader can follow a member from its first key to the
present one, and the agreement stays the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mixbayes.agreement.names import Name
from mixbayes.agreement.problems import Problem

_DIGITS = re.compile(r"[0-9A-F]{64}")
_PURPOSE = "mixbayes: another key of a member"
SIGNING = ec.ECDSA(SHA256())


def checked_fingerprint(text: str) -> str:
    """The fingerprint as `mixbayes keys` prints it, whatever case and colons it is given in, or a ValueError."""
    digits = re.sub(r"[:\s]", "", text).upper()
    if not _DIGITS.fullmatch(digits):
        raise ValueError(f"{text[:100]!r} is not the fingerprint of a key, which is 64 hexadecimal digits")
    return bytes.fromhex(digits).hex(":").upper()


def fingerprint_of(spki: bytes) -> str:
    """Of a public key in DER."""
    return hashlib.sha256(spki).digest().hex(":").upper()


def _checked_base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError("it is not base64") from None
    return text


Fingerprint = Annotated[str, Field(strict=True), AfterValidator(checked_fingerprint)]
Base64 = Annotated[str, Field(strict=True, max_length=1000), AfterValidator(_checked_base64)]


class KeyChange(BaseModel):
    """A member's key is another one from now on. The old key says so: `signature` is its own, over `statement`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    member: Name
    number: Annotated[int, Field(strict=True, ge=1)]
    """Of this member's changes, from 1."""
    old: Fingerprint
    new: Fingerprint
    old_key: Base64
    """The old public key in DER; a fingerprint alone could verify nothing."""
    signature: Base64


def statement(agreement: str, member: str, number: int, old: str, new: str) -> bytes:
    """What the old key signs. `agreement` is the digest: a change for one agreement says nothing in another."""
    said = {"agreement": agreement, "member": member, "number": number, "old": old, "new": new, "purpose": _PURPOSE}
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def current_key(first: str | None, changes: Sequence[KeyChange], member: str) -> str | None:
    """The member's present key, or None if none was ever agreed."""
    return next((change.new for change in reversed(changes) if change.member == member), first)


def change_problems(agreement: str, first: Mapping[str, str | None], changes: Sequence[KeyChange]) -> Iterator[Problem]:
    """Whether each member's changes lead from its first key to the last one, every step signed."""
    now = dict(first)
    numbers = dict.fromkeys(first, 0)
    for i, change in enumerate(changes):
        if why := _why_not(agreement, change, now.get(change.member), numbers.get(change.member, 0)):
            yield ("changes", i), why
            return  # what follows rests on it
        now[change.member], numbers[change.member] = change.new, change.number


def _why_not(agreement: str, change: KeyChange, now: str | None, number: int) -> str:
    if now is None:
        return f"{change.member!r} is no member with a key in this agreement"
    if change.number != number + 1:
        return f"it is change {change.number} of the key of {change.member!r}, where {number + 1} is due"
    if change.old != now:
        return f"it changes a key of {change.member!r} that is not the present one"
    if change.new == now:
        return "the new key is the old one"
    return _why_not_signed(agreement, change)


def _why_not_signed(agreement: str, change: KeyChange) -> str:
    spki = base64.b64decode(change.old_key)
    if fingerprint_of(spki) != change.old:
        return "its old_key is not the one whose fingerprint is old"
    said = statement(agreement, change.member, change.number, change.old, change.new)
    try:
        key = load_der_public_key(spki)
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(base64.b64decode(change.signature), said, SIGNING)
            return ""
    except (ValueError, UnsupportedAlgorithm):
        pass  # no key that could sign
    except InvalidSignature:
        return "its signature is not the old key's, or is for another agreement"
    return "its old_key is no ECDSA key"


def key_problems(keys: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """The members that share a key with another one, and with whom."""
    owners: dict[str, str] = {}
    for name, key in keys.items():
        if key is None:
            continue
        if key in owners:
            yield name, f"{owners[key]!r} has the same"
        owners[key] = name
