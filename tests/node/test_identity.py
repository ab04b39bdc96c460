"""A node's keys while it runs: renewed ones are taken, wrong ones are not, and nothing is read too often."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mixbayes.keys.authority import sign
from mixbayes.keys.problems import BadKeys
from mixbayes.node import identity
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from tests.keys.helpers import with_keys


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return with_keys(tmp_path / "keys", "north", tmp_path / "authority")


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def north(keys: Path, said: io.StringIO) -> Identity:
    return Identity(keys, "north", logger("party north", said))


def renew(keys: Path, name: str = "north") -> None:
    with_keys(keys, name, keys.parent / "authority")


def test_files_that_do_not_change_are_read_once(north: Identity, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_LOOK_EVERY", 600.0)
    before = north.credentials()
    renew(keys)
    assert north.credentials() == before, "it looks every few seconds"


def test_renewed_ones_are_taken(
    north: Identity, keys: Path, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)
    before = north.credentials()
    renew(keys)
    after = north.credentials()
    assert after.private_key == before.private_key
    assert after.certificate == (keys / "north.pem").read_bytes() != before.certificate
    assert "keys were renewed" in said.getvalue()


@pytest.mark.parametrize("file", ["north.pem", "north.key", "authority.pem"])
@pytest.mark.parametrize(
    "content", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", b"\xff\x00"]
)
def test_wrong_ones_are_not(
    north: Identity, keys: Path, said: io.StringIO, monkeypatch: pytest.MonkeyPatch, file: str, content: bytes
) -> None:
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)
    before = north.credentials()
    (keys / file).write_bytes(content)
    assert north.credentials() == before
    assert "new keys are not used" in said.getvalue()
    assert said.getvalue().count("\n") == 1
    assert north.credentials() == before
    assert said.getvalue().count("\n") == 1, "it says so once"


def test_files_that_vanish_are_not_missed_at_once(north: Identity, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)
    before = north.credentials()
    (keys / "north.pem").unlink()
    assert north.credentials() == before


def test_a_certificate_of_another_name_is_not_taken(
    north: Identity, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_LOOK_EVERY", 0.0)
    before = north.credentials()
    renew(keys, "south")
    for suffix in ("key", "pem"):
        (keys / f"north.{suffix}").write_bytes((keys / f"south.{suffix}").read_bytes())
    assert north.credentials() == before


def test_without_keys_there_is_no_node(tmp_path: Path) -> None:
    with pytest.raises(BadKeys, match="is missing"):
        Identity(tmp_path, "north", logger("party north"))


@pytest.mark.parametrize(("days", "told"), [(12, True), (200, False)])
def test_a_certificate_that_ends_soon_is_said_at_the_start(
    keys: Path, said: io.StringIO, days: int, told: bool
) -> None:
    sign(keys / "north.csr", keys.parent / "authority", keys / "north.pem", days)
    Identity(keys, "north", logger("party north", said)).tell_soon()
    assert ("the certificate ends soon" in said.getvalue()) == told
