"""Values on disk that only the node's own key opens again, each only at its place."""

from __future__ import annotations

import hmac
import json
import secrets
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from mixbayes.transport.errors import BadState

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
_FINGERPRINT_BYTES = 16


def place(table: str, column: str, *row: str | int) -> str:
    """Where a value lies, e.g. `contribution.share["north", 3]`; different places never read the same."""
    return f"{table}.{column}{json.dumps(row)}"


def fingerprint(key: bytes) -> str:
    """Tells keys apart and says nothing else about them."""
    return _derived(key, b"mixbayes state fingerprint 1", _FINGERPRINT_BYTES).hex()


class Seal:
    """AES-256-GCM under a key of its own, which HKDF derives from the node's state key.

    Nonces are random: one key closes 2^32 values before a repeated nonce becomes likelier than 2^-32.
    """

    def __init__(self, key: bytes) -> None:
        self.fingerprint = fingerprint(key)
        self._tags = _derived(key, b"mixbayes state tags 1", KEY_BYTES)
        self._cipher = AESGCM(_derived(key, b"mixbayes state sealing 1", KEY_BYTES))

    def close(self, plain: bytes, place: str) -> bytes:
        """Nonce, ciphertext and tag; they open at this place alone."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """What was closed at this place."""
        if len(sealed) < NONCE_BYTES + TAG_BYTES:
            raise _unopened(place)
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except InvalidTag:
            raise _unopened(place) from None

    def tag(self, plain: bytes) -> bytes:
        """Tells this node alone whether two values are the same; nobody else can test a guess against it."""
        return hmac.digest(self._tags, plain, "sha256")

    def __repr__(self) -> str:
        return "Seal()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a seal stays in its process")


def _derived(key: bytes, purpose: bytes, length: int) -> bytes:
    if len(key) != KEY_BYTES:
        raise ValueError(f"a state key has {KEY_BYTES} bytes, not {len(key)}")
    return HKDF(SHA256(), length, salt=None, info=purpose).derive(key)


def _unopened(place: str) -> BadState:
    return BadState(
        f"What is kept at {place} does not open: it is damaged, was moved there from another place, or was closed "
        "with another key. Put this state folder aside and take part in a new round with an empty one."
    )
