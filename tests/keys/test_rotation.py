"""A change of a member's key, as its old key signs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.agreement.agreement import federation_from
from mixbayes.agreement.pinning import with_change
from mixbayes.keys.problems import KeyProblem
from mixbayes.keys.public import public_key_in, public_key_of_node
from mixbayes.keys.rotation import signed_change
from tests.keys.helpers import HEART, changed, with_keys


def test_the_old_key_names_the_next_one_and_that_the_next(tmp_path: Path) -> None:
    first, second, third = (with_keys(tmp_path / str(n), "a", tmp_path / "authority") for n in range(3))
    keys = [public_key_of_node(folder, "a").fingerprint for folder in (first, second, third)]
    agreed = federation_from(changed(HEART, (("mixers", 0, "key"), keys[0])))
    for folder, after in zip((first, second), keys[1:], strict=True):
        agreed = with_change(agreed, signed_change(agreed, "a", after, folder / "a.key"))
        assert agreed.key_of("a") == after
    assert [change.number for change in agreed.changes] == [1, 2]
    with pytest.raises(KeyProblem, match=r"a\.key is the key .*, and the agreement says"):
        signed_change(agreed, "a", keys[0], first / "a.key")


def test_a_key_is_the_same_in_all_its_files(tmp_path: Path) -> None:
    folder = with_keys(tmp_path / "keys", "a", tmp_path / "authority")
    key = public_key_of_node(folder, "a")
    for file in ("a.csr", "a.pem"):
        found = public_key_in(folder / file)
        assert (found.name, found.fingerprint) == ("a", key.fingerprint)
    assert public_key_in(folder / "authority.pem").name == "CN=mixbayes authority"


@pytest.mark.parametrize("content", [b"", b"key", b"-----BEGIN CERTIFICATE REQUEST-----\n"])
def test_what_holds_no_public_key_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pem").write_bytes(content)
    with pytest.raises(KeyProblem, match=r"x\.pem: it holds no certificate"):
        public_key_in(tmp_path / "x.pem")
