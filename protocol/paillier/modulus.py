"""A's modulus N on its way to B, with a proof that it fits Paillier's cryptosystem: N is coprime to φ(N).

The proof is by Goldberg, Reyzin, Sagga and Baldimtsi (ASIACRYPT 2019, section 3.2), made without questions by the hash
of Fiat and Shamir: N-th roots modulo N of hashed numbers, and N has no small prime factor. If a prime f divides N and
φ(N), at most one number in f has an N-th root, so an owner that has all roots lies with probability f^-11 < 2^-138.

What B needs it for: only then every unit modulo N² is an N-th power times a power of 1 + N. B's answers are one of each
times what A sent, so they are uniform whatever that was. The proof does not show that N has two factors alone.
"""

from __future__ import annotations

from hashlib import shake_256

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange, WrongLength, WrongStep
from mixbayes.protocol.paillier.key import (
    PublicKey,
    SecretKey,
    from_bytes,
    is_prime,
    prime_above,
    refuse_short,
    size_of,
    to_bytes,
)

ROOTS, LEAST_FACTOR = 11, 6370
"""The least factor to the power of the number of roots is more than 2^128, with 10 bits to spare for hashing again."""
_BEYOND = 16
"""Bytes hashed beyond those of N, before the remainder is taken: it is within 2^-128 of uniform."""
_KEY, _PROOF = "public key", "proof of the key"


def send_key(other: Channel, key: SecretKey) -> None:
    """Send A's modulus to B, with its proof."""
    modulus = key.public.modulus
    other.send(_KEY, to_bytes([modulus], size_of(modulus)))
    other.send(_PROOF, to_bytes(proof(key), size_of(modulus)))


def receive_key(holder: Channel, bits: int) -> PublicKey:
    """Receive the modulus of the hospital that holds the secret key. It must have the agreed length and fit."""
    refuse_short(bits)
    size = size_of(1 << bits - 1)
    (modulus,) = from_bytes(holder.receive(_KEY, size), size)
    try:
        roots = from_bytes(holder.receive(_PROOF, ROOTS * size), size)
    except (WrongStep, WrongLength) as error:
        remedy = "Its version may be one that does not prove its key: have both hospitals install the same one"
        raise type(error)(error.peer, error.step, error.why, remedy) from None
    if modulus.bit_length() != bits or not fits(modulus, roots):
        raise OutOfRange(holder.peer, _PROOF, f"the modulus does not have {bits} bits, or its proof does not hold")
    return PublicKey(modulus)


def proof(key: SecretKey) -> list[int]:
    """N-th roots of the hashed numbers."""
    return [key.root(number) for number in _hashed(key.public.modulus)]


def fits(modulus: int, roots: list[int]) -> bool:
    """Whether the modulus is no prime, has no small factor, and these are the roots of its proof."""
    if modulus < LEAST_FACTOR or is_prime(modulus) or any(modulus % prime == 0 for prime in _small_primes()):
        return False
    return len(roots) == ROOTS and all(
        0 < root < modulus and pow(root, modulus, modulus) == number
        for root, number in zip(roots, _hashed(modulus), strict=True)
    )


def _hashed(modulus: int) -> list[int]:
    """The numbers below N of which the owner shows roots: nobody chooses them."""
    size = size_of(modulus)
    context = f"mixbayes, Paillier modulus fits, {ROOTS} roots, {LEAST_FACTOR}, {size} bytes\0".encode()
    drawn = shake_256(context + to_bytes([modulus], size).tobytes()).digest(ROOTS * (size + _BEYOND))
    parts = (drawn[at : at + size + _BEYOND] for at in range(0, len(drawn), size + _BEYOND))
    return [int.from_bytes(part, "little") % modulus for part in parts]


def _small_primes() -> list[int]:
    found, prime = [], 2
    while prime < LEAST_FACTOR:
        found.append(prime)
        prime = prime_above(prime)
    return found
