"""Certificates and requests as X.509 objects. No file and no clock: dates are arguments."""

from __future__ import annotations

from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LONGEST_NAME = 64  # of a common name, by X.509
AUTHORITY_DAYS, NODE_DAYS, LONGEST_DAYS = 3653, 397, 36525
"""How long certificates of the authority and of a node are valid if nothing else is said, and at most."""
SKEW = timedelta(hours=1)
"""A certificate is valid from before it was made, for clocks that are behind."""
_BOTH_ENDS = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]


def authority_certificate(
    key: ec.EllipticCurvePrivateKey, name: str, begins: datetime, ends: datetime
) -> x509.Certificate:
    """Self-signed. It may sign nodes and no further authorities."""
    return (
        _certificate(_subject(name), _subject(name), key.public_key(), begins, ends)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, SHA256())
    )


def request_for(key: ec.EllipticCurvePrivateKey, name: str) -> x509.CertificateSigningRequest:
    """What a node asks to be signed."""
    return (
        x509.CertificateSigningRequestBuilder()
        .subject_name(_subject(name))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, SHA256())
    )


def node_certificate(
    node: ec.EllipticCurvePublicKey,
    name: str,
    authority_key: ec.EllipticCurvePrivateKey,
    authority: x509.Certificate,
    begins: datetime,
    ends: datetime,
) -> x509.Certificate:
    """For both ends of a connection: a node answers some and dials others."""
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _certificate(_subject(name), authority.subject, node, begins, ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_BOTH_ENDS), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(issuer, critical=False)
        .sign(authority_key, SHA256())
    )


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, begins: datetime, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
