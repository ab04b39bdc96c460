"""Keys in the agreement, and lists of revoked certificates, as they are typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.agreement.files import read_federation, written
from mixbayes.keys.pem import certificates_in
from mixbayes.keys.public import public_key_of_node
from mixbayes.keys.revocation import FILE, read_revoked
from tests.cli.in_process import Done, command
from tests.keys.helpers import HEART, with_keys

AGREEMENT = Path("federation.toml")
Typed = Callable[[str], Done]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Runs a line in a folder with an agreement without keys, and with keys of both mixers."""
    monkeypatch.chdir(tmp_path)
    AGREEMENT.write_text("# ours\n" + written(federation_from(HEART)))
    for name in ("a", "b"):
        with_keys(Path("keys"), name, Path("authority"))

    def run(line: str) -> Done:
        first, *others = line.split()
        return command(first, monkeypatch, capsys)(*others)

    return run


def key(name: str, folder: str = "keys") -> str:
    return public_key_of_node(Path(folder), name).fingerprint


def agreed() -> Federation:
    return read_federation(AGREEMENT)


def pin_both(typed: Typed) -> Done:
    return typed(f"federation pin federation.toml --key a=keys/a.csr --key b={key('b').lower()}")


def test_keys_are_pinned_from_files_and_fingerprints(typed: Typed) -> None:
    before = agreed().digest()
    done = pin_both(typed)
    assert (done.code, done.out) == (0, ""), done.err
    assert {name: key for name, key in agreed().first_keys.items() if key} == {"a": key("a"), "b": key("b")}
    assert AGREEMENT.read_text().startswith("# ours\n")
    for part in (key("a"), key("b"), before, agreed().digest(), "another agreement"):
        assert part in done.err


def test_show_has_the_keys_or_says_that_there_are_none(typed: Typed) -> None:
    warning = "keys of mixers are not pinned: whoever holds the authority's key can pose as both"
    assert warning in typed("federation show federation.toml").out
    pin_both(typed)
    shown = typed("federation show federation.toml").out
    assert warning not in shown
    assert f"key of a:       {key('a')}\n" in shown
    assert typed("federation show federation.toml --json").document["keys"] == {"a": key("a"), "b": key("b")}


def test_a_key_is_rotated_by_its_old_key(typed: Typed) -> None:
    pin_both(typed)
    before = agreed()
    with_keys(Path("next"), "a", Path("authority"))
    done = typed("federation rotate-key federation.toml --name a --keys keys --to next/a.csr")
    assert done.code == 0, done.err
    assert (agreed().digest(), agreed().key_of("a")) == (before.digest(), key("a", "next"))
    for part in (key("a"), key("a", "next"), before.digest(), "restart them with it, the mixers first"):
        assert part in done.err
    assert f"key of a:       {key('a', 'next')} (by change 1)" in typed("federation show federation.toml").out
    again = typed("federation rotate-key federation.toml --name a --keys keys --to keys/a.csr")
    assert (again.code, "E120" in again.err) == (3, True)


REFUSED = {
    "federation pin federation.toml": (2, "Say whose key is to be written"),
    "federation pin federation.toml --key a": (2, "say NAME=FINGERPRINT|FILE"),
    "federation pin federation.toml --key a=keys/b.pem": (2, "keys/b.pem is for 'b', not for 'a'"),
    "federation pin federation.toml --key a=none.pem": (2, "there is no such file"),
    "federation pin federation.toml --key a=authority/authority.key": (3, "it holds no certificate"),
    f"federation pin federation.toml --key x={'ab' * 32}": (2, "has no party 'x'"),
    f"federation pin federation.toml --key a={'ab' * 32} --key a={'ab' * 32}": (2, "each name once"),
    "federation rotate-key federation.toml --name a --keys keys --to keys/a.csr": (2, "No key of mixer a is agreed"),
    "federation rotate-key federation.toml --name x --keys keys --to keys/a.csr": (2, "has no party 'x'"),
    "keys fingerprint": (2, "Give certificates or requests"),
    "keys fingerprint --keys keys": (2, "Give certificates or requests"),
    "keys revoke --serial xyz --authority authority": (2, "hexadecimal digits"),
    "keys revoke keys/a.csr --authority authority": (3, "it holds no certificate"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_mistakes_change_nothing(typed: Typed, line: str) -> None:
    code, said = REFUSED[line]
    before = AGREEMENT.read_bytes()
    done = typed(line)
    assert (done.code, AGREEMENT.read_bytes()) == (code, before), done.err
    assert said in done.err
    assert not Path("authority", FILE).exists()


def test_fingerprints_of_files_and_folders(typed: Typed) -> None:
    lines = typed("keys fingerprint keys/a.csr keys/a.pem --keys keys --name b").out.splitlines()
    assert [line.split() for line in lines] == [
        [key("a"), "a", "keys/a.csr"],
        [key("a"), "a", "keys/a.pem"],
        [key("b"), "b", "keys/b.key"],
    ]
    (found,) = json.loads(typed("keys fingerprint keys/a.csr --json").out)
    assert found == {"file": "keys/a.csr", "name": "a", "fingerprint": key("a")}


def test_certificates_are_revoked(typed: Typed) -> None:
    listed = [certificates_in(Path("keys", f"{name}.pem").read_bytes())[0].serial_number for name in ("a", "b")]
    assert typed("keys revoke keys/a.pem --authority authority").code == 0
    done = typed(f"keys revoke --serial {listed[1]:x} --authority authority --days 30")
    assert (done.code, done.out) == (0, "")
    assert "revoked:      2 certificates" in done.err
    found = read_revoked(Path("authority", FILE), certificates_in(Path("authority/authority.pem").read_bytes()))
    assert found is not None
    assert found.serials == set(listed)
