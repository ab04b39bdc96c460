from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from cryptography.x509 import verification
from cryptography.x509.oid import NameOID

from mixbayes.keys import storage
from mixbayes.keys.authority import make_authority, make_request, sign
from mixbayes.keys.certificates import NODE_DAYS, SKEW, authority_certificate
from mixbayes.keys.pem import certificate_names, certificates_in
from mixbayes.keys.problems import BadKeys
from mixbayes.protocol.errors import Unsupported
from tests.keys.helpers import DAY, Issuer, key_pem, pem, with_keys


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    make_authority(tmp_path / "authority")
    return tmp_path / "authority"


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def request(file: Path, key: Any, *names: x509.GeneralName, subject: str = "north") -> Path:
    """Any request, as openssl might make it."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    signed = builder.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256())
    file.write_bytes(signed.public_bytes(Encoding.PEM))
    return file


def elliptic() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@pytest.mark.parametrize("purpose", ["server", "client"])
def test_a_signed_certificate_passes_for_its_name_at_both_ends(tmp_path: Path, purpose: str) -> None:
    """The judge is another implementation of X.509 than the one under test, and a strict one."""
    folder = with_keys(tmp_path / "north", "north", tmp_path / "authority")
    (certificate,) = certificates_in((folder / "north.pem").read_bytes())
    builder = verification.PolicyBuilder().store(
        verification.Store(certificates_in((folder / "authority.pem").read_bytes()))
    )
    if purpose == "server":
        builder.build_server_verifier(x509.DNSName("north")).verify(certificate, [])
        with pytest.raises(verification.VerificationError):
            builder.build_server_verifier(x509.DNSName("south")).verify(certificate, [])
    else:
        assert builder.build_client_verifier().verify(certificate, []).subjects == [x509.DNSName("north")]


def test_what_is_made_and_who_may_read_it(tmp_path: Path) -> None:
    folder = with_keys(tmp_path / "deep" / "north", "north", tmp_path / "authority")
    secret = [folder / "north.key", folder / "north.state", tmp_path / "authority" / "authority.key"]
    public = [folder / "north.csr", folder / "north.pem", tmp_path / "authority" / "authority.pem"]
    assert [mode(file) for file in secret] == [0o600] * 3
    assert [mode(file) for file in public] == [0o644] * 3
    assert mode(folder) == 0o700
    assert len((folder / "north.state").read_bytes()) == 32
    assert {file.name for file in folder.iterdir()} == {
        "north.key",
        "north.state",
        "north.csr",
        "north.pem",
        "authority.pem",
    }
    assert certificate_names((folder / "north.pem").read_bytes()) == ("north",)


def test_an_authority_signs_nodes_only(authority: Path) -> None:
    (certificate,) = certificates_in((authority / "authority.pem").read_bytes())
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert constraints.critical
    assert (constraints.value.ca, constraints.value.path_length) == (True, 0)
    assert certificate.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign


def test_validity_begins_before_now_for_slow_clocks(tmp_path: Path, authority: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    signed = sign(make_request("north", tmp_path).file, authority, tmp_path / "north.pem")
    after = datetime.now(UTC)
    assert before - SKEW <= signed.begins <= after - SKEW
    assert before <= signed.ends - timedelta(days=NODE_DAYS) <= after


def test_a_certificate_does_not_outlive_its_authority(tmp_path: Path) -> None:
    made = make_authority(tmp_path / "authority", days=10)
    signed = sign(make_request("north", tmp_path).file, tmp_path / "authority", tmp_path / "north.pem", days=100)
    assert signed.ends == made.ends


def test_people_can_compare_one_fingerprint_from_request_to_renewal(tmp_path: Path, authority: Path) -> None:
    requested = make_request("north", tmp_path)
    signed = sign(requested.file, authority, tmp_path / "north.pem")
    first = (tmp_path / "north.key").read_bytes(), (tmp_path / "north.state").read_bytes()
    renewed = sign(make_request("north", tmp_path).file, authority, tmp_path / "north.pem")
    assert requested.fingerprint == signed.fingerprint == renewed.fingerprint
    assert len(requested.fingerprint) == 32 * 3 - 1
    assert ((tmp_path / "north.key").read_bytes(), (tmp_path / "north.state").read_bytes()) == first
    assert make_request("south", tmp_path).fingerprint != requested.fingerprint


def test_a_site_is_added_without_touching_the_others(tmp_path: Path, authority: Path) -> None:
    folder = with_keys(tmp_path / "keys", "north", authority)
    before = {file: file.read_bytes() for file in (*folder.iterdir(), *authority.iterdir())}
    with_keys(folder, "south", authority)
    assert {file: file.read_bytes() for file in before} == before


def test_an_authority_is_never_replaced(authority: Path) -> None:
    before = {file.name: file.read_bytes() for file in authority.iterdir()}
    with pytest.raises(BadKeys, match=r"authority\.pem is there already and stays as it is"):
        make_authority(authority)
    assert {file.name: file.read_bytes() for file in authority.iterdir()} == before


def test_an_authority_that_lost_its_certificate_keeps_its_key(tmp_path: Path, authority: Path) -> None:
    folder = with_keys(tmp_path / "north", "north", authority)
    key = (authority / "authority.key").read_bytes()
    (authority / "authority.pem").unlink()
    make_authority(authority)
    assert (authority / "authority.key").read_bytes() == key
    (certificate,) = certificates_in((folder / "north.pem").read_bytes())
    certificate.verify_directly_issued_by(certificates_in((authority / "authority.pem").read_bytes())[0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it holds no private key"),
        (key_pem(rsa.generate_private_key(65537, 2048)), "it holds a key of the kind RSA; only ECDSA"),
        (key_pem(ed25519.Ed25519PrivateKey.generate()), "it holds a key of the kind Ed25519; only ECDSA"),
        (key_pem(ec.generate_private_key(ec.SECP256K1())), "it holds a key on the curve secp256k1; only ECDSA"),
        (
            elliptic().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
            "it is encrypted",
        ),
    ],
    ids=["empty", "RSA", "Ed25519", "other_curve", "encrypted"],
)
def test_a_key_that_cannot_be_used_is_named_and_left_alone(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "north.key"
    file.write_bytes(content)
    with pytest.raises(BadKeys, match=f"north.key: {said}.*Existing keys are never replaced"):
        make_request("north", tmp_path)
    assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1()])
def test_a_key_that_somebody_brings_is_used(tmp_path: Path, authority: Path, curve: ec.EllipticCurve) -> None:
    key = ec.generate_private_key(curve)
    (tmp_path / "north.key").write_bytes(key_pem(key))
    with_keys(tmp_path, "north", authority)
    assert certificates_in((tmp_path / "north.pem").read_bytes())[0].public_key() == key.public_key()


@pytest.mark.parametrize("name", ["North", "../north", "authority", "", "a b"])
def test_no_request_for_what_is_no_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unsupported, match="cannot be a node's name"):
        make_request(name, tmp_path / "keys")
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "x" * 65])
def test_no_authority_of_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(Unsupported, match="cannot be an authority's name"):
        make_authority(tmp_path / "authority", name)
    assert not (tmp_path / "authority").exists()


@pytest.mark.parametrize("days", [0, -1, 10**9])
def test_no_validity_that_is_none(tmp_path: Path, authority: Path, days: int) -> None:
    requested = make_request("north", tmp_path)
    with pytest.raises(Unsupported, match=f"valid for 1 to 36525 days, not for {days}"):
        sign(requested.file, authority, tmp_path / "north.pem", days)
    with pytest.raises(Unsupported, match=f"valid for 1 to 36525 days, not for {days}"):
        make_authority(tmp_path / "other", days=days)


DNS = x509.DNSName
WRONG_NAMES = [
    ((), "names none"),
    ((DNS("north"), DNS("south")), "names 'north', 'south'"),
    ((DNS("north"), x509.RFC822Name("north@example.org")), "names 'north', 'north@example.org'"),
    ((x509.UniformResourceIdentifier("north"),), "names 'north'"),
    ((DNS("North"),), "'North' cannot be a node's name"),
    ((DNS("*"),), "cannot be a node's name"),
    ((DNS("*.example.org"),), "cannot be a node's name"),
    ((DNS("authority"),), "cannot be a node's name"),
]


@pytest.mark.parametrize(("names", "said"), WRONG_NAMES)
def test_a_request_names_exactly_one_node(
    tmp_path: Path, authority: Path, names: tuple[x509.GeneralName, ...], said: str
) -> None:
    asked = request(tmp_path / "north.csr", elliptic(), *names)
    with pytest.raises(BadKeys) as caught:
        sign(asked, authority, tmp_path / "north.pem")
    assert str(caught.value).startswith(f"{asked}: ")
    assert said in str(caught.value)
    assert not (tmp_path / "north.pem").exists()


@pytest.mark.parametrize("key", [rsa.generate_private_key(65537, 2048), ed25519.Ed25519PrivateKey.generate()])
def test_a_request_is_for_an_elliptic_key(tmp_path: Path, authority: Path, key: Any) -> None:
    asked = request(tmp_path / "north.csr", key, DNS("north"))
    with pytest.raises(BadKeys, match=r"it is for a key of the kind .*; only ECDSA keys"):
        sign(asked, authority, tmp_path / "north.pem")


def test_only_the_alternative_name_counts_in_a_request(tmp_path: Path, authority: Path) -> None:
    asked = request(tmp_path / "north.csr", elliptic(), DNS("north"), subject="south")
    assert sign(asked, authority, tmp_path / "north.pem").name == "north"
    (certificate,) = certificates_in((tmp_path / "north.pem").read_bytes())
    assert certificate.subject.rfc4514_string() == "CN=north"


def test_a_request_gets_no_more_than_a_node_needs(tmp_path: Path, authority: Path) -> None:
    """One that asks to be an authority is signed as a node."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    builder = builder.add_extension(x509.SubjectAlternativeName([DNS("north")]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (tmp_path / "north.csr").write_bytes(builder.sign(elliptic(), SHA256()).public_bytes(Encoding.PEM))
    sign(tmp_path / "north.csr", authority, tmp_path / "north.pem")
    (certificate,) = certificates_in((tmp_path / "north.pem").read_bytes())
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_changed_request_is_refused(tmp_path: Path, authority: Path) -> None:
    file = make_request("north", tmp_path).file
    changed = x509.load_pem_x509_csr(file.read_bytes()).public_bytes(Encoding.DER).replace(b"north", b"south")
    file.write_bytes(x509.load_der_x509_csr(changed).public_bytes(Encoding.PEM))
    with pytest.raises(BadKeys, match="its signature is wrong"):
        sign(file, authority, tmp_path / "south.pem")


@pytest.mark.parametrize("content", [b"", b"hello", pem(Issuer.new().certificate), b"\xff" * 100])
def test_what_is_no_request(tmp_path: Path, authority: Path, content: bytes) -> None:
    (tmp_path / "north.csr").write_bytes(content)
    with pytest.raises(BadKeys, match="it holds no certificate request"):
        sign(tmp_path / "north.csr", authority, tmp_path / "north.pem")


def test_files_that_are_missing_are_named(tmp_path: Path, authority: Path) -> None:
    with pytest.raises(BadKeys, match=r"north\.csr cannot be read: No such file"):
        sign(tmp_path / "north.csr", authority, tmp_path / "north.pem")
    with pytest.raises(BadKeys, match=r"authority\.pem is missing. Name the folder that `mixbayes keys authority`"):
        sign(tmp_path / "north.csr", tmp_path, tmp_path / "north.pem")
    requested = make_request("north", tmp_path)
    with pytest.raises(BadKeys, match=r"north\.pem cannot be written: No such file"):
        sign(requested.file, authority, tmp_path / "nowhere" / "north.pem")


@pytest.mark.parametrize("victim", ["north.key", "north.state", "north.csr"])
def test_signing_replaces_nothing_but_a_nodes_certificate(tmp_path: Path, authority: Path, victim: str) -> None:
    folder = with_keys(tmp_path / "north", "north", authority)
    before = (folder / victim).read_bytes()
    with pytest.raises(BadKeys, match="Only a node's certificate is replaced"):
        sign(folder / "north.csr", authority, folder / victim)
    with pytest.raises(BadKeys, match="Only a node's certificate is replaced"):
        sign(folder / "north.csr", authority, authority / "authority.pem")
    assert (folder / victim).read_bytes() == before


def test_signing_replaces_no_certificate_of_another_node(tmp_path: Path, authority: Path) -> None:
    folder = with_keys(tmp_path / "north", "north", authority)
    before = (folder / "north.pem").read_bytes()
    request = make_request("south", tmp_path / "south").file
    with pytest.raises(BadKeys, match=r"north\.pem is the certificate of north, and this one is for south"):
        sign(request, authority, folder / "north.pem")
    assert (folder / "north.pem").read_bytes() == before


def test_an_authority_of_another_key_is_noticed(tmp_path: Path, authority: Path) -> None:
    make_authority(tmp_path / "other")
    (authority / "authority.pem").write_bytes((tmp_path / "other" / "authority.pem").read_bytes())
    with pytest.raises(BadKeys, match="holds no certificate for"):
        sign(make_request("north", tmp_path).file, authority, tmp_path / "north.pem")


def test_an_authority_in_change_signs_with_the_certificate_of_its_key(tmp_path: Path, authority: Path) -> None:
    make_authority(tmp_path / "old", "old")
    own = (authority / "authority.pem").read_bytes()
    (authority / "authority.pem").write_bytes((tmp_path / "old" / "authority.pem").read_bytes() + own)
    sign(make_request("north", tmp_path).file, authority, tmp_path / "north.pem")
    (certificate,) = certificates_in((tmp_path / "north.pem").read_bytes())
    certificate.verify_directly_issued_by(certificates_in(own)[0])


@pytest.mark.parametrize("days", [(-20, -10), (10, 20)])
def test_an_authority_out_of_its_time_signs_nothing(tmp_path: Path, authority: Path, days: tuple[int, int]) -> None:
    key, now = elliptic(), datetime.now(UTC)
    begins, ends = (now + day * DAY for day in days)
    (authority / "authority.key").write_bytes(key_pem(key))
    (authority / "authority.pem").write_bytes(pem(authority_certificate(key, "authority", begins, ends)))
    with pytest.raises(BadKeys, match=r"is valid from .*, and now is .*Make an authority in another folder"):
        sign(make_request("north", tmp_path).file, authority, tmp_path / "north.pem")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadKeys, match="file cannot be made: File exists"):
        make_request("north", tmp_path / "file")
    with pytest.raises(BadKeys, match="Not a directory"):
        make_authority(tmp_path / "file" / "authority")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(BadKeys, match=r"north\.key cannot be written: No space left on device"):
        make_request("north", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_commands_at_once_make_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other command's key appears after this one has looked, and before it writes."""
    theirs = key_pem(elliptic())
    link = os.link

    def late(draft: str, file: Path) -> None:
        if file.suffix == ".key":
            file.write_bytes(theirs)
        link(draft, file)

    monkeypatch.setattr(storage.os, "link", late)
    made = make_request("north", tmp_path)
    assert (tmp_path / "north.key").read_bytes() == theirs
    monkeypatch.undo()
    assert make_request("north", tmp_path).fingerprint == made.fingerprint
