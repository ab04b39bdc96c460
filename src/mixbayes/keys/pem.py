"""What PEM files hold: keys of the kinds we use, certificates, requests, and the names in them.

What cannot be used is a ValueError that says why; whoever read the file adds its name.
"""

from __future__ import annotations

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from mixbayes.agreement.pins import fingerprint_of
from mixbayes.site_time import to_the_minute

CURVES = (ec.SECP256R1, ec.SECP384R1)
WHY_THESE = "only ECDSA keys on P-256 or P-384 are used, because they keep TLS to version 1.3"


def private_key_in(pem: bytes) -> ec.EllipticCurvePrivateKey:
    """The unencrypted ECDSA key in this file."""
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError:
        raise ValueError("it is encrypted, and a node must start without anybody typing a password") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it holds no private key in PEM") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, CURVES):
        raise ValueError(f"it holds {_kind(key)}; {WHY_THESE}")
    return key


def public_key_of(signed: x509.Certificate | x509.CertificateSigningRequest) -> ec.EllipticCurvePublicKey:
    """The ECDSA key that a certificate or request is for."""
    try:
        key = signed.public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError(f"it is for a key of an unknown kind; {WHY_THESE}") from None
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, CURVES):
        raise ValueError(f"it is for {_kind(key)}; {WHY_THESE}")
    return key


def certificates_in(pem: bytes) -> list[x509.Certificate]:
    """The certificates in this file, one at least."""
    try:
        return x509.load_pem_x509_certificates(pem)
    except (ValueError, x509.InvalidVersion):
        raise ValueError("it holds no certificate in PEM") from None


def request_in(pem: bytes) -> x509.CertificateSigningRequest:
    """The request in this file, signed with the key that it is for."""
    try:
        request = x509.load_pem_x509_csr(pem)
        intact = request.is_signature_valid
    except (ValueError, UnsupportedAlgorithm, x509.InvalidVersion):
        raise ValueError("it holds no certificate request in PEM") from None
    if not intact:
        raise ValueError("its signature is wrong, so it was changed on the way or made without the key")
    return request


def only_name(signed: x509.Certificate | x509.CertificateSigningRequest) -> str:
    """The one name it speaks for. Several names, or an address beside the name, are refused."""
    names = _alternative_names(signed)
    if len(names) != 1 or not isinstance(names[0], x509.DNSName):
        shown = ", ".join(repr(name.value) for name in names) or "none"
        raise ValueError(f"it must name exactly one node, as its DNS name; it names {shown}")
    return names[0].value


def certificate_names(pem: bytes) -> tuple[str, ...]:
    """The DNS names of the first certificate in this file, which is the node's own."""
    return tuple(name.value for name in _alternative_names(certificates_in(pem)[0]) if isinstance(name, x509.DNSName))


def fingerprint(key: ec.EllipticCurvePublicKey) -> str:
    """SHA-256 of the public key, for people to compare: it is the same in a request and its certificate."""
    return fingerprint_of(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def validity(certificate: x509.Certificate) -> str:
    """From when to when."""
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return f"is valid from {to_the_minute(begins)} to {to_the_minute(ends)}"


def _alternative_names(signed: x509.Certificate | x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    try:
        return list(signed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        raise ValueError("its extensions cannot be read") from None


def _kind(key: object) -> str:
    if isinstance(key, (ec.EllipticCurvePrivateKey, ec.EllipticCurvePublicKey)):
        return f"a key on the curve {key.curve.name}"
    kind = type(key).__name__.removeprefix("_").removesuffix("PublicKey").removesuffix("PrivateKey")
    return f"a key of the kind {kind}"
