"""What `mixbayes doctor` says of keys in the agreement and of revoked certificates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mixbayes.agreement.files import read_federation
from mixbayes.keys.public import public_key_of_node
from mixbayes.keys.revocation import FILE, revoke
from tests.cli.doctor.examined import Site, heart, lines, problems
from tests.keys.helpers import with_keys


def revoked(site: Site, *names: str, days: int = 30) -> None:
    """The list that names these has reached north."""
    revoke([site.keys(name) / f"{name}.pem" for name in names], [], site.authority, datetime.now(UTC), days)
    (site.keys("north") / FILE).write_bytes((site.authority / FILE).read_bytes())


def test_keys_that_are_not_pinned_are_a_warning(site: Site) -> None:
    site.agree(heart())
    found = lines(site.doctor("north"))
    assert found["pinned keys"].startswith(
        "WARNING keys of mixers are not pinned: whoever holds the authority's key can"
    )
    assert "mixbayes federation pin FEDERATION --key a=FINGERPRINT --key b=FINGERPRINT" in found["pinned keys"]


def test_a_mixer_with_another_key_than_agreed_is_a_problem(site: Site) -> None:
    other = with_keys(site.folder / "other", "b", site.authority)
    for file in ("b.key", "b.pem"):
        (site.keys("b") / file).write_bytes((other / file).read_bytes())
    found = problems(site.doctor("b"))
    assert "this node has " in found["agreed key"]
    assert "[E120]" in found["agreed key"]


def test_an_impostor_is_found(site: Site) -> None:
    with site.mixers():
        content = read_federation(site.agreement).model_dump(mode="json")
        for mixer in content["mixers"]:
            with_keys(site.folder / "other", mixer["name"], site.authority)
            mixer["key"] = public_key_of_node(site.folder / "other", mixer["name"]).fingerprint
        site.agree(content)
        found = problems(site.doctor("north"))
    assert "it shows the key" in found["agreement and version of mixer a"]
    assert "[E209]" in found["agreement and version of mixer b"]


def test_a_list_that_is_due_again_is_a_warning(site: Site) -> None:
    revoked(site, "south", days=0)
    assert lines(site.doctor("north"))["revoked certificates"].startswith("WARNING revoked.pem lists 1; the next list")


@pytest.mark.parametrize("content", [b"", b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"])
def test_a_list_that_cannot_be_read_is_a_problem(site: Site, content: bytes) -> None:
    (site.keys("north") / FILE).write_bytes(content)
    assert "[E120]" in problems(site.doctor("north"))["revoked certificates"]


def test_the_own_certificate_in_the_list_is_a_problem(site: Site) -> None:
    revoked(site, "north")
    assert "lists the certificate of this node itself" in problems(site.doctor("north"))["revoked certificates"]


def test_a_revoked_mixer_is_a_problem(site: Site) -> None:
    revoked(site, "a")
    with site.mixers():
        found = problems(site.doctor("north"))
    assert "[E214]" in found["agreement and version of mixer a"]
    assert "agreement and version of mixer b" not in found
