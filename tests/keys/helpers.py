"""Agreements and keys to test with."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from mixbayes.keys.authority import make_authority, make_request, sign
from mixbayes.keys.certificates import authority_certificate, node_certificate

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)

PRIVACY: dict[str, Any] = {
    "epsilon": 50.0,
    "delta": 0.1,
    "total_epsilon": 100.0,
    "total_delta": 0.1,
    "coins": (2, 2, 2, 2, 2, 2, 2, 200),
}
HEART: dict[str, Any] = {
    "name": "heart",
    "protocol": "shares",
    "parties": [{"name": "north"}, {"name": "south"}, {"name": "west"}],
    "mixers": [{"name": "a", "address": "127.0.0.1:4001"}, {"name": "b", "address": "[::1]:4002"}],
    "policy": {"minimum": 2},
    "dictionary": {
        "class_column": "class",
        "classes": ["absent", "present"],
        "attributes": [
            {"name": "sex", "kind": "nominal", "values": ["f", "m"]},
            {"name": "age", "kind": "numeric", "low": 20, "high": 110},
            {"name": "chol", "kind": "binned", "low": 100.0, "high": 600.0, "cuts": [197.25, 300.0]},
        ],
    },
}
PAIR: dict[str, Any] = HEART | {
    "parties": [{"name": "north", "address": "north.example.org:8443"}, {"name": "south"}],
    "mixers": [],
}
Place = tuple[str | int, ...]


def changed(content: dict[str, Any], *changes: tuple[Place, object]) -> dict[str, Any]:
    """A copy in which these places hold something else."""
    result = copy.deepcopy(content)
    for path, value in changes:
        place: Any = result
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    return result


def with_keys(folder: Path, name: str, authority: Path) -> Path:
    """A key folder as the commands leave it."""
    if not (authority / "authority.pem").exists():
        make_authority(authority)
    made = make_request(name, folder)
    sign(made.file, authority, folder / f"{name}.pem")
    (folder / "authority.pem").write_bytes((authority / "authority.pem").read_bytes())
    return folder


@dataclass(frozen=True)
class Issuer:
    """An authority in memory, to issue what the commands would not."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls, begins: datetime = NOW - DAY, ends: datetime = NOW + DAY, name: str = "authority") -> Issuer:
        key = ec.generate_private_key(ec.SECP256R1())
        return cls(key, authority_certificate(key, name, begins, ends))

    def node(
        self, key: ec.EllipticCurvePrivateKey, name: str, begins: datetime = NOW - DAY, ends: datetime = NOW + DAY
    ) -> x509.Certificate:
        return node_certificate(key.public_key(), name, self.key, self.certificate, begins, ends)


def pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)


def key_pem(key: Any) -> bytes:
    encoded: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return encoded


def put(folder: Path, name: str, key: bytes, certificate: bytes, authority: bytes) -> Path:
    """A key folder with just this in it."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.key").write_bytes(key)
    (folder / f"{name}.key").chmod(0o600)
    (folder / f"{name}.pem").write_bytes(certificate)
    (folder / "authority.pem").write_bytes(authority)
    return folder
