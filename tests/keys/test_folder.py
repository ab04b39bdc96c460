from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from mixbayes.keys import checks as checks_module
from mixbayes.keys import storage
from mixbayes.keys.certificates import authority_certificate
from mixbayes.keys.folder import NodeKeys, certificate_names, checks, load_keys
from mixbayes.keys.problems import BadKeys
from tests.keys.helpers import DAY, NOW, Issuer, key_pem, pem, put, with_keys

ALL = [
    "private key",
    "certificate",
    "authority",
    "certificate and key belong together",
    "name in the certificate",
    "use of the certificate",
    "signature of the authority",
    "validity",
    "state key",
]


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer.new()


@pytest.fixture(scope="module")
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def folder(tmp_path: Path, issuer: Issuer, key: ec.EllipticCurvePrivateKey) -> Path:
    """The keys of party north, all in order."""
    return put(tmp_path / "north", "north", key_pem(key), pem(issuer.node(key, "north")), pem(issuer.certificate))


def refusal(folder: Path, name: str = "north", now: datetime = NOW) -> str:
    with pytest.raises(BadKeys) as caught:
        load_keys(folder, name, now)
    assert caught.value.code == "E120"
    return str(caught.value)


def found(folder: Path, now: datetime = NOW) -> dict[str, bool]:
    """Every check that was made, and whether it went well."""
    return {check.what: check.problem is None for check in checks(folder, "north", now)}


def certificate(
    issuer: Issuer, key: ec.EllipticCurvePrivateKey, *extensions: x509.ExtensionType, name: str = "north"
) -> x509.Certificate:
    """One that our authority would not sign."""
    builder = x509.CertificateBuilder(
        issuer_name=issuer.certificate.subject,
        subject_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=NOW - DAY,
        not_valid_after=NOW + DAY,
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(issuer.key, SHA256())


def alternative(*names: str) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([x509.DNSName(name) for name in names])


def test_what_the_commands_make_is_loaded(tmp_path: Path) -> None:
    folder = with_keys(tmp_path / "north", "north", tmp_path / "authority")
    keys = load_keys(folder, "north", datetime.now(UTC))
    assert keys.private_key == (folder / "north.key").read_bytes()
    assert keys.certificate == (folder / "north.pem").read_bytes()
    assert keys.authority == (folder / "authority.pem").read_bytes()
    assert keys.state_key == (folder / "north.state").read_bytes()
    assert certificate_names(keys.certificate) == (keys.name,) == ("north",)


def test_every_check_is_reported(folder: Path) -> None:
    assert found(folder) == dict.fromkeys(ALL, True)
    assert not (folder / "north.state").exists()


def test_expiry_is_the_certificates_own(folder: Path) -> None:
    assert load_keys(folder, "north", NOW).expires == NOW + DAY


def test_a_state_key_that_is_missing_is_drawn_once(folder: Path) -> None:
    first = load_keys(folder, "north", NOW).state_key
    assert len(first) == 32
    assert (folder / "north.state").stat().st_mode & 0o777 == 0o600
    assert load_keys(folder, "north", NOW).state_key == first


def test_secrets_are_in_no_repr(folder: Path) -> None:
    keys = load_keys(folder, "north", NOW)
    assert repr(keys) == f"NodeKeys(name='north', expires={keys.expires!r})"
    assert isinstance(keys, NodeKeys)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("north.key", "north.key is missing. Make it with `mixbayes keys request north --out "),
        ("north.pem", "north.pem is missing. Have north.csr signed with `mixbayes keys sign`"),
        ("authority.pem", "authority.pem is missing. Ask who signs certificates for this federation"),
    ],
)
def test_a_missing_file_is_named_with_the_command_that_makes_it(folder: Path, file: str, said: str) -> None:
    (folder / file).unlink()
    assert said in refusal(folder)


def test_a_missing_folder(tmp_path: Path) -> None:
    assert f"{tmp_path / 'none' / 'north.key'} is missing" in refusal(tmp_path / "none")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
@pytest.mark.parametrize("file", ["north.key", "north.state"])
def test_secrets_are_the_owners_alone(folder: Path, file: str, mode: int) -> None:
    load_keys(folder, "north", NOW)
    (folder / file).chmod(mode)
    said = f"{folder / file} can be used by others than its owner (mode {mode:04o}). Run `chmod 600 {folder / file}`."
    assert refusal(folder) == said


def test_rsa_keys_are_refused(folder: Path) -> None:
    (folder / "north.key").write_bytes(key_pem(rsa.generate_private_key(65537, 2048)))
    assert "north.key: it holds a key of the kind RSA; only ECDSA keys on P-256 or P-384" in refusal(folder)


def test_certificates_for_rsa_keys_are_refused(folder: Path, issuer: Issuer) -> None:
    theirs = rsa.generate_private_key(65537, 2048)
    builder = x509.CertificateBuilder(
        issuer.certificate.subject, issuer.certificate.subject, theirs.public_key(), 1, NOW - DAY, NOW + DAY
    )
    (folder / "north.pem").write_bytes(pem(builder.sign(issuer.key, SHA256())))
    assert "north.pem: it is for a key of the kind RSA" in refusal(folder)


@pytest.mark.parametrize("file", ["north.key", "north.pem", "authority.pem"])
@pytest.mark.parametrize("content", [b"", b"hello", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_files_that_hold_nothing_are_named(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    assert f"{folder / file}: it holds no " in refusal(folder)


def test_key_and_certificate_in_each_others_place(folder: Path) -> None:
    content = (folder / "north.key").read_bytes(), (folder / "north.pem").read_bytes()
    (folder / "north.pem").write_bytes(content[0])
    (folder / "north.key").write_bytes(content[1])
    assert "north.key: it holds no private key" in refusal(folder)


def test_a_certificate_for_another_key(folder: Path, issuer: Issuer) -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    (folder / "north.pem").write_bytes(pem(issuer.node(other, "north")))
    assert f"north.pem was not signed for the key {folder / 'north.key'}" in refusal(folder)


@pytest.mark.parametrize("name", ["south", "North", "north.example.org", "*"])
def test_a_certificate_for_another_name(
    folder: Path, issuer: Issuer, key: ec.EllipticCurvePrivateKey, name: str
) -> None:
    (folder / "north.pem").write_bytes(pem(issuer.node(key, name)))
    assert f"north.pem speaks for '{name}', not for 'north'" in refusal(folder)


def test_posing_as_another_with_ones_own_keys(folder: Path) -> None:
    for suffix in ("key", "pem"):
        (folder / f"north.{suffix}").rename(folder / f"south.{suffix}")
    assert "south.pem speaks for 'north', not for 'south'" in refusal(folder, "south")


@pytest.mark.parametrize("extensions", [(), (alternative("north", "south"),), (alternative("north", "north"),)])
def test_a_certificate_names_one_node(
    folder: Path,
    issuer: Issuer,
    key: ec.EllipticCurvePrivateKey,
    extensions: tuple[x509.ExtensionType, ...],
) -> None:
    """The common name does not count."""
    (folder / "north.pem").write_bytes(pem(certificate(issuer, key, *extensions)))
    assert "north.pem: it must name exactly one node" in refusal(folder)


@pytest.mark.parametrize("use", [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
def test_a_certificate_for_one_end_only(
    folder: Path, issuer: Issuer, key: ec.EllipticCurvePrivateKey, use: x509.ObjectIdentifier
) -> None:
    one_end = certificate(issuer, key, alternative("north"), x509.ExtendedKeyUsage([use]))
    (folder / "north.pem").write_bytes(pem(one_end))
    assert "north.pem: it is not for both ends of a connection" in refusal(folder)


def test_a_certificate_for_any_use(folder: Path, issuer: Issuer, key: ec.EllipticCurvePrivateKey) -> None:
    (folder / "north.pem").write_bytes(pem(certificate(issuer, key, alternative("north"))))
    assert found(folder) == dict.fromkeys(ALL, True)


def test_another_authority_of_the_same_name(folder: Path) -> None:
    (folder / "authority.pem").write_bytes(pem(Issuer.new().certificate))
    assert "north.pem is not signed by any authority in " in refusal(folder)


def test_while_an_authority_is_replaced_both_are_trusted(folder: Path, issuer: Issuer) -> None:
    expired = Issuer.new(NOW - 20 * DAY, NOW - 10 * DAY)
    (folder / "authority.pem").write_bytes(pem(expired.certificate, issuer.certificate, Issuer.new().certificate))
    assert found(folder) == dict.fromkeys(ALL, True)


def test_a_renewed_authority_counts_beside_its_expired_self(folder: Path, issuer: Issuer) -> None:
    old = authority_certificate(issuer.key, "authority", NOW - 20 * DAY, NOW - 10 * DAY)
    for order in ((old, issuer.certificate), (issuer.certificate, old)):
        (folder / "authority.pem").write_bytes(pem(*order))
        assert found(folder) == dict.fromkeys(ALL, True)


def between(root: Issuer, path_length: int | None = 0, ca: bool = True) -> Issuer:
    """An authority that another one signed."""
    below = Issuer.new(name="between")
    builder = x509.CertificateBuilder(
        root.certificate.subject, below.certificate.subject, below.key.public_key(), 7, NOW - DAY, NOW + DAY
    )
    constraints = x509.BasicConstraints(ca=ca, path_length=path_length if ca else None)
    return Issuer(below.key, builder.add_extension(constraints, critical=True).sign(root.key, SHA256()))


def hospital_root(path_length: int | None) -> Issuer:
    root = Issuer.new(name="root")
    builder = x509.CertificateBuilder(
        root.certificate.subject, root.certificate.subject, root.key.public_key(), 7, NOW - DAY, NOW + DAY
    )
    constraints = x509.BasicConstraints(ca=True, path_length=path_length)
    return Issuer(root.key, builder.add_extension(constraints, critical=True).sign(root.key, SHA256()))


@pytest.mark.parametrize(
    ("path_length", "said"), [(None, None), (1, None), (0, "has more certificates between it and its authority")]
)
def test_certificates_may_stand_between(
    folder: Path, key: ec.EllipticCurvePrivateKey, path_length: int | None, said: str | None
) -> None:
    root = hospital_root(path_length)
    middle = between(root)
    (folder / "authority.pem").write_bytes(pem(root.certificate))
    (folder / "north.pem").write_bytes(pem(middle.node(key, "north"), Issuer.new().certificate, middle.certificate))
    if said:
        assert said in refusal(folder)
    else:
        assert found(folder) == dict.fromkeys(ALL, True)


def test_a_chain_with_a_link_missing(folder: Path, key: ec.EllipticCurvePrivateKey) -> None:
    root = hospital_root(None)
    (folder / "authority.pem").write_bytes(pem(root.certificate))
    (folder / "north.pem").write_bytes(pem(between(root).node(key, "north")))
    assert "is not signed by any authority" in refusal(folder)


def test_a_node_cannot_sign_others(folder: Path, key: ec.EllipticCurvePrivateKey) -> None:
    root = hospital_root(None)
    node = between(root, ca=False)
    (folder / "authority.pem").write_bytes(pem(root.certificate))
    (folder / "north.pem").write_bytes(pem(node.node(key, "north"), node.certificate))
    assert "is not signed by any authority" in refusal(folder)


def test_a_nodes_certificate_is_no_authority(folder: Path) -> None:
    (folder / "authority.pem").write_bytes((folder / "north.pem").read_bytes())
    assert "authority.pem: it holds a certificate that may not sign others" in refusal(folder)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (
            NOW + 2 * DAY,
            "05-31 00:00 +00:00 to 2026-06-02 00:00 +00:00, and now is 2026-06-03 00:00 +00:00: it has expired",
        ),
        (NOW - 2 * DAY, "and now is 2026-05-30 00:00 +00:00: it is not valid yet. Set this machine's clock, or wait"),
    ],
)
def test_dates_are_told(folder: Path, now: datetime, said: str) -> None:
    assert said in refusal(folder, now=now)


def test_an_authority_that_expired_before_its_nodes(folder: Path, key: ec.EllipticCurvePrivateKey) -> None:
    root = Issuer.new(NOW - 3 * DAY, NOW - 2 * DAY)
    (folder / "authority.pem").write_bytes(pem(root.certificate))
    (folder / "north.pem").write_bytes(pem(root.node(key, "north")))
    said = refusal(folder)
    assert said.startswith("The certificate of CN=authority over ")
    assert "it has expired" in said


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_state_key_that_was_cut(folder: Path, size: int) -> None:
    (folder / "north.state").write_bytes(bytes(size))
    (folder / "north.state").chmod(0o600)
    assert "north.state is not 32 bytes long" in refusal(folder)


def test_a_state_key_that_cannot_be_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks_module.os, "access", lambda *_: False)
    said = "north.state is missing and cannot be made: the folder does not allow it. Run `mixbayes keys request north"
    assert said in refusal(folder)


def test_a_folder_that_is_not_there(folder: Path) -> None:
    said = [str(check.problem) for check in checks(folder / "keys", "north", NOW)]
    assert any(f"there is no folder {folder / 'keys'}" in problem for problem in said)


def test_a_state_key_that_could_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(storage.os, "link", read_only)
    assert "north.state cannot be written: Read-only file system" in refusal(folder)
    assert not [file for file in os.listdir(folder) if "state" in file]


def spoil_key(folder: Path) -> None:
    (folder / "north.key").write_bytes(b"")


def spoil_certificate(folder: Path) -> None:
    (folder / "north.pem").write_bytes(b"")


def spoil_authority(folder: Path) -> None:
    (folder / "authority.pem").write_bytes(pem(Issuer.new().certificate))


@pytest.mark.parametrize(
    ("spoil", "failing", "left_out"),
    [
        (spoil_key, ["private key"], ["certificate and key belong together"]),
        (
            spoil_certificate,
            ["certificate"],
            [
                "certificate and key belong together",
                "name in the certificate",
                "use of the certificate",
                "signature of the authority",
                "validity",
            ],
        ),
        (spoil_authority, ["signature of the authority"], ["validity"]),
    ],
)
def test_one_problem_is_reported_once(
    folder: Path, spoil: Callable[[Path], None], failing: list[str], left_out: list[str]
) -> None:
    spoil(folder)
    expected = {what: what not in failing for what in ALL if what not in left_out}
    assert found(folder) == expected
    problems = [check for check in checks(folder, "north", NOW) if check.problem]
    assert refusal(folder) == f"{problems[0].problem}. {problems[0].remedy}."
