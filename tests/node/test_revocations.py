"""Revoked certificates at a running node: new lists count at once, bad ones and older ones take nothing back."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mixbayes.keys.problems import BadKeys
from mixbayes.keys.public import public_key_of_node
from mixbayes.keys.revocation import FILE, revoke
from mixbayes.node import identity
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from tests.keys.helpers import with_keys


@pytest.fixture(autouse=True)
def look_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return with_keys(tmp_path / "keys", "north", tmp_path / "authority")


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def north(keys: Path, said: io.StringIO) -> Identity:
    return Identity(keys, "north", logger("party north", said))


def listed(keys: Path, *serials: int) -> bytes:
    """The authority's list with these too, in the node's folder."""
    authority = keys.parent / "authority"
    revoke([], serials, authority, datetime.now(UTC))
    (keys / FILE).write_bytes((authority / FILE).read_bytes())
    return (keys / FILE).read_bytes()


def test_without_a_list_nobody_is_revoked(north: Identity) -> None:
    assert north.revoked() == frozenset()
    assert north.credentials().revoked == frozenset()


def test_a_list_counts_when_it_comes(north: Identity, keys: Path, said: io.StringIO) -> None:
    listed(keys, 0x4F)
    assert north.revoked() == {0x4F} == north.credentials().revoked
    listed(keys, 0x5F)
    assert north.revoked() == {0x4F, 0x5F}
    assert said.getvalue().count("certificates were revoked") == 2
    assert '"5f"' in said.getvalue()
    assert "keys were renewed" not in said.getvalue()


@pytest.mark.parametrize("content", [b"", b"what", None])
def test_a_list_that_cannot_be_used_takes_nothing_back(
    north: Identity, keys: Path, said: io.StringIO, tmp_path: Path, content: bytes | None
) -> None:
    listed(keys, 7)
    assert north.revoked() == {7}
    if content is None:  # of another authority
        with_keys(tmp_path / "others", "x", tmp_path / "other")
        revoke([], [8], tmp_path / "other", datetime.now(UTC))
        content = (tmp_path / "other" / FILE).read_bytes()
    (keys / FILE).write_bytes(content)
    assert [north.revoked() for _ in range(2)] == [{7}, {7}]
    assert said.getvalue().count("the new list of revoked certificates is not used") == 1


def test_neither_an_older_list_nor_none_takes_anything_back(north: Identity, keys: Path) -> None:
    older = listed(keys, 7)
    listed(keys, 8)
    assert north.revoked() == {7, 8}
    (keys / FILE).write_bytes(older)
    assert north.revoked() == {7, 8}
    (keys / FILE).unlink()
    assert north.revoked() == {7, 8}


def test_a_renewed_certificate_is_taken_beside_a_list_that_is_damaged(north: Identity, keys: Path) -> None:
    (keys / FILE).write_bytes(b"what")
    with_keys(keys, "north", keys.parent / "authority")
    assert north.credentials().certificate == (keys / "north.pem").read_bytes()


def test_no_node_starts_with_a_list_that_cannot_be_used(keys: Path) -> None:
    (keys / FILE).write_bytes(b"what")
    with pytest.raises(BadKeys, match=r"revoked\.pem"):
        Identity(keys, "north", logger("party north"))


def test_a_key_that_is_not_the_agreed_one_is_not_taken(keys: Path, said: io.StringIO) -> None:
    agreed = public_key_of_node(keys, "north").fingerprint
    node = Identity(keys, "north", logger("party north", said), agreed)
    before = node.credentials()
    with_keys(keys.parent / "next", "north", keys.parent / "authority")
    for file in ("north.key", "north.pem"):
        (keys / file).write_bytes((keys.parent / "next" / file).read_bytes())
    assert node.credentials() == before
    assert "the agreement says" in said.getvalue()
    with pytest.raises(BadKeys, match="the agreement says"):
        Identity(keys, "north", logger("party north"), agreed)
