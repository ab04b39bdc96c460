"""Lists of revoked certificates: made by the authority, and read where only its signature counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from mixbayes.keys.pem import certificates_in
from mixbayes.keys.problems import KeyProblem
from mixbayes.keys.revocation import FILE, read_revoked, revoke
from tests.keys.helpers import with_keys

NOW = datetime.now(UTC)


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    with_keys(tmp_path / "keys", "north", tmp_path / "authority")
    return tmp_path / "authority"


def serial(certificate: Path) -> int:
    return certificates_in(certificate.read_bytes())[0].serial_number


def trusted(*authorities: Path) -> list[x509.Certificate]:
    return [certificates_in((folder / "authority.pem").read_bytes())[0] for folder in authorities]


def test_without_a_file_nobody_is_revoked(authority: Path) -> None:
    assert read_revoked(authority / FILE, trusted(authority)) is None


def test_certificates_and_serial_numbers_are_listed_and_stay(authority: Path, tmp_path: Path) -> None:
    north = tmp_path / "keys" / "north.pem"
    made = revoke([north], [], authority, NOW)
    assert made.serials == {serial(north)}
    assert revoke([], [7], authority, NOW).serials == {serial(north), 7}
    again = revoke([], [], authority, NOW, days=3)
    assert read_revoked(authority / FILE, trusted(authority)) == again
    assert again.serials == {serial(north), 7}
    assert again.next_update == (NOW + timedelta(days=3)).replace(microsecond=0)


def test_a_list_may_be_empty(authority: Path) -> None:
    revoke([], [], authority, NOW)
    found = read_revoked(authority / FILE, trusted(authority))
    assert found is not None
    assert found.serials == frozenset()


def test_every_list_has_a_higher_number_and_keeps_the_dates(authority: Path) -> None:
    revoke([], [7], authority, NOW)
    revoke([], [8], authority, NOW + timedelta(days=1))
    found = x509.load_pem_x509_crl((authority / FILE).read_bytes())
    assert found.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number == 2
    first, second = (found.get_revoked_certificate_by_serial_number(number) for number in (7, 8))
    assert first is not None
    assert second is not None
    assert second.revocation_date_utc - first.revocation_date_utc == timedelta(days=1)


@pytest.mark.parametrize("by_serial", [False, True])
def test_the_authority_does_not_list_itself(authority: Path, *, by_serial: bool) -> None:
    own = authority / "authority.pem"
    with pytest.raises(KeyProblem, match="the authority's own certificate, which no list can revoke"):
        revoke([] if by_serial else [own], [serial(own)] if by_serial else [], authority, NOW)
    assert not (authority / FILE).exists()


def test_only_certificates_of_this_authority_are_listed(authority: Path, tmp_path: Path) -> None:
    other = with_keys(tmp_path / "others", "south", tmp_path / "other")
    with pytest.raises(KeyProblem, match=r"south\.pem: this authority has not signed it"):
        revoke([other / "south.pem"], [], authority, NOW)
    assert not (authority / FILE).exists()


def test_lists_of_two_authorities_count_together(authority: Path, tmp_path: Path) -> None:
    with_keys(tmp_path / "others", "south", tmp_path / "other")
    revoke([], [7], authority, NOW, days=9)
    soon = revoke([], [8], tmp_path / "other", NOW, days=5)
    both = tmp_path / FILE
    both.write_bytes((authority / FILE).read_bytes() + (tmp_path / "other" / FILE).read_bytes())
    found = read_revoked(both, trusted(authority, tmp_path / "other"))
    assert found is not None
    assert (found.serials, found.next_update) == ({7, 8}, soon.next_update)
    with pytest.raises(KeyProblem, match="not signed by any authority"):
        read_revoked(both, trusted(authority))


def damaged(pem: bytes) -> dict[str, bytes]:
    middle = len(pem) // 2
    swapped = bytes([pem[middle] ^ 1 if pem[middle] != ord("\n") else ord("A")])
    return {
        "empty": b"",
        "cut": pem[:middle],
        "changed": pem[:middle] + swapped + pem[middle + 1 :],
        "with something else": pem + b"more",
        "half of two": pem + pem[:middle],
        "no list": b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n",
    }


@pytest.mark.parametrize("what", damaged(b"xx"))
def test_a_damaged_list_is_refused(authority: Path, what: str) -> None:
    revoke([], [7], authority, NOW)
    (authority / FILE).write_bytes(damaged((authority / FILE).read_bytes())[what])
    with pytest.raises(KeyProblem) as told:
        read_revoked(authority / FILE, trusted(authority))
    assert FILE in str(told.value)
    if what != "half of two":
        with pytest.raises(KeyProblem, match="those listed before could come in again"):
            revoke([], [8], authority, NOW)
